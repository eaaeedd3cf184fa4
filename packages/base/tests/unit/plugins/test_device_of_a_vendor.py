"""A vendor's way: the project that `python -m drystone_abi new NAME device` makes, in use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from drystone_abi.new import render
from drystone_base.host import available

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

# A process of its own, because nothing takes a device back.
PROGRAM = """
import json, sys
import numpy as np
from click.testing import CliRunner
from drystone_base import Graph, Session, SessionConfig, as_dtype
from drystone_base.cli._app import app
from drystone_base.plugins import load_library

load_library(sys.argv[1])
graph, dtype, t = Graph(), {"dtype": as_dtype("float32")}, {"T": as_dtype("float32")}
x = graph.add("Placeholder", "x", attrs=dtype)
bias = graph.add("Placeholder", "bias", attrs=dtype)
w = graph.add("VarHandleOp", "w", attrs=dtype | {"shape": (3, 4)})
given = graph.add("Placeholder", "value", attrs=dtype)
graph.add("AssignVariableOp", "assign", [w, given], attrs=dtype)
read = graph.add("ReadVariableOp", "read", [w], attrs=dtype)
product = graph.add("MatMul", "product", [x, read], attrs=t)
biased = graph.add("BiasAdd", "biased", [product, bias], attrs=t)
graph.add("Floor", "y", [graph.add("Relu", "relu", [biased], attrs=t)], attrs=t)
value = np.arange(12, dtype=np.float32).reshape(3, 4)
feeds = {"x:0": np.float32([[1, -2, 0.5], [-1, 0, 0.25]]), "bias:0": np.float32([3, 2.5, 1, -9])}
session = Session(graph, SessionConfig(optimizer="off"))
session.run("assign", {"value:0": value})
want = np.floor(np.maximum(feeds["x:0"] @ value + feeds["bias:0"], 0))
np.testing.assert_array_equal(session.run("y:0", feeds), want)
np.testing.assert_array_equal(session.run("read:0"), value)
report = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
print(json.dumps({
    "places": {d.node: d.device for d in session.placement(["y:0"], list(feeds))},
    "devices": report["plugins"]["devices"],
    "text": CliRunner().invoke(app, ["doctor"]).stdout,
}))
"""


@pytest.mark.parametrize("count", [0, 2])
def test_it_is_in_doctor_and_runs_a_model_partly(
    count: int, compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    render("acme-npu", "device", tmp_path / "new")
    sources = sorted((tmp_path / "new").glob("*.c"))
    library = compile_library(*sources, flags=[f"-I{tmp_path / 'new'}"])
    env = {
        "DRYSTONE_DEVELOPER_MODE": "1",
        "DRYSTONE_PLUGINS_DISABLE": "cpu",
        "ACME_NPU_DEVICES": str(count),
    }
    settings = {k: v for k, v in os.environ.items() if k != "DRYSTONE_VISIBLE_DEVICES"} | env
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, library],
        capture_output=True, text=True, env=settings, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["devices"] == [{"type": "ACME_NPU", "count": count, "ops": 4, "error": ""}]
    assert f"ACME_NPU: {count or 'none'}, kernels for 4 ops" in found["text"]
    there = {node for node, place in found["places"].items() if "/device:ACME_NPU:" in place}
    assert {"product", "biased", "relu"} <= there if count else not there
    assert found["places"]["y"].endswith("/device:CPU:0")
