"""Gradients of gathered rows as plain tensors."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff import IndexedSlices
from keras_drystone.src.dispatch import emit
from keras_drystone.src.tensor import wrapped

__all__ = ["dense"]


def dense(grad: Any) -> Any:
    """A gradient as a tensor: slices are added into zeros."""
    if not isinstance(grad, IndexedSlices):
        return wrapped(grad)
    values, indices, shape = (wrapped(part) for part in grad)
    return emit("UnsortedSegmentSum", values, indices, shape[0])
