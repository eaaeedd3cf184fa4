"""The table of limits counts what a model has to do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from bench import roofline
from bench.cases.graphs import constant, placeholder
from ci.scripts.project import ROOT
from drystone_base.cli._inputs import Request
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph

IMAGE: dict[str, Any] = {"T": FLOAT32, "strides": [1, 2, 2, 1], "padding": "SAME"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A convolution, its depthwise sister, and a product."""
    graph = Graph()
    x = placeholder(graph, "x", FLOAT32, (-1, 8, 8, 3))
    w = constant(graph, "w", np.ones((3, 3, 3, 16)), np.float32)
    d = constant(graph, "d", np.ones((5, 5, 16, 1)), np.float32)
    m = constant(graph, "m", np.ones((7, 256)), np.float32)
    image = graph.add("Conv2D", "c", [x, w], attrs=IMAGE)
    deep = graph.add("DepthwiseConv2dNative", "p", [image, d], attrs=IMAGE | {"strides": [1] * 4})
    shape = constant(graph, "s", [-1, 256])
    flat = graph.add("Reshape", "r", [deep, shape], attrs={"T": FLOAT32})
    graph.add("MatMul", "y", [flat, m], attrs={"T": FLOAT32, "transpose_b": True})
    file = tmp_path / "model.pb"
    file.write_bytes(graph.to_bytes())
    return file


def test_operations_and_bytes(model: Path) -> None:
    x = np.ones((2, 8, 8, 3), np.float32)
    rows = roofline.measure(ds.load(model), Request({"x:0": x}, {"y": "y:0"}), 1, 2)
    found = {row.op: (row.flops, row.bytes) for row in rows}
    image, conv, deep, flat = 2 * 8 * 8 * 3, 3 * 3 * 3 * 16, 5 * 5 * 16, 2 * 4 * 4 * 16
    assert found["Conv2D"] == (2 * flat * 27, 4 * (image + conv + flat))
    assert found["DepthwiseConv2dNative"] == (2 * flat * 25, 4 * (2 * flat + deep))
    assert found["MatMul"] == (2 * 14 * 256, 4 * (flat + 7 * 256 + 14))
    assert all(row.seconds > 0 for row in rows)


def test_a_limit_is_the_slower_of_both() -> None:
    of = roofline.Peaks(flops=100.0, bytes=10.0)
    assert roofline.Row("y", "MatMul", 1000, 20).limit(of) == 10
    assert roofline.Row("y", "Relu", 0, 20).limit(of) == 2


def test_the_command(model: Path, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"x:0": np.ones((1, 8, 8, 3), np.float32)}
    np.savez(tmp_path / "in.npz", **arrays)
    done = subprocess.run(
        [sys.executable, "-m", "bench.roofline", str(model), "--fetch", "y:0", "--repeat", "2",
         "--inputs", str(tmp_path / "in.npz")],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"1 thread\(s\): [\d.]+ GFLOP/s, [\d.]+ GB/s", done.stdout)
    assert all(op in done.stdout for op in ("Conv2D", "DepthwiseConv2dNative", "MatMul", "all"))
