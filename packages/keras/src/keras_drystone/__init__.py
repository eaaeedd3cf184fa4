"""drystone as a backend of Keras 3: ``import keras_drystone`` before ``import keras``."""

from __future__ import annotations

from keras_drystone import _hook

__all__ = ["__version__"]

__version__ = "0.1.0"

_hook.install()
