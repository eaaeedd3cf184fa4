"""Grayscale dilation."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels._windows import window_of
from drystone_base.kernels.pooling import lowest

__all__: list[str] = []


@kernel("Dilation2D")
@quiet
def dilation(call: Call, x: Array, filters: Array) -> Array:
    """The maximum of input plus filter (``[rows, columns, C]``) over windows; TF ``Dilation2D``."""
    call.require(
        x.ndim == 4 and filters.ndim == 3 and x.shape[3] == filters.shape[2],
        "input must be [N, H, W, C] and the filter [rows, columns, C]",
        found=f"{list(x.shape)} and {list(filters.shape)}",
        needed="equal channels",
    )
    window = window_of(call, x.shape[1:3], filters.shape[:2], data_format="NHWC")
    shape = check_size(call, (x.shape[0], *window.out, x.shape[3]), x.dtype)
    inside = window.pad(np.ones((1, *x.shape[1:3], 1), np.bool_), False)
    out = np.full(shape, lowest(x.dtype), x.dtype)
    for index, tap in window.each_tap(window.pad(x)):
        raised = np.maximum(out, tap + filters[index])
        out = np.where(window.tap(inside, index), raised, out)
    return out
