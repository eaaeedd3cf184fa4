"""``keras.ops.nn``: what layers compute, by what they do."""

from __future__ import annotations

from keras_drystone.src.ops.activations import *  # noqa: F403
from keras_drystone.src.ops.convolving import *  # noqa: F403
from keras_drystone.src.ops.losses import *  # noqa: F403
from keras_drystone.src.ops.sequences import ctc_decode, ctc_loss

__all__ = ["ctc_decode", "ctc_loss"]
