"""Every recorded inference case of every shared model, through the Python API."""

from typing import Any

import numpy as np
import pytest
from oracle import difference
from shared_data import MODELS, WHY_NOT, inference_models, tolerance

import drystone_base as ds

ROWS = inference_models()


@pytest.mark.skipif(not ROWS, reason=WHY_NOT)
@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["name"])
def test_model(row: dict[str, Any]) -> None:
    model = ds.load(MODELS / row["name"] / row["file"])
    for ref in row["refs"]:
        if ref["kind"] == "train":
            continue
        data = np.load(MODELS / row["name"] / ref["file"], allow_pickle=True)
        feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
        got = model.run(list(ref["outputs"]), feeds)
        for (tensor, key), value in zip(ref["outputs"].items(), got, strict=True):
            worst = difference(np.asarray(value), data[key])
            assert worst <= tolerance(row), f"{ref['file']} {tensor}: differs by {worst:.3g}"


@pytest.mark.skipif(not ROWS, reason=WHY_NOT)
@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["name"])
def test_inferred_shapes_admit_the_real_ones(row: dict[str, Any]) -> None:
    model = ds.load(MODELS / row["name"] / row["file"])
    ref = row["refs"][0]
    data = np.load(MODELS / row["name"] / ref["file"], allow_pickle=True)
    feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
    inferred = ds.infer(model.graph)
    assert not inferred.errors
    dims: dict[int, int] = {}
    for name, value in _all_tensors(model, ref["outputs"], feeds).items():
        shape = inferred.shape(model.graph.output(name))
        real = np.shape(value)
        if shape is None:
            continue
        assert len(shape) == len(real), f"{name}: inferred {shape}, is {real}"
        for guess, size in zip(shape, real, strict=True):
            known = dims.setdefault(guess, size) if guess <= -2 else guess
            assert known in (size, -1), f"{name}: inferred {shape}, is {real}"


def _all_tensors(model: ds.Model, outputs: Any, feeds: Any) -> dict[str, Any]:
    """Values of every reached tensor outside branches and loops."""
    from drystone_base.graph import output_name, reachable
    from drystone_base.graph.validate import output_dtypes

    graph = model.graph
    fed = {graph.output(t) for t in feeds}
    nodes = reachable([graph.output(t)[0] for t in outputs], fed=fed)
    if any(n.op in ("Switch", "Merge", "Enter", "RefSwitch") for n in nodes):
        nodes = {graph.output(t)[0]: None for t in outputs}
    names = []
    for node in nodes:
        types = output_dtypes(node) or []
        names += [output_name((node, k)) for k, t in enumerate(types) if not t.is_object]
    names = [n for n in names if graph.output(n)[0].op != "Placeholder"]
    return dict(zip(names, model.run(names, feeds), strict=True))
