"""Rules for ops that move elements: shapes, orders, parts, gathers."""

from __future__ import annotations

from typing import Any

from drystone_tvm.compiling.rules import RULES, Call

__all__: list[str] = []


def _moved(call: Call) -> Any:
    """The same elements in row-major order, in another shape."""
    value = call.inputs[0]
    if call.dims() == value.dims:
        return value.tensor
    t, sizes = call.lang.tirx, call.sizes(call.node, value.dims)
    wanted = call.sizes(call.node, call.dims())

    def body(*at: Any) -> Any:
        place = t.const(0, "int64")
        for i, size in zip(at, wanted, strict=True):
            place = place * size + i
        index: list[Any] = []
        for k in reversed(range(len(sizes))):
            index.append(place if k == 0 else t.floormod(place, sizes[k]))
            place = t.floordiv(place, sizes[k])
        return value.tensor(*reversed(index))

    return call.compute(body)


RULES.of("Reshape")(_moved)


@RULES.of("Squeeze", "ExpandDims")
def _ones(call: Call) -> Any:
    """Axes of size 1 come or go: an index for each of the others."""
    value, out = call.inputs[0], call.dims()

    def body(*at: Any) -> Any:
        given = iter([i for i, size in zip(at, out, strict=True) if size != 1])
        return value.tensor(*(0 if size == 1 else next(given) for size in value.dims))

    return call.compute(body)


@RULES.of("Transpose")
def _transpose(call: Call) -> Any:
    order = call.constant(1, "the axes").tolist()
    value = call.inputs[0]
    return call.compute(lambda *at: value.tensor(*(at[order.index(k)] for k in range(len(order)))))


@RULES.of("ConcatV2", "Pack")
def _joined(call: Call) -> Any:
    t, out = call.lang.tirx, call.dims()
    if call.node.op == "Pack":
        values, axis = list(call.inputs), int(call.attr("axis")) % len(out)
    else:
        values, axis = list(call.inputs[:-1]), int(call.constant(-1, "the axis")) % len(out)
    widths = [1 if call.node.op == "Pack" else call.sizes(call.node, v.dims)[axis] for v in values]

    def body(*at: Any) -> Any:
        begins: list[Any] = [0]
        for width in widths[:-1]:
            begins.append(begins[-1] + width)

        def part(k: int) -> Any:
            inner = [] if call.node.op == "Pack" else [at[axis] - begins[k]]
            return values[k].tensor(*at[:axis], *inner, *at[axis + 1 :])

        found = part(len(values) - 1)
        for k in reversed(range(len(values) - 1)):
            found = t.if_then_else(at[axis] < begins[k + 1], part(k), found)
        return found

    return call.compute(body)


@RULES.of("Pad", "PadV2")
def _pad(call: Call) -> Any:
    value, t = call.inputs[0], call.lang.tirx
    before = [int(k) for k in call.constant(1, "the paddings")[:, 0]]
    sizes = call.sizes(call.node, value.dims)
    outside = call.inputs[2].tensor() if call.node.op == "PadV2" else t.const(0, value.dtype)

    def body(*at: Any) -> Any:
        index = [i - k for i, k in zip(at, before, strict=True)]
        if not index:
            return value.tensor()
        inside = t.all(*(t.all(i >= 0, i < n) for i, n in zip(index, sizes, strict=True)))
        return t.if_then_else(inside, value.tensor(*index), outside)

    return call.compute(body)


@RULES.of("Slice")
def _slice(call: Call) -> Any:
    value = call.inputs[0]
    begin = [int(k) for k in call.constant(1, "the begins")]
    return call.compute(lambda *at: value.tensor(*(i + k for i, k in zip(at, begin, strict=True))))


@RULES.of("Tile")
def _tile(call: Call) -> Any:
    value, t = call.inputs[0], call.lang.tirx
    sizes = call.sizes(call.node, value.dims)
    return call.compute(
        lambda *at: value.tensor(*(t.floormod(i, n) for i, n in zip(at, sizes, strict=True)))
    )


@RULES.of("BroadcastTo")
def _broadcast(call: Call) -> Any:
    return call.elements(lambda x: x, call.inputs[0])


@RULES.of("GatherV2", "Gather")
def _gather(call: Call) -> Any:
    """Rows by their numbers; 0 for a number that is out of range, as on GPUs."""
    params, indices = call.inputs[:2]
    t, rank = call.lang.tirx, len(params.dims)
    if call.node.op == "GatherV2" and call.attr("batch_dims"):
        raise call.refuse("gathers in batches have no rule")
    axis = 0 if call.node.op == "Gather" else int(call.constant(2, "the axis")) % rank
    count, inner = call.sizes(call.node, params.dims)[axis], len(indices.dims)

    def body(*at: Any) -> Any:
        row = indices.tensor(*at[axis : axis + inner])
        found = params.tensor(*at[:axis], row, *at[axis + inner :])
        return t.if_then_else(t.all(row >= 0, row < count), found, t.const(0, params.dtype))

    return call.compute(body)
