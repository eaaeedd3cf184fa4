"""Packages of drystone without those that they need: each names what to install (S2)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ci.scripts.missing_packages import files, outdated
from ci.scripts.project import ROOT, packages

PACKAGES = packages(ROOT)
IMPORTS = {package.import_name: package for package in PACKAGES.values()}


def said(program: str, *there: str, first: Path | None = None) -> str:
    """What a Python prints that has nothing but the sources of these packages, and a folder."""
    folders = [PACKAGES[key].source.parent for key in there]
    places = os.pathsep.join(map(str, [first, *folders] if first else folders))
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": places},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


def text(what: str, module: str, package: str) -> str:
    return (
        f"{what} cannot be used [package-missing]\n"
        "  check: the package that it needs must be installed\n"
        f"  found: no module {module}\n"
        f"  needed: {package}\n"
        f"  remedy: pip install {package}\n"
    )


def test_files_are_those_that_the_generator_writes() -> None:
    assert outdated() == []
    assert len(files()) >= 10


@pytest.mark.parametrize("file", files(), ids=lambda file: file.parts[-2])
def test_each_package_alone_names_the_one_below_it(file: object) -> None:
    (package,) = [p for p in PACKAGES.values() if str(file).startswith(f"{p.source}{os.sep}")]
    needed = "drystone_filesystem" if "filesystem" in package.depends_on else "drystone_base"
    program = f"import {package.import_name}"
    if package.key == "metapackage":  # which imports nothing before a name is asked for
        needed, program = "drystone_base", "import drystone; drystone.load"
    wanted = text(package.distribution, needed, IMPORTS[needed].distribution)
    assert said(program, package.key).endswith(f"ModuleNotFoundError: {wanted}")


@pytest.mark.parametrize("found", ["module", "name"])
@pytest.mark.parametrize("file", files(), ids=lambda file: file.parts[-2])
def test_each_package_beside_a_base_that_does_not_fit_says_so(
    file: Path, found: str, tmp_path: Path
) -> None:
    """A module or a name of base that all begin with is not where it was."""
    (package,) = [p for p in PACKAGES.values() if str(file).startswith(f"{p.source}{os.sep}")]
    base = tmp_path / "drystone_base"
    (base / "core").mkdir(parents=True)
    (base / "__init__.py").touch()
    (base / "cli").mkdir()
    (tmp_path / "numpy.py").touch()
    if found == "name":
        (base / "core" / "lazy_names.py").touch()
        (base / "cli" / "__init__.py").touch()
    program = f"import {package.import_name}"
    if package.key == "metapackage":
        program = "from drystone.__main__ import main; main()"
    below = [PACKAGES["filesystem"]] if package.key.startswith("fs-") else []
    printed = said(program, package.key, *(one.key for one in below), first=tmp_path)
    name = (below or [package])[0].distribution
    assert f"{name} cannot be used with this drystone-" in printed
    assert " [packages-out-of-step]\n  check: what a package needs of another must " in printed
    assert "  found: No module named" in printed or "  found: cannot import name" in printed
    assert f"  remedy: pip install --upgrade {name} drystone-" in printed


@pytest.mark.parametrize("name", ["optimizer", "subgraph", "io"])
def test_a_part_of_the_set_that_is_not_there_is_named(name: str) -> None:
    module = {"io": "drystone_filesystem"}.get(name, f"drystone_{name}")
    wanted = text("drystone", module, module.replace("_", "-"))
    assert said(f"import drystone; drystone.{name}", "metapackage", "base").endswith(wanted)


def test_the_settings_of_the_optimizer_name_it() -> None:
    program = "from drystone import config; config.optimizer"
    wanted = text("drystone", "drystone_optimizer", "drystone-optimizer")
    assert said(program, "metapackage", "base").endswith(wanted)


def test_the_set_run_as_a_module_names_base() -> None:
    program = "import runpy; runpy.run_module('drystone', run_name='__main__')"
    wanted = text("error: drystone", "drystone_base", "drystone-base")
    assert said(program, "metapackage") == wanted


@pytest.mark.parametrize(
    ("name", "there", "module", "package"),
    [
        ("load", ("base",), "numpy", "numpy"),
        ("save", ("base",), "drystone_abi", "drystone-plugin-abi"),
    ],
)
def test_base_names_what_it_lacks(
    name: str, there: tuple[str, ...], module: str, package: str
) -> None:
    printed = said(f"import drystone_base; drystone_base.{name}", *there)
    wanted = text(f"drystone_base.{name}", module, package)
    assert f"MissingPackage: {wanted}  caused by: ModuleNotFoundError" in printed


def test_metadata_of_every_wheel_is_complete() -> None:
    """What an index shows, and what installers and lawyers look for."""
    for package in PACKAGES.values():
        project = package.project
        folder = package.path
        assert {"description", "readme", "requires-python", "license"} <= set(project), package.key
        assert all((folder / file).is_file() for file in project["license-files"])
        classifiers = project["classifiers"]
        native = any(one.endswith(":: C++") for one in classifiers)
        assert native == package.native, package.key
        for prefix in ("Development Status", "Intended Audience", "Operating System", "Topic"):
            assert any(one.startswith(f"{prefix} ::") for one in classifiers), package.key
