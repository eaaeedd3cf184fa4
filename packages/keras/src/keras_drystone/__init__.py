"""drystone as a backend of Keras 3: ``import keras_drystone`` before ``import keras``."""

from __future__ import annotations

try:
    from keras_drystone import _hook
except ImportError as error:
    from keras_drystone._missing import named

    raise named(error) from None

__all__ = ["__version__"]

__version__ = "0.1.0"

_hook.install()
