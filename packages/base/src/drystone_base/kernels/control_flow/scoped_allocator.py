"""Several tensors in one buffer, for an op that then runs once on all of them.

Source: TensorFlow ops _ScopedAllocator*. There the tensors are made inside of the buffer; here they
are copied into it, one after the other, without gaps.
"""

from __future__ import annotations

import math

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank

__all__: list[str] = []


@kernel("_ScopedAllocator")
def buffer(call: Call) -> Array:
    """Zeros of the buffer's shape, which must hold as many elements as the parts together."""
    dtype = call.attrs["T"]
    shape = check_size(call, call.attrs["shape"] or (), dtype.np)
    wanted = sum(math.prod(part or ()) for part in call.attrs["shapes"])
    call.require(
        math.prod(shape) >= wanted,
        "the buffer must hold all of its parts",
        found=list(shape),
        needed=f"{wanted} elements",
    )
    return blank(shape, dtype)


@kernel("_ScopedAllocatorConcat")
def joined(call: Call, backing: Array, *parts: Array) -> Array:
    """The parts one after the other, filled up to the buffer's size."""
    found = np.zeros(backing.size, backing.dtype)
    size = sum(part.size for part in parts)
    call.require(
        size <= backing.size,
        "the buffer must hold all of its parts",
        found=f"{size} elements",
        needed=f"{backing.size} at most",
    )
    found[:size] = np.concatenate([part.reshape(-1) for part in parts])
    return found.reshape(call.attrs["shape"] if call.attrs["reshape"] else backing.shape)


@kernel("_ScopedAllocatorSplit")
def apart(call: Call, whole: Array, *parts: Array) -> list[Array]:
    """What lies in the place of each part, in the part's shape."""
    flat, begin, found = whole.reshape(-1), 0, []
    size = sum(part.size for part in parts)
    call.require(
        size <= flat.size,
        "the buffer must hold all of its parts",
        found=f"{size} elements",
        needed=f"{flat.size} at most",
    )
    for part in parts:
        found.append(flat[begin : begin + part.size].reshape(part.shape))
        begin += part.size
    return found
