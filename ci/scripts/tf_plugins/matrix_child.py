"""One configuration of ci.scripts.tf_plugins.matrix: loads plugins, then runs model after model.

Prints `begin NAME` before and `end JSON` after each, so that who reads knows where it died.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from ci.scripts.tf_plugins.itex import WRONG, distance
from ci.scripts.tf_plugins.matrix import models_of
from drystone_base.graph import Graph
from drystone_base.plugins import ensure_loaded, load_library
from drystone_optimizer import OptimizerConfig, optimize_with_report

TOLERANCE = 1e-4
_TRAINING = {"train-cnn-adam-ref": 2e-3, "train-cnn-adam-resource": 2e-3}
"""Losses of steps: batch norm makes gradients that are nothing but rounding, which Adam scales."""

OPTIMIZER: dict[str, Any] = {
    "on": "default",
    "no plugins": OptimizerConfig(use_plugin_optimizers=False),
    "off": "off",
}


def load_plugins(order: str, library: str) -> None:
    """Load what is installed and Intel's library, in the order asked for."""
    if order == "intel first":
        load_library(library)
    ensure_loaded()
    if order in ("cpu first", "no cpu"):
        load_library(library)
    states = {p["name"]: p["state"] for p in ds.plugins.report().as_json()["plugins"]}
    wanted = {"itex_cpu": "loaded", "cpu": "skipped" if order == "no cpu" else "loaded"}
    found = {name: states.get(name, "not found") for name in wanted}
    if found != wanted:
        raise SystemExit(f"the plugins are {found}; wanted are {wanted}")


def allowed(row: dict[str, Any]) -> float:
    """The tolerance: four times what TensorFlow's own kernels differ by, 1e-4 at least."""
    theirs = [float(v[-1]) for case in row.get("fp32_dev") or [] for v in case.values()]
    return max(_TRAINING.get(row["name"], TOLERANCE), *(4 * one for one in theirs), 0.0)


def differences(folder: Path, row: dict[str, Any], config: ds.SessionConfig) -> Iterator[float]:
    """Of each recorded inference, and of each step of a recorded training run."""
    model = ds.load(folder / row["name"] / row["file"], config=config)
    for ref in row["refs"]:
        data = np.load(folder / row["name"] / ref["file"], allow_pickle=True)
        if ref["kind"] != "train":
            feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
            found = model.run(list(ref["outputs"]), feeds)
            for value, key in zip(found, ref["outputs"].values(), strict=True):
                yield distance(value, data[key])
        elif "steps" in ref:
            for k, want in enumerate(data["loss"]):
                feeds = {ref["x"]: data["x"][k], ref["y"]: data["y"][k]}
                loss, _ = model.run([ref["loss"], ref["train_op"]], feeds)
                yield float(abs(loss - want) / abs(want))
        else:
            feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
            for _ in range(3):
                model.run(ref["train_op"], feeds)
            yield 0.0 if np.isfinite(model.run(ref["loss"], feeds)).all() else np.inf


def fused(folder: Path, row: dict[str, Any]) -> int:
    """How many ops of Intel's a model has once it is optimized as sessions do it by default."""
    refs = [ref for ref in row["refs"] if ref["kind"] != "train"]
    if not refs:
        return 0
    graph = ds.load(folder / row["name"] / row["file"]).graph
    assert isinstance(graph, Graph)
    fetches, feeds = list(refs[0]["outputs"]), list(refs[0]["inputs"])
    after, _ = optimize_with_report(graph, fetches, feeds)
    return sum(node.op.startswith(("_ITEX", "_OneDnn")) for node in after)


def outcome(folder: Path, row: dict[str, Any], optimizer: str, threads: int) -> dict[str, Any]:
    """The row of one model."""
    begin, most = time.monotonic(), allowed(row)
    plain = OPTIMIZER[optimizer]
    config = ds.SessionConfig(optimizer=plain, intra_op_threads=threads, inter_op_threads=threads)
    try:
        worst = max(differences(folder, row, config), default=np.inf)
        count = fused(folder, row) if optimizer == "on" and threads == 1 else 0
    except Exception as error:
        why = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
        return {"model": row["name"], "outcome": "failed", "why": why}
    found = "ok" if worst <= most else "known" if _known(row["name"], optimizer) else "wrong"
    why = "" if found == "ok" else f"differs by {worst:.3g}, allowed are {most:.3g}"
    facts = {"worst": worst, "allowed": most, "fused": count, "why": why}
    return {"model": row["name"], "outcome": found, "seconds": time.monotonic() - begin, **facts}


def _known(name: str, optimizer: str) -> bool:
    """Whether it is the plugin's own optimizer that makes this model wrong, in TensorFlow, too."""
    return name in WRONG and optimizer == "on"


def main(arguments: list[str]) -> None:
    """Load and run."""
    optimizer, order, threads, library, place, *names = arguments
    folder = Path(place)
    load_plugins(order, library)
    rows = {row["name"]: row for row in models_of(folder, names)}
    for name in names:
        print("begin", name, sep="\t", flush=True)
        row = outcome(folder, rows[name], optimizer, int(threads))
        print("end", json.dumps(row), sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
