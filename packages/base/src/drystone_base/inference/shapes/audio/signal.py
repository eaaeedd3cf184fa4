"""Shapes of Fourier transforms."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


def _count(c: ShapeCall) -> int:
    return int(c.op[-2]) if c.op.endswith("D") else 1


@shape("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D")
@shape(*(f"Batch{i}FFT{d}" for i in ("", "I") for d in ("", "2D", "3D")))
def fft(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.with_rank_at_least(c.shape(0), _count(c))]


@shape("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D")
def real_fft(c: ShapeCall) -> list[Shape]:
    """The leading dims, then fft_length, of which ``RFFT`` keeps half of the last and one."""
    given = c.with_rank_at_least(c.shape(0), _count(c))
    lengths = list(c.with_rank(c.value_as_shape(1), _count(c)))
    if c.op.startswith("RFFT"):
        last = lengths[-1]
        lengths[-1] = UNKNOWN if last < 0 else last // 2 + (last > 0)
    return [None if given is None else (*given[: len(given) - len(lengths)], *lengths)]
