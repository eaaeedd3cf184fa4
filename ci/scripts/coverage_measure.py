"""Measure docs/reference/coverage.json: models and single-op cases against TensorFlow's answers.

Needs the recorded data beside the repository. Used by `coverage_generate.py --models`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import drystone_base as ds

__all__ = ["measure"]


def measure() -> dict[str, Any]:
    """Everything that is recorded; raises `FileNotFoundError` without the recorded data."""
    from shared_data import MODELS, WHY_NOT, model_index

    rows = model_index()
    if not rows:
        raise FileNotFoundError(f"{WHY_NOT}: {MODELS}")
    used = Counter(op for row in rows for op in row["reachable_ops"])
    return {
        "models": [_model(row) for row in rows],
        "op_cases": _op_cases(),
        "used_by": dict(sorted(used.items())),
    }


def _model(row: dict[str, Any]) -> dict[str, Any]:
    from shared_data import tolerance

    cases = [ref for ref in row["refs"] if ref["kind"] != "train" or "steps" in ref]
    record: dict[str, Any] = {
        "name": row["name"],
        "format": row["format"],
        "nodes": row["nodes"],
        "function_nodes": row["function_nodes"],
        "cases": len(cases),
        "allowed": float(f"{tolerance(row):.2g}"),
    }
    try:
        worst = max(difference for ref in cases for difference in _case(row, ref))
    except ds.DrystoneError as error:
        return {**record, "worst": None, "error": str(error).splitlines()[0]}
    return {**record, "worst": float(f"{worst:.1e}")}


def _case(row: dict[str, Any], ref: dict[str, Any]) -> Iterator[float]:
    """The difference of each output of one recorded case."""
    from oracle import difference
    from shared_data import MODELS

    folder = MODELS / row["name"]
    model = ds.load(folder / row["file"])
    with np.load(folder / ref["file"], allow_pickle=False) as data:
        if ref["kind"] == "train":
            yield from _training(model, ref, data)
            return
        feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
        got = model.run(list(ref["outputs"]), feeds)
        for value, key in zip(got, ref["outputs"].values(), strict=True):
            yield difference(np.asarray(value), data[key])


def _training(model: ds.Model, ref: dict[str, Any], data: Any) -> Iterator[float]:
    """Losses of all recorded steps, and what the trained model predicts for the first batch."""
    from oracle import difference

    x, y = data[ref["x"].split(":")[0]], data[ref["y"].split(":")[0]]
    fetches = [ref["loss"], ref["train_op"]]
    feeds = ({ref["x"]: x[k], ref["y"]: y[k]} for k in range(ref["steps"]))
    losses = [model.run(fetches, step)[0] for step in feeds]
    yield difference(np.asarray(losses), data["loss"])
    yield difference(model.run(ref["pred"], {ref["x"]: x[0]}), data["pred_after"])


def _op_cases() -> dict[str, Any]:
    from shared_data import OP_CASES

    cases = json.loads((OP_CASES / "index.json").read_text(encoding="utf-8"))
    failed = [case["case"] for case in cases if not _op_case_passes(case)]
    return {"cases": len(cases), "ops": len({case["op"] for case in cases}), "failed": failed}


def _op_case_passes(case: dict[str, Any]) -> bool:
    from oracle import difference
    from shared_data import OP_CASES

    graph = ds.Graph.from_bytes((OP_CASES / f"{case['case']}.pb").read_bytes())
    with np.load(OP_CASES / f"{case['case']}.npz", allow_pickle=False) as data:
        feeds = {f"{name}:0": data[name] for name in case["feeds"]}
        try:
            got = ds.Session(graph).run([f"op:{k}" for k in range(case["outs"])], feeds)
        except ds.DrystoneError:
            return False
        pairs = [(np.asarray(value), data[f"out{k}"]) for k, value in enumerate(got)]
    return all(difference(value, want) <= 1e-4 for value, want in pairs)
