"""Golden cases of pooling and its gradients."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from drawing import BFLOAT16, Array, drawer, ints, tolerance
from oracle import Case, case

_draw = drawer(105)

_SETTINGS = list(
    itertools.product([(2, 2), (3, 3), (1, 2)], [(1, 1), (2, 2), (2, 1)], ["SAME", "VALID"])
)


def _attrs(size: Sequence[int], stride: Sequence[int], padding: str) -> dict[str, Any]:
    return {"ksize": [1, *size, 1], "strides": [1, *stride, 1], "padding": padding}


def _output(
    shape: Sequence[int], size: Sequence[int], stride: Sequence[int], padding: str
) -> tuple[int, ...]:
    reach = [0 if padding == "SAME" else n - 1 for n in size]
    dims = zip(shape[1:-1], reach, stride, strict=True)
    return (shape[0], *(-(-(n - r) // s) for n, r, s in dims), shape[-1])


def _average() -> Iterator[Case]:
    shape = (2, 5, 6, 2)
    x = _draw(shape)
    for setting in _SETTINGS:
        attrs = _attrs(*setting)
        yield case("AvgPool", x, **attrs)
        dy = _draw(_output(shape, *setting))
        yield case("AvgPoolGrad", ints(*shape), dy, **attrs)
    for kind in ("f8", "f2", BFLOAT16):
        tol = tolerance(kind, 2)
        yield case("AvgPool", x.astype(kind), tol=tol, **_attrs((2, 2), (2, 2), "SAME"))
    odd = _draw((1, 4, 4, 1))
    odd[0, 0, 0], odd[0, 3, 3] = np.nan, np.inf
    yield case("AvgPool", odd, note="nan", **_attrs((2, 2), (1, 1), "SAME"))
    yield case("AvgPool", x[:0], **_attrs((2, 2), (1, 1), "SAME"))
    yield case("AvgPool", x, note="refused", **_attrs((7, 2), (1, 1), "VALID"))
    yield case("AvgPool", x[0], note="refused", **_attrs((2, 2), (1, 1), "VALID"))
    yield case("AvgPool", x, note="refused", ksize=[1, 2, 2, 1], strides=[1, 1], padding="SAME")


def _maximum() -> Iterator[Case]:
    x = _draw((2, 5, 6, 2))
    for setting in _SETTINGS:
        attrs = _attrs(*setting)
        yield case("MaxPool", x, tol=0, **attrs)
        yield case(
            "MaxPoolWithArgmax", x, tol=0, include_batch_in_index=setting[2] == "VALID", **attrs
        )
        inputs = ints(*attrs.pop("ksize")), ints(*attrs.pop("strides"))
        yield case("MaxPoolV2", x, *inputs, tol=0, **attrs)
    for kind in ("f8", "f2", BFLOAT16, "i4", "i8", "u1", "i2", "i1", "u2"):
        small = _attrs((2, 2), (2, 2), "SAME")
        yield case("MaxPool", _draw((1, 5, 5, 2), kind), tol=0, **small)
    for pads in ([0, 0, 1, 0, 0, 1, 0, 0], [0, 0, 1, 1, 1, 1, 0, 0]):
        yield case(
            "MaxPool", x - 5, ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1],
            padding="EXPLICIT", explicit_paddings=pads, tol=0,
        )  # fmt: skip
    runs = {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "VALID"}
    yield case("MaxPool", _draw((1, 2, 2, 6)), tol=0, **runs)
    yield case("MaxPool", _draw((1, 2, 2, 5)), note="refused", **runs)
    yield case("MaxPool", x, note="refused", **_attrs((0, 2), (1, 1), "VALID"))
    yield case("MaxPool", x, note="refused", **_attrs((6, 2), (1, 1), "VALID"))
    low = np.full((1, 3, 3, 1), -np.inf, np.float32)
    yield case("MaxPool", low, tol=0, note="-inf", **_attrs((2, 2), (1, 1), "SAME"))


def _maximum_gradients() -> Iterator[Case]:
    shape = (2, 5, 6, 2)
    x = np.round(_draw(shape) * 2) / 2
    for setting in _SETTINGS:
        attrs = _attrs(*setting)
        out = _output(shape, *setting)
        dy = _draw(out)
        yield case("MaxPoolGrad", x, _pooled(x, *setting), dy, note="ties", **attrs)
        yield case("MaxPoolGradGrad", x, _pooled(x, *setting), x * 3, note="ties", **attrs)
        at = _draw(out, "u8") % 60
        yield case("MaxPoolGradWithArgmax", x, dy, at.astype("i8"), **attrs)
        inputs = ints(*attrs.pop("ksize")), ints(*attrs.pop("strides"))
        yield case("MaxPoolGradGradV2", x, _pooled(x, *setting), x * 3, *inputs, **attrs)
        yield case("MaxPoolGradV2", x, _pooled(x, *setting), dy, *inputs, **attrs)
    small = _attrs((2, 2), (1, 1), "SAME")
    yield case("MaxPoolGrad", x, x[:, 1:], x, note="refused", **small)


def _pooled(x: Array, size: Sequence[int], stride: Sequence[int], padding: str) -> Array:
    """A plain maximum pool, as the gradients need the forward output."""
    out = np.full(_output(x.shape, size, stride, padding), -np.inf, np.float32)
    rows, columns = x.shape[1:3]
    top, left = 0, 0
    if padding == "SAME":
        top = max((out.shape[1] - 1) * stride[0] + size[0] - rows, 0) // 2
        left = max((out.shape[2] - 1) * stride[1] + size[1] - columns, 0) // 2
    for i, j in np.ndindex(*out.shape[1:3]):
        r, c = i * stride[0] - top, j * stride[1] - left
        part = x[:, max(r, 0) : r + size[0], max(c, 0) : c + size[1]]
        out[:, i, j] = part.max((1, 2))
    return out


def _volumes() -> Iterator[Case]:
    shape = (1, 4, 5, 3, 2)
    x = _draw(shape)
    for stride, padding in itertools.product([1, 2], ["SAME", "VALID"]):
        attrs = _attrs((2, 2, 2), (stride,) * 3, padding)
        dy = _draw(_output(shape, (2, 2, 2), (stride,) * 3, padding))
        yield case("AvgPool3D", x, **attrs)
        yield case("MaxPool3D", x, tol=0, **attrs)
        yield case("AvgPool3DGrad", ints(*shape), dy, **attrs)
    for step in (1, 2):
        pooled = _pooled(
            x.transpose(0, 3, 1, 2, 4).reshape(3, 4, 5, 2), (2, 2), (step,) * 2, "SAME"
        )
        best = pooled.reshape(1, 3, *pooled.shape[1:]).transpose(0, 2, 3, 1, 4)
        attrs = _attrs((2, 2, 1), (step, step, 1), "SAME")
        yield case("MaxPool3DGrad", x, best, _draw(best.shape), **attrs)
        yield case("MaxPool3DGradGrad", x, best, x * 3, **attrs)
    dims = (1, 2, 2, 3, 1)
    source = _draw(dims)
    best = source.max((1, 2), keepdims=True)
    yield case(
        "MaxPool3DGrad", source, best, _draw(best.shape),
        ksize=[1, 2, 2, 1, 1], strides=[1, 2, 2, 1, 1], padding="VALID",
    )  # fmt: skip


CASES: list[Case] = [*_average(), *_maximum(), *_maximum_gradients(), *_volumes()]
