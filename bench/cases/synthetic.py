"""Synthetic cases: files written for every runtime, answers of the reference executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bench.case import Case
from bench.cases import graphs, twins
from drystone_base.api.session import Session, SessionConfig
from drystone_base.graph import Graph

__all__ = ["STEPS", "synthetic"]

STEPS = 10_000
"""Steps of the counting loops."""
Arrays = dict[str, np.ndarray[Any, Any]]


def synthetic(work: Path) -> list[Case]:
    """Calls, loops and text; their files are written under ``work``.

    ONNX forms only where the onnx package is installed.
    """
    work.mkdir(parents=True, exist_ok=True)
    x, limit, boxes, lines = _pair(), {"limit:0": np.array(STEPS, np.int32)}, _boxes(), _lines()
    one, mixed, adds = graphs.chain(1), graphs.chain(100, graphs.CHAIN), graphs.chain(1000)
    loop = (twins.write_loop, "count")
    make = _Maker(work)
    make("one-add", "calls", "one Add", one, x, lambda f: twins.write_chain(f, 1), "add")
    make("elementwise-100", "calls", "100 element-wise ops in a chain", mixed, x,
         lambda f: twins.write_chain(f, 100, graphs.CHAIN), "elementwise")  # fmt: skip
    make("adds-1000", "calls", "1000 Adds in a chain", adds, x,
         lambda f: twins.write_chain(f, 1000), "adds")  # fmt: skip
    for name, title, graph in (
        ("while-v1", "while loop, 10,000 steps, frames", graphs.loop_of_frames()),
        ("while-v2", "while loop, 10,000 steps, functions", graphs.loop_of_functions()),
    ):
        make(name, "loops", title, graph, limit, *loop)
    make("nms-loop", "loops", "box selection, 20 classes of 300 boxes", graphs.nms_loop(), boxes)
    make("hashed-text", "text", "64 lines to hashed embeddings", graphs.hashed_text(), lines)
    return make.cases


class _Maker:
    """Writes files and keeps the cases."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.cases: list[Case] = []

    def __call__(
        self, name: str, group: str, title: str, graph: Graph, arrays: Mapping[str, Any],
        onnx: Callable[[Path], None] | None = None, torch: str = "",
    ) -> None:  # fmt: skip
        file, twin, data = (self.work / f"{name}.{end}" for end in ("pb", "onnx", "npz"))
        file.write_bytes(graph.to_bytes())
        forms = {"graphdef": str(file)}
        if onnx and find_spec("onnx"):
            onnx(twin)
            forms["onnx"] = str(twin)
        if torch:
            forms["torch"] = torch
        session = Session(graph, SessionConfig(executor="reference", optimizer="off"))
        answer = session.run("out:0", arrays)
        inputs = {tensor: f"in{k}" for k, tensor in enumerate(arrays)}
        saved = {inputs[tensor]: _plain(value) for tensor, value in arrays.items()}
        np.savez(data, **saved | {"out0": answer})
        self.cases.append(Case(name, group, title, forms, str(data), inputs, {"out:0": "out0"}))


def _plain(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return value.astype("S") if value.dtype == object else value


def _pair() -> Arrays:
    rng = np.random.default_rng(1)
    return {name: rng.uniform(0.1, 1.0, (4, 4)).astype(np.float32) * scale
            for name, scale in (("x:0", np.float32(1)), ("y:0", np.float32(1e-3)))}  # fmt: skip


def _boxes() -> Arrays:
    rng = np.random.default_rng(2)
    corner = rng.random((300, 2), np.float32)
    size = rng.uniform(0.05, 0.3, (300, 2)).astype(np.float32)
    return {"boxes:0": np.concatenate([corner, corner + size], 1),
            "scores:0": rng.random((20, 300), np.float32)}  # fmt: skip


def _lines() -> Arrays:
    rng = np.random.default_rng(3)
    words = [f"word{k}".encode() for k in range(2000)]
    lines = [b" ".join(words[k] for k in rng.integers(0, 2000, 12)) for _ in range(64)]
    return {"lines:0": np.array(lines, object)}
