"""Keras models to train, the same on each backend: ``python -m bench.keras_models FOLDER NAME``.

The program writes the batches, first weights and losses of each model, as drystone's backend has
them: what the other backends are held against.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

__all__ = ["CLASSES", "MODELS", "STEPS", "batches", "build", "first_weights", "main"]

CLASSES: Final = 10
STEPS: Final = 4
WORDS: Final = 2000


def _mlp(keras: Any, x: Any) -> Any:
    for _ in range(2):
        x = keras.layers.Dense(512, activation="relu")(x)
    return x


def _cnn(keras: Any, x: Any) -> Any:
    layers = keras.layers
    for filters in (32, 64):
        x = layers.MaxPooling2D()(layers.Conv2D(filters, 3, activation="relu")(x))
    return layers.Dense(128, activation="relu")(layers.Flatten()(x))


def _resnet20(keras: Any, x: Any) -> Any:
    layers = keras.layers

    def convolved(x: Any, filters: int, size: int = 3, stride: int = 1) -> Any:
        made = layers.Conv2D(filters, size, stride, padding="same", use_bias=False)(x)
        return layers.BatchNormalization()(made)

    x = layers.ReLU()(convolved(x, 16))
    for filters, first in ((16, 1), (32, 2), (64, 2)):
        for stride in (first, 1, 1):
            inner = layers.ReLU()(convolved(x, filters, 3, stride))
            inner = convolved(inner, filters)
            beside = convolved(x, filters, 1, stride) if stride > 1 else x
            x = layers.ReLU()(layers.Add()([inner, beside]))
    return layers.GlobalAveragePooling2D()(x)


def _lstm(keras: Any, x: Any) -> Any:
    return keras.layers.LSTM(128)(keras.layers.Embedding(WORDS, 64)(x))


def _transformer(keras: Any, x: Any) -> Any:
    layers = keras.layers
    x = layers.Embedding(WORDS, 128)(x)
    for _ in range(2):
        attended = layers.MultiHeadAttention(4, 32)(x, x)
        x = layers.LayerNormalization(epsilon=1e-5)(layers.Add()([x, attended]))
        inner = layers.Dense(128)(layers.Dense(512, activation="gelu")(x))
        x = layers.LayerNormalization(epsilon=1e-5)(layers.Add()([x, inner]))
    return layers.GlobalAveragePooling1D()(x)


MODELS: Final[Mapping[str, tuple[Callable[[Any, Any], Any], tuple[int, ...], bool]]] = {
    "mlp": (_mlp, (64, 784), False),
    "cnn": (_cnn, (64, 28, 28, 1), False),
    "resnet20": (_resnet20, (32, 32, 32, 3), False),
    "lstm": (_lstm, (32, 64), True),
    "transformer": (_transformer, (16, 64), True),
}
"""What makes the body of each, the shape of a batch, and whether that is of words."""


def build(keras: Any, name: str) -> Any:
    """The model, compiled to be trained by momentum."""
    body, shape, words = MODELS[name]
    x = keras.Input(shape[1:], dtype="int32" if words else "float32")
    model = keras.Model(x, keras.layers.Dense(CLASSES)(body(keras, x)))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.01, momentum=0.9), loss)
    return model


def batches(name: str) -> tuple[Any, Any]:
    """Inputs and labels, with a leading dimension of steps."""
    _, shape, words = MODELS[name]
    rng = np.random.default_rng(0)
    whole = (STEPS, *shape)
    x = rng.integers(0, WORDS, whole, np.int32) if words else rng.random(whole, np.float32)
    return x, rng.integers(0, CLASSES, whole[:2], np.int32)


def first_weights(data: Mapping[str, Any]) -> list[Any]:
    """The weights of a file, in Keras's order."""
    count = sum(key.startswith("weight") for key in data)
    return [data[f"weight{k}"] for k in range(count)]


def main(folder: Path, names: list[str]) -> int:
    """Write a file for each."""
    importlib.import_module("keras_drystone")  # before keras
    import keras

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        keras.utils.set_random_seed(1)
        model = build(keras, name)
        weights = {f"weight{k}": value for k, value in enumerate(model.get_weights())}
        x, y = batches(name)
        losses = []
        for k in range(STEPS):
            model.reset_metrics()
            losses.append(float(model.train_on_batch(x[k], y[k])))
        np.savez(folder / f"{name}.npz", x=x, y=y, loss=np.array(losses, np.float32), **weights)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
