"""Conversion between dtypes, and checks for numbers that are not finite.

Source: TensorFlow ops Cast, Bitcast, CheckNumerics, CheckNumericsV2. Floats that do not fit an
integer type give what x86-64's scalar instructions give. TensorFlow's CPU kernels do the same for
short tensors; inside longer ones its vector instructions saturate some narrow types instead.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import BOOL, DType
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen

_TWO_63: Final = 2.0**63
_MANTISSA: Final = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}
_NARROW: Final = ("int8", "uint8", "int16", "uint16")


def _signed(x: Array, bits: int) -> Array:
    """Floats truncated to ``bits``-bit integers; the smallest one for all that do not fit."""
    wide = x.astype(np.float64)
    limit = 2.0 ** (bits - 1)
    fits = (wide > -limit - (1 if bits == 32 else 0)) & (wide < limit)
    return np.where(fits, wide, -limit).astype(f"int{bits}")


def _to_integer(x: Array, target: np.dtype[Any]) -> Array:
    """Floats to integers: narrow targets go through 32 bits and uint32 through 64."""
    if target.name in _NARROW or target == np.int32:
        return _signed(x, 32).astype(target)
    if target in (np.dtype(np.int64), np.dtype(np.uint32)):
        return _signed(x, 64).astype(target)
    if target == np.uint64:
        low = _signed(x, 64)
        high = _signed(x.astype(np.float64) - _TWO_63, 64)
        return np.where(low < 0, low | high, low).astype(np.uint64)
    return x.astype(target)


def _chop(x: Array, target: DType) -> Array:
    """``x`` with the mantissa bits cleared that ``target`` has no room for."""
    drop = _MANTISSA[x.dtype.name] - _MANTISSA[target.label]
    if drop <= 0:
        return x
    mask = np.array(-1 << drop, np.int64).astype(f"int{8 * x.itemsize}")
    return np.where(np.isnan(x), x, (x.view(mask.dtype) & mask).view(x.dtype))


@kernel("Cast")
@quiet
def cast(call: Call, x: Array) -> Array:
    """``x`` as ``DstT``.

    Integers wrap around, complex numbers lose their imaginary part, anything but zero is true.
    ``Truncate`` chops floats instead of rounding them. UNIMPLEMENTED from or to strings.
    """
    source, target = call.attrs["SrcT"], call.attrs["DstT"].base
    if source.base is target:
        return x
    if source.is_object or target.is_object:
        call.fail(
            "only numbers can be cast",
            found=f"{source} to {target}",
            needed="numeric types; AsString and StringToNumber convert strings",
            status="UNIMPLEMENTED",
        )
    if source.is_complex and not target.is_complex:
        x = x.real
    if target is BOOL:
        return np.asarray(widen(x) != 0)
    if x.dtype.kind != "f" and not source.is_floating:
        if x.dtype.kind == "V":  # NumPy knows no way from one narrow integer to another
            x = x.astype(np.int8)
        return x.astype(target.np)
    if target.np.kind in "iu":
        return _to_integer(x, target.np)
    if call.attrs["Truncate"] and target.label in _MANTISSA and x.dtype.name in _MANTISSA:
        x = _chop(x, target)
    return x.astype(target.np)


@kernel("Bitcast")
def bitcast(call: Call, x: Array) -> Array:
    """The same bytes read as ``type``; a size ratio moves to or from a last dimension."""
    target = call.attrs["type"].np
    data: Array = np.ascontiguousarray(x).reshape(x.shape)
    if data.itemsize == target.itemsize:
        return np.asarray(data.view(target))
    if data.itemsize > target.itemsize:
        ratio = data.itemsize // target.itemsize
        return np.asarray(data.reshape(-1, 1).view(target)).reshape(*x.shape, ratio)
    ratio = target.itemsize // data.itemsize
    call.require(
        x.ndim > 0 and x.shape[-1] == ratio,
        "the last dimension must hold the bytes of one element",
        found=list(x.shape),
        needed=f"a last dimension of {ratio} for {x.dtype} to {target}",
    )
    return np.asarray(data.reshape(-1, ratio).view(target)).reshape(x.shape[:-1])


@kernel("CheckNumerics", "CheckNumericsV2")
@quiet
def check_numerics(call: Call, x: Array) -> Array:
    """``x`` unchanged; INVALID_ARGUMENT, with the ``message`` attribute, for NaN or infinity."""
    wide = widen(x)
    found = [
        name
        for name, test in (("NaN", np.isnan), ("Inf", np.isinf))
        if np.asarray(test(wide)).any()
    ]
    if found:
        call.fail(
            f"{call.attrs['message']}: the tensor must hold finite numbers",
            found=" and ".join(found),
            needed="no NaN and no infinity",
        )
    return x
