"""Recorded models on the backend ``gpu``, against the answers that TensorFlow gave."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_subgraph import executables

__all__ = ["case_of", "recorded_models", "tolerance_of", "worst_of"]


def recorded_models(folder: Path) -> Iterator[dict[str, Any]]:
    """For each model of the folder's index that is there: what came of it.

    ``worst`` is the largest difference of a run beyond what its tolerance allows, relative to the
    values' size; ``regions`` and ``ready`` count operators of the backend, ``nodes`` those of the
    graph that ran in them.
    """
    rows = json.loads((folder / "index.json").read_text(encoding="utf-8"))["models"]
    for row in rows:
        ref = next((ref for ref in row["refs"] if ref["kind"] != "train"), None)
        is_there = (folder / row["name"] / row["file"]).exists()
        if row["format"] == "onnx" or ref is None or not is_there:
            continue
        try:
            yield {"model": row["name"], **_run(folder / row["name"], row, ref)}
        except Exception as error:
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            yield {"model": row["name"], "problem": text[:300]}


def _run(home: Path, row: dict[str, Any], ref: dict[str, Any]) -> dict[str, Any]:
    config = ds.SessionConfig(subgraphs="gpu")
    model = ds.load(home / row["file"], config=config)
    feeds, wants = case_of(home, ref)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        got = model.run(list(wants), feeds)
        got = model.run(list(wants), feeds)
    states = executables(model.session)
    worst = worst_of(got, wants)
    problem = "" if worst <= tolerance_of(row) else f"differs by {worst:.3g}"
    return {
        "worst": worst, "tolerance": tolerance_of(row), "problem": problem, "regions": len(states),
        "ready": sum(s.state == "ready" for s in states),
        "failed": sorted({s.reason for s in states if s.state == "failed"}),
        "warnings": len(said),
    }  # fmt: skip


def case_of(home: Path, ref: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Feeds and outputs that were recorded."""
    with np.load(home / ref["file"], allow_pickle=False) as data:
        feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
        wants = {tensor: data[key] for tensor, key in ref["outputs"].items()}
    return feeds, wants


def worst_of(got: Any, wants: dict[str, Any]) -> float:
    """The largest difference of outputs, relative to the values' size."""
    return max(_difference(np.asarray(g), w) for g, w in zip(got, wants.values(), strict=True))


def tolerance_of(row: dict[str, Any]) -> float:
    """1e-4, or four times what TensorFlow's own kernels differ by where that is more."""
    known = [float(pair[-1]) for case in row.get("fp32_dev") or [] for pair in case.values()]
    return max([1e-4, *(4 * value for value in known)])


def _difference(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> float:
    if got.shape != want.shape:
        return float("inf")
    if want.dtype.kind not in "fc":
        return float((got != want).any())
    a, b = got.astype(np.float64), want.astype(np.float64)
    if not (np.isnan(a) == np.isnan(b)).all():
        return float("inf")
    spread = float(np.nanstd(b)) if b.size else 0.0
    apart = np.abs(a - b) / (np.abs(b) + spread + 1e-30)
    return float(np.nanmax(apart, initial=0.0))
