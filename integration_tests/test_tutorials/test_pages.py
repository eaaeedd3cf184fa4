"""The blocks of each page in docs/, in order, are one program that runs on installed wheels.

A page runs in an empty folder in which `integration_tests/data` is there as in the checkout.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from integration_tests.support import DATA, InstalledEnv, shared_environment

pytestmark = pytest.mark.cases_in_gate(3)

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"(?m)^```python$")
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if BLOCK.search(page.read_text("utf-8"))]


@pytest.fixture(scope="module")
def docs_env(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path]) -> InstalledEnv:
    needed = ROOT / "ci/config/requirements/examples.txt"
    return shared_environment(tmp_path_factory, "docs", *wheels, "-r", needed)


def test_there_are_pages_with_code() -> None:
    assert DOCS / "tutorials" / "first-model.md" in PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_page_runs(docs_env: InstalledEnv, tmp_path: Path, page: Path) -> None:
    data = tmp_path / "integration_tests" / "data"
    data.parent.mkdir()
    data.symlink_to(DATA, target_is_directory=True)
    settings = (
        f"PATH={docs_env.scripts}{os.pathsep}{os.environ['PATH']}",
        f"EXAMPLES_FOLDER={tmp_path}",
    )
    plugin = ("-p", "integration_tests.test_tutorials.examples", "-p", "no:cacheprovider")
    command = (docs_env.python, "-m", "pytest", "-q", "-x", *plugin, page)
    done = docs_env.run("env", *settings, *command, cwd=ROOT, ok=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
