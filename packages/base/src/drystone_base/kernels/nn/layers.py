"""Layers that the optimizer made one node of.

Source: our own ops; what they compute is what TensorFlow's ops compute that they stand for.
"""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.ops.own import ATTENTION, LAYER_NORM

__all__: list[str] = []


@kernel(LAYER_NORM)
@quiet
def layer_norm(call: Call, x: Array, *args: Array) -> Array:
    """``(x - mean) / sqrt(variance + epsilon) * scale + offset`` over the last dimension.

    ``x``: float, ``[..., C]``; ``args``: scale and offset of C elements, where the attributes
    ``has_scale`` and ``has_offset`` say so. As ``tf.nn.moments`` and ``tf.nn.batch_normalization``.
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


@kernel(ATTENTION)
@quiet
def attention(call: Call, query: Array, key: Array, value: Array, *args: Array) -> Array:
    """``softmax(scale * query key^T, masked) value`` of each example (B) and head (N).

    ``layouts`` name the dimensions of queries (B, N, T, H), keys, values (B, N, S, H) and result.
    ``masks``: what each of ``args``, broadcast to (B, N, T, S), does to scores, in turn: ``Add``,
    or ``Select``: where it is false, ``fill`` takes their place.
    """
    layouts, masks = call.attrs["layouts"], call.attrs["masks"]
    call.require(
        query.ndim == key.ndim == value.ndim == 4,
        "queries, keys and values must have 4 dimensions",
        found=f"{query.ndim}, {key.ndim} and {value.ndim}",
        needed="4",
    )
    call.require(
        len(args) == len(masks), "each mask is an input", found=len(args), needed=len(masks)
    )
    q = widen(query).transpose([layouts[0].index(name) for name in "BNTH"])
    k = widen(key).transpose([layouts[1].index(name) for name in "BNHS"])
    v = widen(value).transpose([layouts[2].index(name) for name in "BNSH"])
    call.require(
        q.shape[3] == k.shape[2] and k.shape[3] == v.shape[2],
        "queries must fit keys, and keys values",
        found=f"{list(query.shape)}, {list(key.shape)} and {list(value.shape)}",
        needed="heads of one size, and as many values as keys",
    )
    kind = q.dtype.type
    scores = np.matmul(q, k) * kind(call.attrs["scale"])
    for mask, arg in zip(masks, args, strict=True):
        if mask == "Add":
            scores = scores + widen(arg)
        else:
            scores = np.where(arg, scores, kind(call.attrs["fill"]))
    powers = np.exp(scores - scores.max(-1, keepdims=True)) if scores.size else scores
    out: Array = np.matmul(powers / powers.sum(-1, keepdims=True), v)
    out = out.transpose(["BNTH".index(name) for name in layouts[3]])
    return out.astype(query.dtype)
