"""Layers that the optimizer made one node of.

Source: our own ops; what they compute is what TensorFlow's ops compute that they stand for.
"""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.ops.own import LAYER_NORM

__all__: list[str] = []


@kernel(LAYER_NORM)
@quiet
def layer_norm(call: Call, x: Array, *args: Array) -> Array:
    """Each row of ``x`` (``[..., C]``), float, normalized; ``args``: scale, offset of C elements.

    As ``tf.nn.moments`` and ``tf.nn.batch_normalization`` do over the last dimension.
    """
    call.require(
        x.ndim >= 1, "x must be a vector or more", found="a scalar", needed="rank 1 or more"
    )
    factors = [call.attrs["has_scale"], call.attrs["has_offset"]]
    call.require(
        len(args) == sum(factors),
        "args must be a scale, if has_scale, and an offset, if has_offset",
        found=f"{len(args)} inputs",
        needed=sum(factors),
    )
    for arg in args:
        call.require(
            arg.size == x.shape[-1],
            "scale and offset must have one entry per element of a row",
            found=list(arg.shape),
            needed=[x.shape[-1]],
        )
    if not x.size:
        return np.zeros_like(x)
    rest = [widen(arg).reshape(-1) for arg in args]
    wide = widen(x)
    centered = wide - wide.mean(-1, keepdims=True, dtype=wide.dtype)
    variance = np.square(centered).mean(-1, keepdims=True, dtype=wide.dtype)
    out = centered / np.sqrt(variance + wide.dtype.type(call.attrs["epsilon"]))
    if factors[0]:
        out = out * rest.pop(0)
    if factors[1]:
        out = out + rest.pop(0)
    return np.asarray(out).astype(x.dtype, copy=False)
