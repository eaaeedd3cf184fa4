"""Golden cases of Fourier transforms."""

from collections.abc import Iterator

import numpy as np
from drawing import drawer, ints
from oracle import Case, case

_draw = drawer(116)
_SHAPES = {1: [(8,), (2, 5), (2, 3, 1)], 2: [(4, 6), (2, 3, 5)], 3: [(2, 4, 3), (2, 3, 2, 4)]}


def _all() -> Iterator[Case]:
    for count, shapes in _SHAPES.items():
        suffix = "" if count == 1 else f"{count}D"
        for shape in shapes:
            for kind, real in (("c8", "f4"), ("c16", "f8")):
                tol = 1e-4 if kind == "c8" else 1e-9
                yield case(f"FFT{suffix}", _draw(shape, kind), tol=tol)
                yield case(f"IFFT{suffix}", _draw(shape, kind), tol=tol)
                name = {"c8": "complex64", "c16": "complex128"}[kind]
                back = {"Treal": {"f4": "float32", "f8": "float64"}[real], "tol": tol}
                for less in (0, 1):
                    lengths = ints(*(max(n - less, 1) for n in shape[-count:]))
                    x = _draw(shape, real)
                    yield case(f"RFFT{suffix}", x, lengths, Tcomplex=name, tol=tol)
                    spectrum = np.fft.rfftn(x, axes=range(-count, 0)).astype(kind)
                    yield case(f"IRFFT{suffix}", spectrum, lengths, **back)
    yield case("FFT", _draw((0, 4), "c8"))
    yield case("FFT", _draw((2, 0), "c8"))
    yield case("RFFT", _draw((2, 4)), ints(8), note="refused")
    yield case("IRFFT", _draw((2, 4), "c8"), ints(8), note="refused")
    yield case("RFFT", _draw((2, 4)), ints(2, 4), note="refused")
    yield case("FFT2D", _draw((4,), "c8"), note="refused")


CASES: list[Case] = list(_all())
