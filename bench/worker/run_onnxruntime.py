"""onnxruntime: the ONNX form, all graph optimizations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.worker._form import NoForm, Prepared, choose

__all__ = ["prepare", "start"]


def start() -> None:
    """Import it."""
    import onnxruntime  # noqa: F401


def prepare(case: Mapping[str, Any], threads: int) -> Prepared:
    """A session, and a call of it."""
    import onnxruntime

    _, file = choose(case, "onnx")
    if case["precision"] != "float32":
        raise NoForm(f"computes in float32 on processors like this one, not {case['precision']}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    inputs, outputs = list(case["inputs"]), list(case["outputs"])
    return lambda *arrays: session.run(outputs, dict(zip(inputs, arrays, strict=True))), None
