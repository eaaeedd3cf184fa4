"""drystone: the graph as it is, through a prepared call of the model's session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.worker._form import Prepared, choose
from bench.worker._keras_step import prepare as keras_step

__all__ = ["prepare", "start"]


def start() -> None:
    """Import it; the number of threads is in ``DRYSTONE_NUM_THREADS``."""
    import drystone

    _ = drystone.Session


def prepare(case: Mapping[str, Any], threads: int) -> Prepared:
    """Load and bind feeds and fetches."""
    del threads
    if "keras" in case["forms"]:
        return keras_step(case, "drystone")
    import drystone as ds

    if case["precision"] == "bfloat16":
        ds.config.optimizer.set_experimental_options({"auto_mixed_precision_onednn_bfloat16": True})
    _, file = choose(case, "graphdef", "savedmodel", "metagraph")
    model = ds.load(file)
    fetches = [*case["outputs"], *filter(None, [case["train_op"]])]
    call = model.session.make_callable(fetches, list(case["inputs"]))
    reset = (lambda: model.run(case["init_op"])) if case["init_op"] else None
    return call, reset
