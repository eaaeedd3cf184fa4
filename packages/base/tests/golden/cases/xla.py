"""Golden cases of XLA's ops that call no functions."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from drawing import drawer, floats, ints
from oracle import Case, case

_draw = drawer(601)


def numbers(*pairs: tuple[int, Sequence[int]]) -> str:
    """A message of integers: field numbers with their values, each below 128."""
    return "".join(chr(n << 3) + chr(v) for n, values in pairs for v in values)


def _dot() -> Iterator[Case]:
    table = [
        ((2, 3), (3, 4), ([1], [0], [], [])),
        ((2, 3), (4, 3), ([1], [1], [], [])),
        ((5, 2, 3), (5, 3, 4), ([2], [1], [0], [0])),
        ((2, 3, 4), (4, 5, 3), ([1, 2], [2, 0], [], [])),
        ((2,), (3,), ([], [], [], [])),
        ((0, 3), (3, 4), ([1], [0], [], [])),
    ]
    for a, b, parts in table:
        text = numbers(*((k + 1, part) for k, part in enumerate(parts)))
        for kind in ("f4", "f8", "i4", "c8"):
            attrs = {"dimension_numbers": text, "precision_config": ""}
            yield case("XlaDot", _draw(a, kind), _draw(b, kind), **attrs)
        more = {**attrs, "preferred_element_type": "int32"}
        yield case("XlaDotV2", _draw(a, "i1"), _draw(b, "i1"), **more)
    for equation in ("ij,jk->ik", "bij,bjk->bik", "ij,kj->ik"):
        left = (2, 3, 4) if equation[0] == "b" else (3, 4)
        right = {"ij,jk->ik": (4, 5), "bij,bjk->bik": (2, 4, 5), "ij,kj->ik": (5, 4)}[equation]
        yield case("XlaEinsum", _draw(left), _draw(right), equation=equation)


def _conv() -> Iterator[Case]:
    nhwc = numbers((7, [0]), (8, [3]), (11, [1, 2]), (3, [2]), (4, [3]), (6, [0, 1]),
                   (9, [0]), (10, [3]), (12, [1, 2]))  # fmt: skip
    nchw = numbers((7, [0]), (8, [1]), (11, [2, 3]), (3, [1]), (4, [0]), (6, [2, 3]),
                   (9, [0]), (10, [1]), (12, [2, 3]))  # fmt: skip
    attrs = {"precision_config": ""}
    x, k = _draw((2, 5, 6, 4)), _draw((3, 2, 4, 6))
    settings: list[tuple[Any, Any, Any, Any]] = [
        ([1, 1], [[0, 0], [0, 0]], [1, 1], [1, 1]),
        ([2, 1], [[1, 2], [0, 1]], [1, 1], [1, 1]),
        ([1, 2], [[2, 2], [1, 1]], [2, 3], [1, 2]),
        ([1, 1], [[-1, 0], [1, -2]], [1, 1], [1, 1]),
    ]
    pads, whole = np.zeros((2, 2), np.int32), [ints(1, 1), ints(1, 1), ints(1, 1), np.int32(1)]
    for place in range(3):  # strides and dilations without entries
        rest = [v[:0] if i == place else v for i, v in enumerate(whole)]
        rest.insert(1, pads)
        yield case("XlaConv", x, k, *rest, dimension_numbers=nhwc, **attrs)
    for strides, pads, spread, rates in settings:
        rest = [ints(*strides), np.array(pads, np.int32), ints(*spread), ints(*rates)]
        yield case("XlaConv", x, k, *rest, np.int32(1), dimension_numbers=nhwc, **attrs)
        less = k[:, :, :2]
        yield case("XlaConv", x, less, *rest, np.int32(2), dimension_numbers=nhwc, **attrs)
        turned = [x.transpose(0, 3, 1, 2).copy(), k.transpose(3, 2, 0, 1).copy()]
        yield case("XlaConv", *turned, *rest, np.int32(1), dimension_numbers=nchw, **attrs)
        more = {**attrs, "preferred_element_type": "float32", "batch_group_count": 2}
        yield case("XlaConvV2", x, k, *rest, np.int32(1), dimension_numbers=nhwc, **more)


def _slices() -> Iterator[Case]:
    for kind in ("f4", "i8", "?", "u1"):
        x = _draw((4, 5), kind)
        for start in ([0, 0], [1, 2], [-3, 4], [9, 9]):
            yield case("XlaDynamicSlice", x, ints(*start), ints(2, 3))
            yield case("XlaDynamicUpdateSlice", x, _draw((2, 3), kind), ints(*start))
        zero = np.zeros((), x.dtype)
        for low, high, between in itertools.product(
            ([0, 1], [-1, 2]), ([1, 0], [2, -3]), ([0, 0], [1, 2])
        ):
            yield case("XlaPad", x, zero, ints(*low), ints(*high), ints(*between))
    yield case("XlaPad", _draw((3,)), np.float32(7), ints(-2), ints(0), ints(1))
    yield case("XlaPad", _draw((0,)), np.float32(7), ints(2), ints(1), ints(1))


def _gather() -> Iterator[Case]:
    x = _draw((5, 4, 3))
    table: list[tuple[Any, Any, Any]] = [
        (ints(0, 3, 9, -1).reshape(4, 1), [1, 4, 3], ([1, 2], [0], [0], [1])),
        (ints(0, 3, 9).reshape(3), [1, 4, 3], ([1, 2], [0], [0], [1])),
        (ints(0, 1, 4, 3, 2, 2).reshape(3, 2), [1, 1, 3], ([1], [0, 1], [0, 1], [1])),
        (ints(0, 1, 4, 3, 2, 2).reshape(3, 2), [2, 3, 3], ([1, 2, 3], [], [0, 1], [1])),
        (ints(1, 2, 0, 2, 3, 1).reshape(2, 3), [1, 2, 3], ([0, 1], [0], [0, 2], [0])),
    ]
    for indices, sizes, parts in table:
        text = numbers(*((k + 1, part) for k, part in enumerate(parts)))
        attrs = {"dimension_numbers": text, "indices_are_sorted": False}
        yield case("XlaGather", x, indices, ints(*sizes), **attrs)
    parts = ([1], [1], [1], [1], [0], [0])
    text = numbers(*((k + 1, part) for k, part in enumerate(parts)))
    indices = ints(0, 3, 1, 2, 2).reshape(5, 1)
    attrs = {"dimension_numbers": text, "indices_are_sorted": False}
    yield case("XlaGather", x, indices, ints(1, 1, 3), **attrs)


def _order() -> Iterator[Case]:
    odd = floats([[3, np.nan, -np.inf, 0.0, -0.0], [np.inf, -1, 2, 2, -np.nan]])
    yield case("XlaSort", odd)
    for kind in ("f8", "i4", "u1", "?"):
        yield case("XlaSort", _draw((3, 7), kind))
    yield case("XlaKeyValueSort", ints(3, 1, 2, 1, 3, 0), _draw((6,)))
    yield case("XlaKeyValueSort", odd, np.arange(10, dtype=np.int32).reshape(2, 5))
    values = np.concatenate([_draw((40,), "f4", 1e3), floats([0, -0.0, np.inf, np.nan, 1e-40])])
    for exponent, mantissa in ((8, 23), (5, 10), (8, 7), (4, 3), (2, 0), (8, 30)):
        for kind in ("f4", "f8", "f2"):
            with np.errstate(over="ignore"):
                given = values.astype(kind)
            if kind == "f2" or mantissa < 30:
                attrs = {"exponent_bits": exponent, "mantissa_bits": mantissa}
                yield case("XlaReducePrecision", given, **attrs)


def _others() -> Iterator[Case]:
    a = _draw((3, 4, 4), "f8")
    even = a + a.swapaxes(-1, -2)
    for lower in (True, False):
        attrs = {"lower": lower, "max_iter": 100, "epsilon": 1e-9}
        yield case("XlaSelfAdjointEig", even, **attrs, tol=1e-6, compared=1)
    for shape in ((4, 3), (3, 4), (2, 3, 3)):
        attrs = {"max_iter": 100, "epsilon": 1e-9, "precision_config": ""}
        yield case("XlaSvd", _draw(shape, "f8"), **attrs, tol=1e-6, compared=1)
    x = _draw((3,))
    yield case("XlaBroadcastHelper", _draw((2, 3)), x, ints(1))
    yield case("XlaBroadcastHelper", x, _draw((3, 2)), ints(0))
    yield case("XlaBroadcastHelper", x, x, ints())
    yield case("XlaSharding", x)
    packed = np.random.default_rng(602).integers(0, 2**32, (3, 4), np.uint32)
    for low, turned in itertools.product((0.0, -1.0, -3.7), (False, True)):
        attrs = {"min_range": low, "max_range": 2.5, "transpose_output": turned}
        yield case("XlaDequantize", packed, mode="MIN_COMBINED", **attrs, tol=0)
    yield case("XlaOptimizationBarrier", x, ints(1, 2), T=["float32", "int32"])


def _random() -> Iterator[Case]:
    big = 2**63 + 12345
    for kind, shape in itertools.product(("uint32", "uint64"), ([0], [1], [3], [2, 4], [33])):
        for algorithm, state in (
            (1, [5, 7]), (1, [big, 7, 9]), (2, [5, 7]), (2, [big, big]),
            (1, [3, 2**64 - 2, 1]), (1, [3, 2**64 - 2]), (2, [3, 2**64 - 2]),
        ):  # fmt: skip
            given = np.int32(algorithm), np.array(state, np.uint64), ints(*shape)
            yield case("XlaRngBitGenerator", *given, dtype=kind)
    yield case("XlaRngBitGenerator", np.int32(2), np.ones(1, np.uint64), ints(2), dtype="uint32")


CASES = list(itertools.chain(_dot(), _conv(), _slices(), _gather(), _order(), _others(), _random()))
