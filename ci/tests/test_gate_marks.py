"""Which tests are left to the night."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from ci.scripts.project import ROOT

FILE = """
import pytest

pytestmark = [pytest.mark.cases_in_gate(2), pytest.mark.tests_in_gate(2)]

@pytest.mark.parametrize("k", range(4))
def test_a(k): pass
def test_b(): pass
def test_c(): pass
@pytest.mark.nightly
def test_d(): pass
def test_e(): pass
"""


def test_every_second_test_and_every_second_case_of_it(tmp_path: Path) -> None:
    for name in ("conftest.py", ".pytest.ini"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "test_file.py").write_text(FILE, encoding="utf-8")
    command = ("pytest", "-q", "--collect-only", "-p", "no:randomly", "-p", "no:cacheprovider")
    kept = {}
    for chosen in ("not nightly", "nightly"):
        done = subprocess.run(
            [sys.executable, "-m", *command, "-c", ".pytest.ini", "-m", chosen, "test_file.py"],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        kept[chosen] = [
            line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line
        ]
    assert kept["not nightly"] == ["test_a[0]", "test_a[2]", "test_c"]
    assert kept["nightly"] == ["test_a[1]", "test_a[3]", "test_b", "test_d", "test_e"]
