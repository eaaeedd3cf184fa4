"""What every package says of itself, also those that the gate does not build, is complete."""

from __future__ import annotations

from email.message import Message

import pytest

from ci.checks import wheel_metadata
from ci.release.sbom import COLUMNS
from ci.scripts import wheels
from ci.scripts.project import ROOT, Package, load_toml, packages

EVERY = packages()
PYTHONS = load_toml(ROOT / "ci" / "matrix.toml")["python"]
ours = pytest.mark.parametrize("package", EVERY.values(), ids=list(EVERY))


def metadata(package: Package) -> Message:
    """What a build makes of a package's pyproject.toml, as far as an index shows it."""
    project = package.project
    about = Message()
    about["Summary"] = project["description"]
    about["License-Expression"] = project["license"]
    about["Requires-Python"] = project["requires-python"]
    about["Description-Content-Type"] = "text/markdown"
    for name in project["license-files"]:
        about["License-File"] = name
    for classifier in project["classifiers"]:
        about["Classifier"] = classifier
    about.set_payload((package.path / project["readme"]).read_text(encoding="utf-8"))
    return about


@ours
def test_what_an_index_shows_is_there(package: Package) -> None:
    assert list(wheel_metadata.stated(metadata(package))) == []
    assert package.project["requires-python"] == f">={PYTHONS['lowest']}"


@ours
def test_pythons_and_systems_are_those_that_are_tried(package: Package) -> None:
    stated = package.project["classifiers"]
    python = "Programming Language :: Python :: 3."
    of_python = [one.removeprefix(python) for one in stated if one.startswith(python)]
    assert [f"3.{minor}" for minor in of_python] == PYTHONS["tested"]
    native_only = package.native and not wheels.can_be_alone(package)
    if native_only:
        assert "Operating System :: POSIX :: Linux" in stated
        assert "Operating System :: OS Independent" not in stated


@ours
def test_licences_are_there_also_of_what_a_wheel_holds_of_others(package: Package) -> None:
    files = package.project["license-files"]
    texts = {name: (package.path / name).read_text(encoding="utf-8") for name in files}
    assert texts["LICENSE"] == (ROOT / "LICENSE").read_text(encoding="utf-8")
    others = (package.path / "THIRD_PARTY.md").exists()
    assert ("THIRD_PARTY.md" in files) == others, "it must be among the licence files"
    if others:
        assert f"| {' | '.join(COLUMNS)} |" in texts["THIRD_PARTY.md"]


def test_addresses_are_those_of_all_packages_or_of_none() -> None:
    """None, while the project has no address of its own: docs/how-to/releasing.md."""
    labels = {key: sorted(package.project.get("urls", ())) for key, package in EVERY.items()}
    assert len({tuple(names) for names in labels.values()}) == 1, labels


def test_every_project_of_the_tree_is_a_package() -> None:
    found = {file.parent for part in ("*", "*/*") for file in ROOT.glob(f"{part}/pyproject.toml")}
    named = {folder for folder in found if "project" in load_toml(folder / "pyproject.toml")}
    assert named - {package.path for package in EVERY.values()} == set()
