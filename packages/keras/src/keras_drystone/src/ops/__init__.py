"""The functions of ``keras.ops``, each for arrays and for symbolic tensors."""

from __future__ import annotations

from keras_drystone.src.ops import core, image, linalg, math, nn, numpy
from keras_drystone.src.ops.core import *  # noqa: F403 — Keras takes them from here, too

__all__ = ["core", "image", "linalg", "math", "nn", "numpy"]
__all__ += core.__all__
