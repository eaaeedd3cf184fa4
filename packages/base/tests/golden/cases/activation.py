"""Golden cases of activations, softmax and bias addition."""

from collections.abc import Iterator

import numpy as np
from drawing import BFLOAT16, drawer, floats, tolerance
from oracle import Case, case

_draw = drawer(106, -9, 9)

_FLOATS = ("f4", "f8", "f2", BFLOAT16)
_ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 6.0, 5.999, 88.0, -88.0, 100.0, -100.0, 1e30]
_INTS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


def _activations() -> Iterator[Case]:
    for op in ("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign"):
        for kind in _FLOATS:
            yield case(op, _draw((3, 4), kind), tol=tolerance(kind))
            yield case(op, floats(_ODD, kind), tol=tolerance(kind), note="odd")
        yield case(op, _draw((), "f4"))
        yield case(op, _draw((0, 2), "f4"))
    for op in ("Relu", "Relu6"):
        for kind in _INTS:
            yield case(op, _draw((7,), kind), tol=0)
    for alpha in (0.0, 0.5, 1.0, 2.0, -1.0):
        yield case("LeakyRelu", _draw((5,)), alpha=alpha)


def _gradients() -> Iterator[Case]:
    for op in (
        "ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad",
        "EluGrad", "SeluGrad",
    ):  # fmt: skip
        for kind in _FLOATS:
            yield case(op, _draw((3, 4), kind), _draw((3, 4), kind), tol=tolerance(kind))
        odd = floats(_ODD)
        yield case(op, np.ones_like(odd), odd, note="odd")
        yield case(op, _draw((0, 2)), _draw((0, 2)))
        yield case(op, _draw((3, 4)), _draw((4, 3)), note="refused")
    for kind in _INTS:
        yield case("ReluGrad", _draw((6,), kind), _draw((6,), kind), tol=0)
        yield case("Relu6Grad", _draw((6,), kind), _draw((6,), kind), tol=0)
    yield case("LeakyReluGrad", _draw((5,)), _draw((5,)), alpha=2.0)


def _softmax() -> Iterator[Case]:
    for op in ("Softmax", "LogSoftmax"):
        for kind in _FLOATS:
            for shape in [(4,), (3, 5), (2, 3, 4), (3, 1), (0, 3), (2, 0)]:
                yield case(op, _draw(shape, kind), tol=tolerance(kind))
        far = floats([[1000, 0, -1000], [1e30, 1e30, 0], [-1e30, -1e30, -1e30]])
        yield case(op, far, note="far")
        odd = floats([[np.nan, 0, 1], [np.inf, 0, 1], [-np.inf, 0, 1], [-np.inf] * 3])
        yield case(op, odd, note="odd")
        yield case(op, floats(1.0), note="refused")


def _bias() -> Iterator[Case]:
    for kind in (*_FLOATS, *_INTS, "c8", "c16"):
        for shape in [(2, 3), (2, 4, 3), (2, 2, 2, 3), (1, 2, 2, 2, 3)]:
            tol = tolerance(kind)
            if kind in (*_FLOATS, "i4"):
                yield case("BiasAdd", _draw(shape, kind), _draw((3,), kind), tol=tol)
                yield case("BiasAddGrad", _draw(shape, kind), tol=5 * tol)
        yield case("BiasAdd", _draw((2, 3), kind), _draw((3,), kind), tol=tolerance(kind))
        yield case("BiasAddV1", _draw((2, 3), kind), _draw((3,), kind), tol=tolerance(kind))
    for shape in [(2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 2, 2)]:
        yield case("BiasAdd", _draw(shape), _draw((3,)), data_format="NCHW")
        yield case("BiasAddGrad", _draw(shape), data_format="NCHW")
    yield case("BiasAdd", _draw((0, 3)), _draw((3,)))
    yield case("BiasAddGrad", _draw((0, 3)))
    yield case("BiasAdd", _draw((2, 3)), _draw((2,)), note="refused")
    yield case("BiasAdd", _draw((3,)), _draw((3,)), note="refused")
    yield case("BiasAdd", _draw((2, 3)), _draw((1, 3)), note="refused")
    yield case("BiasAddGrad", _draw((3,)), note="refused")


CASES: list[Case] = [*_activations(), *_gradients(), *_softmax(), *_bias()]
