"""Ops that add a border to a tensor: of one value, or of its own reflection."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel

__all__: list[str] = []


def _pairs(call: Call, x: Array, paddings: Array) -> list[tuple[int, int]]:
    call.require(
        paddings.shape == (x.ndim, 2),
        "paddings must hold two numbers for each dimension",
        found=list(paddings.shape),
        needed=[x.ndim, 2],
    )
    pairs = [(int(a), int(b)) for a, b in paddings]
    call.require(
        all(a >= 0 and b >= 0 for a, b in pairs),
        "paddings must not be negative",
        found=pairs,
        needed="0 or more",
    )
    return pairs


@kernel("Pad", "PadV2")
def pad(call: Call, x: Array, paddings: Array, value: Array | None = None) -> Array:
    """``x`` with ``paddings[k]`` elements of ``value`` (or zeros) before and after dimension k."""
    pairs = _pairs(call, x, paddings)
    shape = [a + d + b for d, (a, b) in zip(x.shape, pairs, strict=True)]
    out = np.empty(check_size(call, shape, x.dtype), x.dtype)
    if value is None:
        out[...] = b"" if x.dtype == object else np.zeros((), x.dtype)
    else:
        call.require(
            value.ndim == 0,
            "the padding value must be a scalar",
            found=list(value.shape),
            needed="rank 0",
        )
        out[...] = value
    inner = [slice(a, a + d) for d, (a, _) in zip(x.shape, pairs, strict=True)]
    where: tuple[Any, ...] = (..., *inner)  # "...": a scalar of strings would be put in whole
    out[where] = x
    return out


def _offset(call: Call) -> int:
    """1 when the border leaves out the edge itself (REFLECT), else 0 (SYMMETRIC)."""
    mode = call.attrs["mode"]
    call.require(
        mode in ("REFLECT", "SYMMETRIC"),
        "mode must be known",
        found=mode,
        needed="REFLECT or SYMMETRIC",
    )
    return 1 if mode == "REFLECT" else 0


def _check_mirror(
    call: Call, shape: tuple[int, ...], pairs: list[tuple[int, int]], offset: int
) -> None:
    for k, (d, (a, b)) in enumerate(zip(shape, pairs, strict=True)):
        call.require(
            max(a, b) <= d - offset,
            f"a mirrored border must not exceed dimension {k}",
            found=f"paddings {(a, b)}",
            needed=f"at most {d - offset}",
        )


@kernel("MirrorPad")
def mirror_pad(call: Call, x: Array, paddings: Array) -> Array:
    """``x`` with a border that mirrors it, with (SYMMETRIC) or without (REFLECT) the edge."""
    pairs, offset = _pairs(call, x, paddings), _offset(call)
    _check_mirror(call, x.shape, pairs, offset)
    out = x
    for k, (d, (a, b)) in enumerate(zip(x.shape, pairs, strict=True)):
        if not (a or b):
            continue
        before = np.arange(a - 1 + offset, offset - 1, -1)
        after = np.arange(d - 1 - offset, d - 1 - offset - b, -1)
        out = out.take(np.concatenate([before, np.arange(d), after]), k)
    return out


@kernel("MirrorPadGrad")
def mirror_pad_grad(call: Call, x: Array, paddings: Array) -> Array:
    """``x`` with its border folded back and added: the gradient of ``MirrorPad``."""
    pairs, offset = _pairs(call, x, paddings), _offset(call)
    inner = tuple(d - a - b for d, (a, b) in zip(x.shape, pairs, strict=True))
    call.require(
        min(inner, default=1) > 0,
        "the paddings must leave something of each dimension",
        found=list(inner),
        needed="1 or more",
    )
    _check_mirror(call, inner, pairs, offset)
    out = x
    for k, (a, b) in enumerate(pairs):
        lead = np.moveaxis(out, k, 0)
        middle = lead[a : lead.shape[0] - b].copy()
        size = middle.shape[0]
        if a:
            middle[offset : offset + a] += lead[:a][::-1]
        if b:
            middle[size - offset - b : size - offset] += lead[a + size :][::-1]
        out = np.moveaxis(middle, 0, k)
    return out
