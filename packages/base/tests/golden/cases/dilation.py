"""Golden cases of grayscale dilation."""

import itertools
from collections.abc import Iterator

from drawing import drawer
from oracle import Case, case

_draw = drawer(117, 0, 9)


def _all() -> Iterator[Case]:
    x = _draw((2, 6, 5, 3))
    for size, step, rate, padding in itertools.product(
        [(2, 2), (3, 1)], [1, 2], [1, 2], ["SAME", "VALID"]
    ):
        attrs = {"strides": [1, step, step, 1], "rates": [1, rate, rate, 1], "padding": padding}
        filters = _draw((*size, 3))
        yield case("Dilation2D", x, filters, tol=0, **attrs)
        reach = [(n - 1) * rate if padding == "VALID" else 0 for n in size]
        dy = _draw((2, *(-(-(n - r) // step) for n, r in zip((6, 5), reach, strict=True)), 3))
        yield case("Dilation2DBackpropInput", x, filters, dy, **attrs)
        yield case("Dilation2DBackpropFilter", x, filters, dy, **attrs)
    ones = {"strides": [1] * 4, "rates": [1] * 4, "padding": "SAME"}
    for kind in ("f8", "f2", "i4", "u1", "i1", "i2", "u2", "i8"):
        yield case("Dilation2D", _draw((1, 4, 4, 2), kind), _draw((2, 2, 2), kind), tol=0, **ones)
    yield case("Dilation2D", x, _draw((2, 2, 2)), note="refused", **ones)
    yield case("Dilation2D", x[0], _draw((2, 2, 3)), note="refused", **ones)


CASES: list[Case] = list(_all())
