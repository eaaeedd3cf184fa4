"""Networks of keras.applications with weights that a seed says, the same on every backend.

``KERAS_BACKEND=tensorflow python applications.py`` prints what applications.json holds.
"""

from __future__ import annotations

import json
from typing import Any

import keras
import numpy as np

__all__ = ["NETWORKS", "image_of", "made", "outputs"]

NETWORKS: dict[str, tuple[int, dict[str, Any]]] = {
    "MobileNet": (32, {"alpha": 0.25}),
    "MobileNetV2": (32, {"alpha": 0.35}),
    "MobileNetV3Small": (32, {"alpha": 0.75}),
    "EfficientNetB0": (32, {}),
    "EfficientNetV2B0": (32, {}),
    "DenseNet121": (32, {}),
    "ResNet50": (32, {}),
    "ResNet50V2": (32, {}),
    "NASNetMobile": (32, {}),
    "ConvNeXtTiny": (32, {}),
}


def seeded(model: Any, seed: int = 7) -> Any:
    """The model with weights of a seed: small enough that no output grows without bound."""
    rng = np.random.default_rng(seed)
    for weight in model.weights:
        shape = tuple(weight.shape)
        size = int(np.prod(shape[:-1])) if len(shape) > 1 else 1
        drawn = rng.normal(size=shape) * (1.4 / np.sqrt(size) if len(shape) > 1 else 0.05)
        path = weight.path
        if path.endswith(("variance", "gamma", "scale")):
            drawn = 1 + np.abs(drawn)
        weight.assign(drawn.astype("float32"))
    return model


def made(name: str) -> Any:
    """The network, with the weights of its seed."""
    size, options = NETWORKS[name]
    make = getattr(keras.applications, name)
    return seeded(make(weights=None, input_shape=(size, size, 3), classes=10, **options))


def image_of(name: str) -> Any:
    """One image, in the range that the network takes."""
    size, _ = NETWORKS[name]
    image = np.random.default_rng(3).uniform(0, 255, (1, size, size, 3)).astype("float32")
    has_own_scale = "Efficient" in name or "V3" in name or "ConvNeXt" in name
    return image if has_own_scale else image / np.float32(255)


def outputs(name: str) -> list[float]:
    """The chances of ten classes for one image."""
    found = made(name).predict(image_of(name), verbose=0)[0]
    return [float(f"{value:.7g}") for value in found]


if __name__ == "__main__":
    print(json.dumps({name: outputs(name) for name in NETWORKS}, indent=1))
