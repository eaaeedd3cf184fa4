"""A project of each kind, made without a checkout, builds, installs, loads and conforms."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv, install
from integration_tests.test_plugins.building import VARIABLES, build, states, uninstall

GATE = ("python-optimizer",)
NIGHTLY = (
    "device",
    "filesystem",
    "kernels",
    "network",
    "optimizer",
    "passes",
    "profiler",
    "subgraph",
)
KINDS = (*GATE, *(pytest.param(kind, marks=pytest.mark.nightly) for kind in NIGHTLY))


@pytest.mark.parametrize("kind", KINDS)
def test_kind(kind: str, env: InstalledEnv, wheels: list[Path], tmp_path: Path) -> None:
    """Rows B24, B31."""
    env.run(env.python, "-m", "drystone_abi", "new", "my-first", kind, cwd=tmp_path)
    wheel = build(tmp_path / "my-first", wheels, tmp_path)
    install(env, "--no-deps", wheel)
    try:
        tests: tuple[str | Path, ...] = (tmp_path / "my-first" / "tests",)
        if kind != "python-optimizer":
            assert states(env) == ["loaded"]
            (library,) = env.root.rglob("drystone-plugins/libmy_first.so")
            tests = ("--plugin", library)
        pytest_in = (env.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
        assert " passed" in env.run("env", *VARIABLES, *pytest_in, cwd=tmp_path).stdout
    finally:
        uninstall(env, wheel)


def test_every_kind_is_tried(env: InstalledEnv) -> None:
    program = "from drystone_abi.new import KINDS; print(*sorted(KINDS))"
    assert env.run(env.python, "-I", "-c", program).stdout.split() == sorted((*GATE, *NIGHTLY))
