"""What Keras asks a backend for, under the names that it asks by."""

from __future__ import annotations

from typing import Final

from keras.src.backend.common.name_scope import name_scope

from keras_drystone.src import ops, random, rnn
from keras_drystone.src.ops.core import compute_output_spec, device_scope
from keras_drystone.src.variable import Variable

__all__ = [
    "IS_THREAD_SAFE", "SUPPORTS_COMPLEX_DTYPES", "SUPPORTS_GRADIENT", "SUPPORTS_RAGGED_TENSORS",
    "SUPPORTS_SPARSE_TENSORS", "Variable", "compute_output_spec", "device_scope",
    "distribution_lib", "name_scope", "ops", "random", "rnn",
]  # fmt: skip

IS_THREAD_SAFE: Final = True
SUPPORTS_COMPLEX_DTYPES: Final = True
SUPPORTS_GRADIENT: Final = True
SUPPORTS_RAGGED_TENSORS: Final = False
SUPPORTS_SPARSE_TENSORS: Final = False

distribution_lib = None
