"""What the session's ceiling lets layers in float32 do: factors of ten bits behind the point."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import drystone_base as ds
from ci.scripts.gpu.networks import Network
from drystone_base.graph import Output
from drystone_optimizer import OptimizerConfig

__all__ = ["ceiling_problems"]

Array = np.ndarray[Any, Any]
_NEARLY: Final = 1e-5
_CLOSE: Final = 3e-3
"""How far sums of products of such factors may be off, relative to the largest."""


def _product(n: Network, x: Output) -> Output:
    rows = n.typed("Reshape", x, n.const([-1, 8], "int32"), Tshape=ds.as_dtype("int32"))
    return n.typed("MatMul", rows, n.normal(8, 16, scale=1.0))


def _convolution(n: Network, x: Output) -> Output:
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    return n.typed("Conv2D", x, n.normal(3, 3, 8, 16, scale=1.0), **attrs)


def ceiling_problems(**config: Any) -> str:
    """What is wrong in sessions of that config: "" for nothing."""
    return next(filter(None, (_far(build, config) for build in (_product, _convolution))), "")


def _far(build: Callable[[Network, Output], Output], config: dict[str, Any]) -> str:
    n = Network("float32")
    end = build(n, n.fed("x", "float32", 2, 6, 7, 8))
    fetch = f"{end[0].name}:0"
    feeds = {"x:0": np.random.default_rng(4).standard_normal((2, 6, 7, 8)).astype(np.float32)}
    plain = ds.SessionConfig(optimizer="off", executor="reference")
    want = ds.Session(n.graph.copy(), plain).run(fetch, feeds)
    for ceiling, most in (("reassociates", _NEARLY), ("approximate", _CLOSE)):
        asked = OptimizerConfig(numeric=ceiling, min_graph_nodes=-1)
        session = ds.Session(n.graph.copy(), ds.SessionConfig(optimizer=asked, **config))
        got = np.asarray(session.run(fetch, feeds))
        off = float(np.abs(got - want).max() / np.abs(want).max())
        if off > most:
            return f"{end[0].op}, {ceiling}: off by {off:.3g}"
        # A processor that stands for a GPU rounds where one may.
        stands = os.environ.get("DRYSTONE_GPU_DEVICE") == "host"
        if stands and ceiling == "approximate" and off <= _NEARLY:
            return f"{end[0].op}: the ceiling changes nothing"
    return ""
