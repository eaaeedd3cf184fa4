"""Fourier transforms; complex numbers are pairs of real and imaginary parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops import shaping
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.operands import kind_of

__all__ = ["complex_of_parts", "fft", "fft2", "ifft2", "irfft", "istft", "rfft", "stft"]


def complex_of_parts(x: Any) -> Any:
    """A pair of parts as complex numbers."""
    if not isinstance(x, tuple | list) or len(x) != 2:
        raise ValueError(
            f"Input `x` should be a tuple of two tensors - real and imaginary.Received: x={x}"
        )
    real, imag = map(convert_to_tensor, x)
    if real.shape != imag.shape:
        raise ValueError(
            "Input `x` should be a tuple of two tensors - real and imaginary."
            "Both the real and imaginary parts should have the same shape. "
            f"Received: x[0].shape = {real.shape}, x[1].shape = {imag.shape}"
        )
    if "float" not in kind_of(real) or "float" not in kind_of(imag):
        raise ValueError(f"At least one tensor in input `x` is not of type float.Received: x={x}.")
    return _joined(real, imag)


def _joined(real: Any, imag: Any) -> Any:
    double = kind_of(real) == "float64"
    inner = "float64" if double else "float32"
    kind = as_dtype("complex128" if double else "complex64")
    return emit("Complex", cast(real, inner), cast(imag, inner), Tout=kind)


def _parts(x: Any) -> tuple[Any, Any]:
    return e.real(x), e.imag(x)


def fft(x: Any) -> tuple[Any, Any]:
    """The transform of the last axis."""
    return _parts(emit("FFT", complex_of_parts(x)))


def fft2(x: Any) -> tuple[Any, Any]:
    """The transform of the last two axes."""
    return _parts(emit("FFT2D", complex_of_parts(x)))


def ifft2(x: Any) -> tuple[Any, Any]:
    """The inverse transform of the last two axes."""
    return _parts(emit("IFFT2D", complex_of_parts(x)))


def rfft(x: Any, fft_length: int | None = None) -> tuple[Any, Any]:
    """The transform of real numbers: the half that says all."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    x = cast(x, "float64" if kind == "float64" else "float32")
    length = shape(x)[-1] if fft_length is None else fft_length
    x = _at_least(x, length)
    wanted = as_dtype("complex128" if kind == "float64" else "complex64")
    found = emit("RFFT", x, cast(convert_to_tensor([length]), "int32"), Tcomplex=wanted)
    real, imag = _parts(found)
    return cast(real, kind), cast(imag, kind)


def _at_least(x: Any, length: Any) -> Any:
    """The last axis filled up with zeros; the op cuts what is longer, and takes nothing shorter."""
    size = x.shape[-1]
    if not isinstance(length, int) or size is None or size >= length:
        return x
    return shaping.pad(x, [[0, 0]] * (x.ndim - 1) + [[0, length - size]])


def irfft(x: Any, fft_length: int | None = None) -> Any:
    """The inverse of ``rfft``."""
    given = complex_of_parts(x)
    kind = kind_of(convert_to_tensor(x[0]))
    length = 2 * (shape(given)[-1] - 1) if fft_length is None else fft_length
    given = _at_least(given, length // 2 + 1)
    wanted = as_dtype("float64" if kind == "float64" else "float32")
    found = emit("IRFFT", given, cast(convert_to_tensor([length]), "int32"), Treal=wanted)
    return cast(found, kind)


def _window(window: Any, length: int, full: int, kind: str) -> Any:
    """A window of a length in the middle of a longer one."""
    before = (full - length) // 2
    after = full - length - before
    if window is None:
        return np.ones(full).astype(kind)
    if isinstance(window, str):
        if window not in ("hann", "hamming"):
            raise ValueError(
                "If a string is passed to `window`, it must be one of "
                f'`"hann"`, `"hamming"`. Received: window={window}'
            )
        first, second = (0.5, 0.5) if window == "hann" else (0.54, 0.46)
        window = first - second * np.cos(2 * np.pi * np.arange(length) / length)
    found = convert_to_tensor(window, kind)
    if found.ndim != 1 or found.shape[-1] != length:
        raise ValueError(
            "The shape of `window` must be equal to [sequence_length]."
            f"Received: window shape={found.shape}"
        )
    return shaping.pad(found, [[before, after]])


def stft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: Any = "hann",
    center: bool = True,
) -> tuple[Any, Any]:
    """Transforms of parts that overlap."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    if kind not in ("float32", "float64"):
        raise TypeError(
            f"Invalid input type. Expected `float32` or `float64`. Received: input type={kind}"
        )
    if fft_length < sequence_length:
        raise ValueError(
            "`fft_length` must equal or larger than `sequence_length`. Received: "
            f"sequence_length={sequence_length}, fft_length={fft_length}"
        )
    if center:
        widths = [[0, 0]] * (x.ndim - 1) + [[fft_length // 2] * 2]
        x = shaping.pad(x, widths, mode="reflect")
    weights = _window(window, sequence_length, fft_length, kind)
    from keras_drystone.src.ops.math import extract_sequences

    parts = extract_sequences(x, fft_length, sequence_stride)
    return rfft(e.multiply(parts, cast(weights, kind)), fft_length)


def _shares(weights: Any, stride: int) -> Any:
    """Weights by the squares of all that meet in a sample; 0 where none does."""
    squares = weights.astype(np.float64) ** 2
    full = np.pad(squares, (0, -len(squares) % stride)).reshape(-1, stride)
    met = np.tile(full.sum(0), len(full))[: len(squares)]
    return np.divide(weights, met, out=np.zeros(len(met)), where=met > 0)


def istft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: Any = "hann",
    center: bool = True,
) -> Any:
    """What ``stft`` was made of: parts are weighted again, by their shares, and added.

    Each share is of the weights that meet in a sample when parts go on forever, as librosa has it;
    without a window parts are added as they are.
    """
    kind = kind_of(convert_to_tensor(x[0]))
    weights = np.asarray(_window(window, sequence_length, fft_length, kind))
    shares = weights if window is None else _shares(weights, sequence_stride)
    parts = e.multiply(irfft(x, fft_length), shares.astype(kind))
    count = parts.shape[-2]
    total = fft_length + sequence_stride * (count - 1)
    places = (np.arange(count)[:, None] * sequence_stride + np.arange(fft_length)).reshape(-1)
    rows = shaping.reshape(parts, (*shape(parts)[:-2], count * fft_length))
    rows = shaping.moveaxis(rows, -1, 0)
    added = emit("UnsortedSegmentSum", rows, places.astype(np.int32), np.int32(total))
    found = shaping.moveaxis(added, 0, -1)
    start = fft_length // 2 if center else 0
    end = start + length if length is not None else total - start if center else total
    return shaping.along(found, found.ndim - 1, start, end)
