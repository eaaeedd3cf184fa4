"""``keras.ops.numpy``: NumPy's functions, by what they do."""

from __future__ import annotations

from keras_drystone.src.ops.creating import *  # noqa: F403
from keras_drystone.src.ops.curves import *  # noqa: F403
from keras_drystone.src.ops.elementwise import *  # noqa: F403
from keras_drystone.src.ops.indexing import nonzero, select, take, take_along_axis, unravel_index
from keras_drystone.src.ops.integers import *  # noqa: F403
from keras_drystone.src.ops.integers import _and, _or, _xor  # noqa: F401 — operators
from keras_drystone.src.ops.linalg import slogdet
from keras_drystone.src.ops.products import *  # noqa: F403
from keras_drystone.src.ops.reducing import *  # noqa: F403
from keras_drystone.src.ops.shaping import *  # noqa: F403
from keras_drystone.src.ops.sorting import *  # noqa: F403

__all__ = ["nonzero", "select", "slogdet", "take", "take_along_axis", "unravel_index"]
