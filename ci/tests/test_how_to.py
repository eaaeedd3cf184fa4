"""The pages that say how to add an op, a rule and a scheme are followed, in a copy of the tree.

What a page says to put into a new file or in the place of other text is done as it stands, and its
commands are run. Only the scheme's installation is done by hand, since it needs an index.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ci.scripts.project import ROOT

PAGES = ROOT / "docs" / "how-to"
_FENCED = r"```\w+\n(.*?)^```$"
_NEW = re.compile(rf"^New file `([^`]+)`:\n\n{_FENCED}", re.MULTILINE | re.DOTALL)
_CHANGED = re.compile(
    rf"^In `([^`]+)`, replace\n\n{_FENCED}\n\nby\n\n{_FENCED}", re.MULTILINE | re.DOTALL
)
_COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = {"drystone_base": "packages/base/src", "drystone_optimizer": "packages/optimizer/src"}
NEIGHBOURS = ("drystone_abi", "drystone_conformance", "drystone_filesystem", "drystone_subgraph")
WITHOUT_FINDERS = """import sys

of_editable = ("_editable_", "__editable__")
sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__module__.startswith(of_editable)
                    and not getattr(f, "__module__", "").startswith(of_editable)]
"""
"""Finders of editable installs come before PYTHONPATH, which names the copy."""
LEFT_OUT = shutil.ignore_patterns("__pycache__", "data", "cases", "scenarios", "parity", "*.xz")
NEEDED = (
    "ci/__init__.py", "ci/scripts", "ci/packages.toml", "packages/optimizer/tests",
    "packages/base/tests", "packages/cpu/tests", "packages/cpu/kernels", "plugin-abi/include",
    "packages/filesystem/tests", "plugin-abi/tests", "conftest.py", ".pytest.ini",
)  # fmt: skip


class HowTo(NamedTuple):
    """A page: files by path, pairs of old and new text by path, commands."""

    new: dict[str, str]
    changed: dict[str, tuple[str, str]]
    commands: list[str]

    @property
    def touched(self) -> list[str]:
        """The files that a person edits."""
        return [*self.new, *self.changed]


def read(name: str) -> HowTo:
    """A page's instructions."""
    text = (PAGES / f"{name}.md").read_text("utf-8")
    commands = [line for block in _COMMANDS.findall(text) for line in block.splitlines() if line]
    changed = {path: (old.rstrip("\n"), new) for path, old, new in _CHANGED.findall(text)}
    return HowTo(dict(_NEW.findall(text)), changed, commands)


def follow(page: HowTo, tree: Path) -> None:
    """Do what a page says, but for its commands."""
    for path, content in page.new.items():
        file = tree / path
        assert not file.exists(), f"{path} is there already"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    for path, (old, new) in page.changed.items():
        text = (tree / path).read_text("utf-8")
        assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
        (tree / path).write_text(text.replace(old, new.rstrip("\n")), "utf-8")


def folder_of(package: str) -> Path:
    """Where an installed package lies; its native parts may be elsewhere than its sources."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of what the pages touch and run: sources as they are imported here, tests, tools."""
    top = tmp_path_factory.mktemp("tree")
    for name in NEEDED:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, top / name, ignore=LEFT_OUT)
        else:
            shutil.copy(ROOT / name, top / name)
    for package, where in COPIED.items():
        spec = importlib.util.find_spec(package)
        assert spec is not None
        for folder in reversed(list(spec.submodule_search_locations or ())):
            shutil.copytree(
                folder, top / where / package, dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("__pycache__"),
            )  # fmt: skip
    (top / "sitecustomize.py").write_text(WITHOUT_FINDERS, "utf-8")
    yield top
    shutil.rmtree(top, ignore_errors=True)


def environment(tree: Path, *more: Path) -> dict[str, str]:
    """With these Python imports the copy, also where packages are installed editable."""
    elsewhere = [folder_of(name).parent for name in NEIGHBOURS if importlib.util.find_spec(name)]
    paths = [*more, tree, *(tree / where for where in COPIED.values()), *elsewhere]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "DRYSTONE_PLAN_CACHE": "off",
        "DRYSTONE_PLUGINS_DISABLE": "cpu",
    }


def run(commands: list[str], tree: Path, *more: Path) -> None:
    """Run a page's commands; `python` is this one."""
    for command in commands:
        line = re.sub(r"\bpython -m", f"'{sys.executable}' -m", command)
        done = subprocess.run(
            ["bash", "-euc", line], cwd=tree, env=environment(tree, *more),
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize(("name", "most"), [("op", 8), ("rule", 4), ("scheme", 4)])
def test_an_addition_touches_few_files(name: str, most: int) -> None:
    page = read(f"add-{'an' if name == 'op' else 'a'}-{name}")
    assert 0 < len(page.touched) <= most
    assert len(page.commands) >= 2


def test_an_op_is_added(tree: Path) -> None:
    page = read("add-an-op")
    follow(page, tree)
    run(page.commands, tree)
    base = tree / "packages/base/src/drystone_base"
    for folder in ("kernels", "inference/shapes", "inference/batch_rules"):
        assert "_MklFusedMish" in (base / folder / "_index.py").read_text("utf-8")


def test_a_rule_is_added(tree: Path) -> None:
    page = read("add-a-rule")
    follow(page, tree)
    run(page.commands, tree)
    index = tree / "packages/optimizer/src/drystone_optimizer/passes/_index.py"
    assert "arithmetic_optimization.even_functions" in index.read_text("utf-8")


def test_a_scheme_is_added(tree: Path) -> None:
    page = read("add-a-scheme")
    follow(page, tree)
    package = tree / "packages" / "fs-zip"
    install(package, tree / "installed")
    commands = [command for command in page.commands if "pip install" not in command]
    run(commands, tree, tree / "installed", package / "src")


def install(package: Path, into: Path) -> None:
    """The metadata of an editable install: what `pip install -e` writes of entry points."""
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    folder = into / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    folder.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (folder / "METADATA").write_text(head, "utf-8")
    lines = []
    for group, names in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in names.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
