"""A step of training by Keras, on the backend of this process."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.keras_models import build, first_weights
from bench.worker._form import Array, Prepared

__all__ = ["prepare"]


def prepare(case: Mapping[str, Any], backend: str) -> Prepared:
    """The model with the weights of the case; a call trains on one batch and gives its loss."""
    os.environ["KERAS_BACKEND"] = backend
    if backend == "drystone":
        importlib.import_module("keras_drystone")  # before keras
    import keras

    model = build(keras, case["forms"]["keras"])
    with np.load(case["arrays"], allow_pickle=False) as data:
        weights = first_weights(data)

    def reset() -> None:
        model.set_weights(weights)

    def run(*arrays: Array) -> list[Array]:
        model.reset_metrics()
        return [np.asarray(model.train_on_batch(*arrays))]

    reset()
    return run, reset
