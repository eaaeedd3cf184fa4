"""A project of each kind, made without a checkout, builds, installs, loads and conforms."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv, install
from integration_tests.test_plugins.building import VARIABLES, build, states, uninstall

GATE = ("python-optimizer",)
NIGHTLY = (
    "cpp-network",
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
        if kind == "device":
            runs_a_model_partly(env, tmp_path)
    finally:
        uninstall(env, wheel)


PROGRAM = """
import numpy as np
from drystone_base import Graph, Session, SessionConfig, as_dtype
FLOAT = as_dtype("float32")
graph, t = Graph(), {"T": FLOAT}
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": (-1, 3)})
w = graph.add("Placeholder", "w", attrs={"dtype": FLOAT, "shape": (3, 4)})
product = graph.add("MatMul", "product", [x, w], attrs=t)
graph.add("Floor", "y", [graph.add("Relu", "relu", [product], attrs=t)], attrs=t)
feeds = {"x:0": np.array([[1, -2, 0.5], [-1, 0, 0.25]]), "w:0": np.arange(12).reshape(3, 4)}
feeds = {name: value.astype(np.float32) for name, value in feeds.items()}
session = Session(graph, SessionConfig(log_device_placement=True, optimizer="off"))
want = np.floor(np.maximum(feeds["x:0"] @ feeds["w:0"], 0))
np.testing.assert_array_equal(session.run("y:0", feeds), want)
"""


def runs_a_model_partly(env: InstalledEnv, folder: Path) -> None:
    """The device is in `doctor`, and takes the nodes of a graph that it has kernels for."""
    command = ("env", *VARIABLES)
    told = env.run(*command, env.drystone, "doctor", cwd=folder).stdout
    assert "MY_FIRST: 2, kernels for 4 ops" in told
    log = env.run(*command, env.python, "-I", "-c", PROGRAM, cwd=folder).stderr
    places = {line.split(":")[0]: line.split()[2] for line in log.splitlines() if ": (" in line}
    there = {name for name, place in places.items() if "device:MY_FIRST:" in place}
    assert {"product", "relu"} <= there
    assert places["y"].endswith("/device:CPU:0")


def test_every_kind_is_tried(env: InstalledEnv) -> None:
    program = "from drystone_abi.new import KINDS; print(*sorted(KINDS))"
    assert env.run(env.python, "-I", "-c", program).stdout.split() == sorted((*GATE, *NIGHTLY))
