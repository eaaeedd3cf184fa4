"""Each example plugin builds into a wheel, installs, loads, passes its tests, and goes again."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv, install
from integration_tests.test_plugins.building import VARIABLES, build, states, uninstall

EXAMPLES = Path(__file__).resolve().parents[2] / "plugin-abi" / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/pyproject.toml"))
NATIVE = [name for name in NAMES if (EXAMPLES / name / "CMakeLists.txt").exists()]
GATE = ("kernels_c", "optimizer_python", "subgraph_c")
FOLDER = "drystone-plugins"


@pytest.mark.parametrize(
    "name",
    [name if name in GATE else pytest.param(name, marks=pytest.mark.nightly) for name in NAMES],
)
def test_example(name: str, env: InstalledEnv, wheels: list[Path], tmp_path: Path) -> None:
    """S2-alone."""
    wheel = build(EXAMPLES / name, wheels, tmp_path)
    if name in NATIVE:
        check_contents(wheel)
    install(env, "--no-deps", wheel)
    try:
        if name in NATIVE:
            assert states(env) == ["loaded"]
        tests = EXAMPLES / name / "tests"
        if tests.is_dir():
            pytest_in = (env.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
            assert " passed" in env.run("env", *VARIABLES, *pytest_in).stdout
    finally:
        uninstall(env, wheel)
    assert [path.name for path in env.root.rglob(f"{FOLDER}/*")] == []


def check_contents(wheel: Path) -> None:
    """One wheel for every Python, with nothing outside of the folder of plugins."""
    assert "-py3-none-" in wheel.name
    inside = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    assert {name.split("/")[0] for name in inside} == {FOLDER}


def test_every_example_is_tried() -> None:
    assert len(NATIVE) >= 6
    assert {"optimizer_python", "subgraph_python"} < set(NAMES)
