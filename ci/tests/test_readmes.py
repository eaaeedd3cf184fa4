"""What each package's README lists is what the package holds today: passes, groups of ops, files.

Folders of packages with floors are compared in test_pages_and_sources.py.
"""

from __future__ import annotations

import re
from pathlib import Path

from ci.scripts import codeowners
from ci.scripts.project import ROOT, packages
from drystone_optimizer.core.config import DEFAULT_OFF
from drystone_optimizer.passes._registry import PASSES


def readme(package: str) -> str:
    return (packages()[package].path / "README.md").read_text("utf-8")


def folders(path: Path) -> set[str]:
    """Folders with sources in them."""
    found = {one.name for one in path.iterdir() if one.is_dir() and any(one.glob("*.*"))}
    return found - {"__pycache__"}


def test_passes_of_the_optimizer_in_order() -> None:
    listed = re.findall(r"^\| `(\w+)`[^|]*\| ", readme("optimizer"), re.MULTILINE)
    assert listed[: len(PASSES)] == [one.name for one in PASSES]


def test_which_passes_are_off() -> None:
    listed = re.findall(r"^\| `(\w+)` \(off by default\)", readme("optimizer"), re.MULTILINE)
    assert set(listed) == DEFAULT_OFF & {one.name for one in PASSES}


def test_groups_of_ops() -> None:
    text = readme("base").partition("TensorFlow's groups of ops: ")[2].partition(". ")[0]
    source = packages()["base"].source
    groups = folders(source / "kernels")
    assert set(re.findall(r"`(\w+)`", text)) == groups
    assert folders(source / "inference" / "shapes") == groups


def test_folders_of_kernels() -> None:
    listed = set(re.findall(r"^\| `kernels/(\w+)` \|", readme("cpu"), re.MULTILINE))
    assert listed == folders(ROOT / "packages" / "cpu" / "kernels")


def test_modules_of_the_filesystems() -> None:
    listed = set(re.findall(r"`(\w+)\.py`", readme("filesystem")))
    source = packages()["filesystem"].source
    assert listed == {one.stem for one in source.glob("*.py") if not one.stem.startswith("_")}


def test_files_of_the_gpu_backend() -> None:
    text = readme("gpu").partition("| folder | holds |")[2].partition("\n\n")[0]
    backend = packages()["gpu"].path / "backend"
    listed = set()
    for name in re.findall(r"`(?:backend/)?([\w*.]+\.cu?c?)`", text):
        found = {one.name for one in backend.glob(name)}
        assert found, f"{name} is not there"
        listed |= found
    assert {one.name for one in backend.glob("*.cc")} <= listed


def test_suites_of_the_conformance_package() -> None:
    listed = set(re.findall(r"`(test_\w+)`", readme("conformance").partition("\n\nA subgraph")[0]))
    found = {one.stem for one in packages()["conformance"].source.rglob("test_*.py")}
    assert listed == found


def test_every_package_has_its_owners() -> None:
    assert not codeowners.outdated(), "run python -m ci.scripts.codeowners"
