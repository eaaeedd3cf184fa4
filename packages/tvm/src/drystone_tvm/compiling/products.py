"""Rules for products, convolutions, pools and normalization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drystone_tvm.compiling.elements import larger
from drystone_tvm.compiling.rules import FLOATS, RULES, Call, Value

__all__: list[str] = []


@RULES.of("MatMul", "BatchMatMul", "BatchMatMulV2", dtypes=FLOATS)
def _product(call: Call) -> Any:
    a, b = call.inputs
    names = ("transpose_a", "transpose_b") if call.node.op == "MatMul" else ("adj_x", "adj_y")
    turned_a, turned_b = (bool(call.attr(name)) for name in names)
    te, out = call.lang.te, call.dims()
    depth = call.sizes(call.node, a.dims)[-2 if turned_a else -1]
    k = te.reduce_axis((0, depth), name="k")
    outer = len(out) - 2

    def batch(value: Value, at: Sequence[Any]) -> list[Any]:
        skipped = outer - (len(value.dims) - 2)
        dims, wide = value.dims[:-2], out[skipped:outer]
        if any(size not in (full, 1) for size, full in zip(dims, wide, strict=True)):
            raise call.refuse("sizes are known in a run only, and may be broadcast then")
        return [
            i if size == full else 0
            for size, full, i in zip(dims, wide, at[skipped:outer], strict=True)
        ]

    def body(*at: Any) -> Any:
        i, j = at[-2:]
        left = a.tensor(*batch(a, at), *((k, i) if turned_a else (i, k)))
        right = b.tensor(*batch(b, at), *((j, k) if turned_b else (k, j)))
        return te.sum(left * right, axis=[k])

    return call.compute(body)


def _window(call: Call, size: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Strides, dilations and what is padded before, of two spatial axes in NHWC."""
    if call.attr("data_format") != "NHWC":
        raise call.refuse(f"data format {call.attr('data_format')} has no rule, NHWC has")
    strides = [int(k) for k in call.attr("strides")][1:3]
    stated = call.node.full_attrs().get("dilations") or [1, 1, 1, 1]
    dilations = [int(k) for k in stated][1:3]
    padding = call.attr("padding")
    if padding == "EXPLICIT":
        given = call.attr("explicit_paddings")
        return strides, dilations, [int(given[2]), int(given[4])]
    if padding == "VALID":
        return strides, dilations, [0, 0]
    out = call.static(call.dims()[1:3], "its sizes")
    taken = call.static(call.inputs[0].dims[1:3], "its sizes")
    before = [
        max((o - 1) * s + (k - 1) * d + 1 - n, 0) // 2
        for o, s, k, d, n in zip(out, strides, size, dilations, taken, strict=True)
    ]
    return strides, dilations, before


def _padded(call: Call, value: Value, y: Any, x: Any, rest: Any, outside: Any) -> Any:
    """An element at a place that may lie outside."""
    t, dims = call.lang.tirx, call.static(value.dims[1:3], "its sizes")
    n, c = rest
    inside = t.all(y >= 0, y < dims[0], x >= 0, x < dims[1])
    return t.if_then_else(inside, value.tensor(n, y, x, c), outside)


@RULES.of("Conv2D", dtypes=FLOATS)
def _conv(call: Call) -> Any:
    value, kernel = call.inputs
    te, t = call.lang.te, call.lang.tirx
    high, wide, deep, _ = call.static(kernel.dims, "sizes of the kernel")
    if value.dims[3] != deep:
        raise call.refuse("grouped convolutions have no rule")
    (sy, sx), (dy, dx), (py, px) = _window(call, (high, wide))
    zero = t.const(0, value.dtype)
    axes = [te.reduce_axis((0, k), name=f"r{i}") for i, k in enumerate((high, wide, deep))]
    ky, kx, c = axes

    def body(n: Any, y: Any, x: Any, o: Any) -> Any:
        at = y * sy + ky * dy - py, x * sx + kx * dx - px
        one = _padded(call, value, *at, (n, c), zero)
        return te.sum(one * kernel.tensor(ky, kx, c, o), axis=axes)

    return call.compute(body)


@RULES.of("DepthwiseConv2dNative", dtypes=FLOATS)
def _depthwise(call: Call) -> Any:
    value, kernel = call.inputs
    te, t = call.lang.te, call.lang.tirx
    high, wide, _, times = call.static(kernel.dims, "sizes of the kernel")
    (sy, sx), (dy, dx), (py, px) = _window(call, (high, wide))
    zero = t.const(0, value.dtype)
    axes = [te.reduce_axis((0, k), name=f"r{i}") for i, k in enumerate((high, wide))]
    ky, kx = axes

    def body(n: Any, y: Any, x: Any, o: Any) -> Any:
        at = y * sy + ky * dy - py, x * sx + kx * dx - px
        c, m = (o, 0) if times == 1 else (t.floordiv(o, times), t.floormod(o, times))
        one = _padded(call, value, *at, (n, c), zero)
        return te.sum(one * kernel.tensor(ky, kx, c, m), axis=axes)

    return call.compute(body)


@RULES.of("MaxPool", "AvgPool", dtypes=FLOATS)
def _pool(call: Call) -> Any:
    value, te, t = call.inputs[0], call.lang.te, call.lang.tirx
    size = [int(k) for k in call.attr("ksize")]
    if size[0] != 1 or size[3] != 1:
        raise call.refuse("pools over examples or channels have no rule")
    high, wide = size[1:3]
    (sy, sx), _, (py, px) = _window(call, (high, wide))
    largest = call.node.op == "MaxPool"
    ky, kx = (te.reduce_axis((0, k), name=f"r{i}") for i, k in enumerate((high, wide)))
    outside = -t.infinity(value.dtype) if largest else t.const(0, value.dtype)
    reduce = (
        te.comm_reducer(
            lambda a, b: larger(t, a, b), lambda dtype: -t.infinity(dtype), name="largest"
        )
        if largest
        else te.sum
    )

    def body(n: Any, y: Any, x: Any, c: Any) -> Any:
        one = _padded(call, value, y * sy + ky - py, x * sx + kx - px, (n, c), outside)
        return reduce(one, axis=[ky, kx])

    found = call.compute(body)
    if largest:
        return found
    rows, columns = call.static(value.dims[1:3], "its sizes")

    def within(at: Any, step: int, before: int, length: int, all_of: int) -> Any:
        begin = at * step - before
        return t.min(begin + length, all_of) - t.max(begin, 0)

    def mean(n: Any, y: Any, x: Any, c: Any) -> Any:
        count = within(y, sy, py, high, rows) * within(x, sx, px, wide, columns)
        return found(n, y, x, c) / count.astype(value.dtype)

    return call.compute(mean)


@RULES.of("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", dtypes=FLOATS)
def _batch_norm(call: Call) -> list[Any]:
    if call.attr("is_training"):
        raise call.refuse("it trains")
    value, scale, offset, mean, variance = call.inputs
    axis = {"NHWC": 3, "NCHW": 1}.get(call.attr("data_format"))
    if axis is None:
        raise call.refuse(f"data format {call.attr('data_format')} has no rule")
    t, epsilon = call.lang.tirx, float(call.attr("epsilon"))

    def body(*at: Any) -> Any:
        c = at[axis]
        spread = t.sqrt(variance.tensor(c) + t.const(epsilon, variance.dtype))
        return (value.tensor(*at) - mean.tensor(c)) / spread * scale.tensor(c) + offset.tensor(c)

    return [call.compute(body)]
