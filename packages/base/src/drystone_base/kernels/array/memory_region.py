"""Constants that lie in a file and are mapped into memory; TensorFlow op ImmutableConst."""

from __future__ import annotations

import math
import os

import numpy as np

from drystone_base.core.dtypes import STRING
from drystone_base.core.tensor import read_only
from drystone_base.files.uris import Ranges, as_path, uri_of
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import attr_bytes

__all__: list[str] = []


@kernel("ImmutableConst")
def immutable_const(call: Call) -> Array:
    """The first bytes of the file ``memory_region_name``, as ``dtype`` and ``shape``, read-only."""
    dtype = call.attrs["dtype"]
    if dtype is STRING or dtype.is_object:
        call.fail(
            "a memory region holds numbers", found=dtype, needed="numbers", status="UNIMPLEMENTED"
        )
    shape = check_size(call, call.attrs["shape"] or (), dtype.np)
    path = as_path(os.fsdecode(attr_bytes(call, "memory_region_name")))
    call.runtime.access.check_read(call, path)
    needed = math.prod(shape) * dtype.np.itemsize
    try:
        size = path.stat().st_size
        call.require(
            size >= needed,
            "the file must hold the whole tensor",
            found=f"{size} bytes",
            needed=f"{needed} bytes",
            status="INTERNAL",
        )
        if not needed:
            return read_only(np.empty(shape, dtype.np))
        there = uri_of(path)
        if there is not None:
            return np.frombuffer(Ranges(there)[:needed], dtype.np).reshape(shape)
        return read_only(np.asarray(np.memmap(path, dtype.np, "r", shape=shape)))
    except (OSError, ValueError) as error:
        call.fail(
            "the file must be readable",
            found=path,
            needed="a file",
            status="NOT_FOUND",
            inner=error,
        )
