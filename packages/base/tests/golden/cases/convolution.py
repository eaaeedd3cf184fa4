"""Golden cases of the convolutions and their gradients."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from drawing import BFLOAT16, drawer, ints, tolerance
from oracle import Case, case

_draw = drawer(103, -9, 9)

_ONES = [1, 1, 1, 1]


def _output(
    shape: Sequence[int],
    filters: Sequence[int],
    strides: Sequence[int],
    padding: str | list[int],
    rates: Sequence[int] = (1, 1),
) -> list[int]:
    """Output dims of a 2-D convolution, worked out here to draw gradients."""
    dims = []
    for k in (0, 1):
        reach = (filters[k] - 1) * rates[k] + 1
        added = padding[2 + 2 * k : 4 + 2 * k] if isinstance(padding, list) else [0]
        size = shape[1 + k] + sum(added)
        dims.append(
            -(-size // strides[k]) if padding == "SAME" else (size - reach) // strides[k] + 1
        )
    return dims


def _forward() -> Iterator[Case]:
    sizes = [(2, 5, 6, 3), (1, 4, 4, 2), (1, 7, 3, 1)]
    kernels = [(1, 1), (3, 3), (2, 3), (3, 2)]
    for shape, size, stride, padding in itertools.product(
        sizes, kernels, [(1, 1), (2, 2), (1, 2)], ["SAME", "VALID"]
    ):
        filters = _draw((*size, shape[-1], 4))
        yield case("Conv2D", _draw(shape), filters, strides=[1, *stride, 1], padding=padding)
    x, f = _draw((2, 9, 8, 4)), _draw((3, 3, 4, 2))
    for rates, padding in itertools.product([(2, 2), (1, 3), (3, 2)], ["SAME", "VALID"]):
        yield case("Conv2D", x, f, strides=_ONES, padding=padding, dilations=[1, *rates, 1])
    for pads in ([0, 0, 1, 2, 3, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]):
        for step in (1, 2):
            steps = [1, step, step, 1]
            yield case("Conv2D", x, f, strides=steps, padding="EXPLICIT", explicit_paddings=pads)
    for groups in (2, 4):
        grouped = _draw((3, 3, 4 // groups, 8))
        yield case("Conv2D", x, grouped, strides=[1, 2, 2, 1], padding="SAME")
    for kind in ("f8", "f2", BFLOAT16, "i4"):
        a, b = _draw((1, 4, 5, 3), kind), _draw((2, 2, 3, 2), kind)
        yield case("Conv2D", a, b, strides=_ONES, padding="SAME", tol=tolerance(a.dtype, 2))
    yield case("Conv2D", _draw((0, 4, 4, 3)), _draw((2, 2, 3, 2)), strides=_ONES, padding="SAME")
    yield case("Conv2D", _draw((1, 0, 4, 3)), _draw((2, 2, 3, 2)), strides=_ONES, padding="SAME")
    yield case("Conv2D", _draw((1, 4, 4, 3)), _draw((2, 2, 3, 0)), strides=_ONES, padding="SAME")
    odd = _draw((1, 4, 4, 1))
    odd[0, 1, 1], odd[0, 3, 3] = np.nan, np.inf
    yield case("Conv2D", odd, _draw((2, 2, 1, 1)), strides=_ONES, padding="SAME", note="nan")


def _refused() -> Iterator[Case]:
    x, f = _draw((1, 4, 4, 3)), _draw((2, 2, 3, 2))
    yield case("Conv2D", x, _draw((2, 2, 2, 2)), strides=_ONES, padding="SAME", note="refused")
    yield case("Conv2D", x, _draw((5, 5, 3, 2)), strides=_ONES, padding="VALID", note="refused")
    yield case("Conv2D", x[0], f, strides=_ONES, padding="VALID", note="refused")
    yield case("Conv2D", x, f[0], strides=_ONES, padding="VALID", note="refused")
    yield case("Conv2D", x, f, strides=[1, 0, 1, 1], padding="VALID", note="refused")
    yield case("Conv2D", x, f, strides=[1, 1, 1], padding="VALID", note="refused")
    yield case(
        "Conv2D", x, f, strides=_ONES, padding="EXPLICIT", explicit_paddings=[1, 1], note="refused"
    )
    yield case("Conv3D", x, f, strides=[1] * 5, padding="VALID", note="refused")


def _gradients() -> Iterator[Case]:
    shape, size = (2, 6, 5, 3), (3, 2, 3, 4)
    x, f = _draw(shape), _draw(size)
    settings: list[Any] = [
        *itertools.product([(1, 1), (2, 2), (2, 1)], ["SAME", "VALID"], [(1, 1)]),
        ((1, 1), "VALID", (2, 2)),
        ((1, 1), "SAME", (2, 1)),
        ((2, 1), [0, 0, 1, 2, 0, 1, 0, 0], (1, 1)),
    ]
    for stride, padding, rates in settings:
        explicit = isinstance(padding, list)
        attrs = {
            "strides": [1, *stride, 1],
            "padding": "EXPLICIT" if explicit else padding,
            "dilations": [1, *rates, 1],
            "explicit_paddings": padding if explicit else [],
        }
        dy = _draw((2, *_output(shape, size, stride, padding, rates), 4))
        if rates == (1, 1):
            yield case("Conv2DBackpropInput", ints(*shape), f, dy, **attrs)
            yield case("Conv2DBackpropFilter", x, ints(*size), dy, **attrs)
    for kind in ("f8", "f2", BFLOAT16):
        dy, tol = _draw((2, 6, 5, 4), kind), tolerance(kind, 2)
        same = {"strides": _ONES, "padding": "SAME", "tol": tol}
        yield case("Conv2DBackpropInput", ints(*shape), f.astype(kind), dy, **same)
        yield case("Conv2DBackpropFilter", x.astype(kind), ints(*size), dy, **same)
    dy = _draw((2, 6, 5, 4))
    short = {"strides": _ONES, "padding": "SAME"}
    yield case("Conv2DBackpropInput", ints(6, 5), f, dy, **short)
    yield case("Conv2DBackpropInput", ints(2, 6, 4, 3), f, dy, note="refused", **short)
    yield case("Conv2DBackpropFilter", x, ints(3, 2, 3, 5), dy, note="refused", **short)
    yield case("Conv2DBackpropInput", ints(1, 2, 3), f, dy, note="refused", **short)


def _volumes() -> Iterator[Case]:
    shape, size = (1, 4, 5, 3, 2), (2, 3, 2, 2, 3)
    x, f = _draw(shape), _draw(size)
    for stride, padding in itertools.product([1, 2], ["SAME", "VALID"]):
        attrs = {"strides": [1, stride, stride, 1, 1], "padding": padding}
        yield case("Conv3D", x, f, **attrs)
        same = padding == "SAME"
        reach = (0, 0, 0) if same else (1, 2, 1)
        dims = [-(-(shape[1 + k] - reach[k]) // s) for k, s in enumerate((stride, stride, 1))]
        dy = _draw((1, *dims, 3))
        yield case("Conv3DBackpropInputV2", ints(*shape), f, dy, **attrs)
        yield case("Conv3DBackpropFilterV2", x, ints(*size), dy, **attrs)
    yield case(
        "Conv3DBackpropInputV2", ints(*shape, dtype=np.int64), f, _draw((1, 4, 5, 3, 3)),
        strides=[1] * 5, padding="SAME",
    )  # fmt: skip
    yield case("Conv", x, f, strides=[1] * 5, padding="SAME")
    a, b = _draw((2, 4, 4, 3)), _draw((2, 2, 3, 2))
    yield case("Conv", a, b, strides=_ONES, padding="VALID")
    yield case("Conv", a, b, strides=[1, 2, 1, 1], padding="SAME", dilations=_ONES)
    pads = [0, 0, 1, 0, 2, 1, 0, 0]
    yield case("Conv", a, b, strides=_ONES, padding="EXPLICIT", explicit_paddings=pads)
    batched = _draw((2, 3, 4, 4, 3))
    yield case("Conv", batched, b, strides=_ONES, padding="SAME", batch_dims=2)


CASES: list[Case] = [*_forward(), *_refused(), *_gradients(), *_volumes()]
