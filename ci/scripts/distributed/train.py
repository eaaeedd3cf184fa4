"""Train a layer on this process's share of each batch; TF_CONFIG says which share that is."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_base.tracing import operations as ops
from drystone_network import data_parallel, join

STEPS, BATCH, RATE = 40, 32, 0.1

Array = np.ndarray[Any, Any]


def loss_of(weights: Any, x: Any, y: Any) -> Any:
    """The mean squared error of a layer."""
    off = ops.tanh(x @ weights["w"]) + weights["b"] - y
    return ops.mean(off * off, [0, 1])


def main(file: str) -> None:
    """Train, and write weights and losses."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(STEPS, BATCH, 8)).astype(np.float32)
    y = np.tanh(x @ rng.normal(size=(8, 3)).astype(np.float32)) + np.float32(0.5)
    weights: dict[str, Array] = {"w": np.zeros((8, 3), np.float32), "b": np.zeros(3, np.float32)}
    step, rank, size = ds.value_and_grad(loss_of), 0, 1
    if os.environ.get("TF_CONFIG"):
        group = join()
        step, rank, size = data_parallel(step), group.rank, group.size
    losses = []
    for k in range(STEPS):
        share = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
        loss, grads = step(weights, x[k, share], y[k, share])
        weights = {n: weights[n] - np.float32(RATE) * np.asarray(grads[n]) for n in weights}
        losses.append(float(loss))
    np.savez(file, losses=np.array(losses), w=weights["w"], b=weights["b"])


if __name__ == "__main__":
    main(sys.argv[1])
