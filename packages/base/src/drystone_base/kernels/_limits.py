"""A guard against absurd sizes, for kernels that make an array whose shape comes from data."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, SupportsIndex

import numpy as np

from drystone_base.kernels._registry import Call

__all__ = ["byte_limit", "check_rank", "check_size"]

_CEILING: Final = 1 << 40
_MAX_ELEMENTS: Final = (1 << 63) - 1
_MAX_RANK: Final = 32 if np.__version__.startswith("1.") else 64


@functools.cache
def byte_limit() -> int:
    """The most bytes one tensor may take, at most 2^40.

    A quarter of the memory of the machine, container or process (its address space): a kernel has
    its inputs beside its output, and what it works with.
    """
    limit = _CEILING
    for ask in (_machine, _container, _process):
        with suppress(AttributeError, ImportError, OSError, ValueError):
            found = ask() // 4
            limit = min(limit, found) if found > 0 else limit
    return limit


def _machine() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _container() -> int:
    from drystone_base.core.machine import container_bytes

    return container_bytes()


def _process() -> int:
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0]  # negative for no limit


def check_size(call: Call, shape: Sequence[SupportsIndex], dtype: np.dtype[Any]) -> tuple[int, ...]:
    """``shape`` as a tuple of ints, after checking that an array of it can exist.

    Raises ``KernelError``: INVALID_ARGUMENT for a negative dimension or 2^63 elements and more,
    RESOURCE_EXHAUSTED for more than :func:`byte_limit` bytes.
    """
    dims = tuple(map(int, shape))
    if any(d < 0 for d in dims):
        call.fail("dimensions must not be negative", found=list(dims), needed="0 or more")
    count = math.prod(dims)
    # The product without empty dimensions, as TensorFlow multiplies from the left; NumPy bounds
    # the bytes that an empty array would have without them.
    held = math.prod(d for d in dims if d) * (1 if count else dtype.itemsize)
    if held > _MAX_ELEMENTS:
        call.fail(
            "a tensor's element count must fit in 63 bits",
            found=list(dims),
            needed="fewer than 2^63 elements",
        )
    if count * dtype.itemsize > byte_limit():
        call.fail(
            "a tensor must fit in this machine's memory, with room for others",
            found=f"{list(dims)} of {dtype}: {count * dtype.itemsize} bytes",
            needed=f"at most {byte_limit()} bytes",
            remedy="check the node's inputs: a size is wrong, or the batch is too large",
            status="RESOURCE_EXHAUSTED",
        )
    check_rank(call, len(dims))
    return dims


def check_rank(call: Call, rank: int) -> None:
    """Refuse a rank that NumPy's arrays cannot have: INVALID_ARGUMENT."""
    call.require(
        rank <= _MAX_RANK,
        "a tensor's rank must fit in a NumPy array",
        found=f"rank {rank}",
        needed=f"at most {_MAX_RANK} dimensions",
    )
