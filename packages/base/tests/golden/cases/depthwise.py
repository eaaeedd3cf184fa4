"""Golden cases of depthwise convolution and its gradients."""

import itertools
from collections.abc import Iterator

from drawing import BFLOAT16, drawer, ints, tolerance
from oracle import Case, case

_draw = drawer(104)


def _all() -> Iterator[Case]:
    shape = (2, 6, 5, 3)
    x = _draw(shape)
    for size, times, stride, padding in itertools.product(
        [(1, 1), (3, 3), (2, 3)], [1, 2], [1, 2], ["SAME", "VALID"]
    ):
        f = _draw((*size, 3, times))
        attrs = {"strides": [1, stride, stride, 1], "padding": padding}
        yield case("DepthwiseConv2dNative", x, f, **attrs)
        reach = [n - 1 if padding == "VALID" else 0 for n in size]
        dims = [-(-(6 - reach[0]) // stride), -(-(5 - reach[1]) // stride)]
        dy = _draw((2, *dims, 3 * times))
        sizes = ints(*shape), ints(*f.shape)
        yield case("DepthwiseConv2dNativeBackpropInput", sizes[0], f, dy, **attrs)
        yield case("DepthwiseConv2dNativeBackpropFilter", x, sizes[1], dy, **attrs)
    ones = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    for kind in ("f8", "f2", BFLOAT16):
        a, b = x.astype(kind), _draw((3, 3, 3, 2), kind)
        yield case("DepthwiseConv2dNative", a, b, tol=tolerance(a.dtype, 2), **ones)
    pads = [0, 0, 1, 2, 0, 1, 0, 0]
    yield case(
        "DepthwiseConv2dNative", x, _draw((3, 3, 3, 1)), strides=[1, 1, 1, 1],
        padding="EXPLICIT", explicit_paddings=pads,
    )  # fmt: skip
    yield case("DepthwiseConv2dNative", x[:0], _draw((3, 3, 3, 1)), **ones)
    yield case("DepthwiseConv2dNative", x, _draw((3, 3, 2, 1)), note="refused", **ones)
    yield case("DepthwiseConv2dNative", x[0], _draw((3, 3, 3, 1)), note="refused", **ones)


CASES: list[Case] = list(_all())
