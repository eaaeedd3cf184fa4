"""Discrete Fourier transforms over the last one to three dimensions."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet

__all__: list[str] = []

_BATCH: Final = tuple(f"Batch{i}FFT{d}" for i in ("", "I") for d in ("", "2D", "3D"))


def _axes(call: Call, x: Array) -> tuple[int, ...]:
    count = int(call.op[-2]) if call.op.endswith("D") else 1
    call.require(
        x.ndim >= count,
        "input must have the dimensions to transform",
        found=list(x.shape),
        needed=f"rank {count} or more",
    )
    return tuple(range(-count, 0))


@kernel("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D", *_BATCH)
@quiet
def fft(call: Call, x: Array) -> Array:
    """Complex to complex, of one shape; the inverse is divided by the count; TF ``FFT``, ..."""
    axes = _axes(call, x)
    if not x.size:
        return x
    transform = np.fft.ifftn if "IFFT" in call.op else np.fft.fftn
    return np.asarray(transform(x, axes=axes)).astype(x.dtype, copy=False)


def _lengths(call: Call, x: Array, given: Array, axes: tuple[int, ...], halved: bool) -> list[int]:
    """The transform's length along each axis, checked against the input."""
    call.require(
        given.shape == (len(axes),) and (given.size == 0 or given.min() >= 0),
        "fft_length must hold a length per transformed dimension",
        found=given.tolist(),
        needed=f"{len(axes)} values of 0 or more",
    )
    lengths = [int(n) for n in given]
    least = [*lengths[:-1], lengths[-1] // 2 + 1 if halved and lengths[-1] else lengths[-1]]
    call.require(
        all(x.shape[a] == 0 or x.shape[a] >= n for a, n in zip(axes, least, strict=True)),
        "input must reach the transform's length",
        found=[x.shape[a] for a in axes],
        needed=f"at least {least}",
    )
    return lengths


@kernel("RFFT", "RFFT2D", "RFFT3D")
@quiet
def rfft(call: Call, x: Array, length: Array) -> Array:
    """Real to complex, the last dimension ``length // 2 + 1``; longer input is cut; TF ``RFFT``."""
    axes = _axes(call, x)
    lengths = _lengths(call, x, length, axes, halved=False)
    dtype = call.attrs["Tcomplex"].np
    last = lengths[-1] // 2 + 1 if lengths[-1] else 0
    shape = check_size(call, (*x.shape[: x.ndim - len(axes)], *lengths[:-1], last), dtype)
    if 0 in shape or not x.size:
        return np.zeros(shape, dtype)
    return np.asarray(np.fft.rfftn(x, s=lengths, axes=axes)).astype(dtype, copy=False)


@kernel("IRFFT", "IRFFT2D", "IRFFT3D")
@quiet
def irfft(call: Call, x: Array, length: Array) -> Array:
    """Complex to real of ``length``, the inverse of :func:`rfft`; TF ``IRFFT``."""
    axes = _axes(call, x)
    lengths = _lengths(call, x, length, axes, halved=True)
    dtype = call.attrs["Treal"].np
    shape = check_size(call, (*x.shape[: x.ndim - len(axes)], *lengths), dtype)
    if 0 in shape or not x.size:
        return np.zeros(shape, dtype)
    return np.asarray(np.fft.irfftn(x, s=lengths, axes=axes)).astype(dtype, copy=False)
