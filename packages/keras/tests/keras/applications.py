"""Networks of keras.applications with weights that a seed says, the same on every backend.

``KERAS_BACKEND=tensorflow python applications.py`` prints what applications.json holds.
"""

from __future__ import annotations

import json
from typing import Any

import keras
import numpy as np

__all__ = ["NETWORKS", "outputs"]

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


def outputs(name: str) -> list[float]:
    """The chances of ten classes for one image."""
    size, options = NETWORKS[name]
    make = getattr(keras.applications, name)
    model = make(weights=None, input_shape=(size, size, 3), classes=10, **options)
    image = np.random.default_rng(3).uniform(0, 255, (1, size, size, 3)).astype("float32")
    scaled = image if "Efficient" in name or "V3" in name or "ConvNeXt" in name else image / 255
    found = seeded(model).predict(scaled, verbose=0)[0]
    return [float(f"{value:.7g}") for value in found]


if __name__ == "__main__":
    print(json.dumps({name: outputs(name) for name in NETWORKS}, indent=1))
