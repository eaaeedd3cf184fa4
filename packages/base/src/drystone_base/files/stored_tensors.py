"""Tensors of the host library whose elements stay in a file."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_base.files.mapped import Place
from drystone_base.host.extension import extension

__all__ = ["stored_tensor"]


def stored_tensor(place: Place, dtype: int, dims: Sequence[int]) -> object:
    """The tensor whose elements, of the dtype of that number, lie at a place, as a plan takes it.

    Raises ``ValueError`` for factors of anything but float32, and for dims that no tensor has.
    """
    file, offset, factors, inner = place
    return extension().stored_tensor(file, file.descriptor, offset, dtype, dims, factors, inner)
