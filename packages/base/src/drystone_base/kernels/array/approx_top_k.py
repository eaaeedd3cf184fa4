"""The largest or smallest entries along a dimension, where approximate ones would do.

Source: TensorFlow op ApproxTopK, whose kernel for the CPU is exact, too.
"""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._indices import wrap_axis
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen


@kernel("ApproxTopK")
@quiet
def approx_top_k(call: Call, x: Array) -> tuple[Array, Array]:
    """The ``k`` largest (or smallest) entries along a dimension, exactly, and their places."""
    axis = wrap_axis(call, int(call.attrs["reduction_dimension"]), x.ndim)
    count = int(call.attrs["k"])
    call.require(
        0 <= count <= x.shape[axis],
        "k must not exceed the dimension",
        found=count,
        needed=f"at most {x.shape[axis]}",
    )
    wide = widen(x)
    order = np.argsort(-wide if call.attrs["is_max_k"] else wide, axis=axis, kind="stable")
    places = np.take(order, np.arange(count), axis=axis)
    return np.take_along_axis(x, places, axis), places.astype(np.int32)
