"""Rules for reductions and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from drystone_tvm.compiling import whole
from drystone_tvm.compiling.elements import larger, smaller
from drystone_tvm.compiling.rules import DTYPES, FLOATS, RULES, Call, Dims, Value

__all__ = ["reduced"]

_NUMBERS = DTYPES - {"bool"}


def _axes(call: Call) -> list[int]:
    rank = len(call.inputs[0].dims)
    found = call.constant(1, "the axes").reshape(-1).tolist()
    return sorted({int(k) % rank for k in found}) if rank else []


def reduced(
    call: Call, value: Value, axes: Sequence[int], dims: Dims, combine: str, what: Any = None
) -> Any:
    """A reduction over some axes to a tensor of ``dims``; ``what``: of each element."""
    te, kept = call.lang.te, len(dims) == len(value.dims)
    if not axes:
        return call.compute(lambda *at: _element(value, at, what), dims)
    sizes = call.sizes(call.node, value.dims)
    loops = [te.reduce_axis((0, sizes[k]), name=f"k{k}") for k in axes]
    reduce = _combiner(call, combine)

    def body(*at: Any) -> Any:
        rest, inner = iter(at), iter(loops)
        index = []
        for k in range(len(value.dims)):
            outer = next(rest) if kept or k not in axes else None
            index.append(next(inner) if k in axes else outer)
        return reduce(_element(value, index, what), axis=loops)

    return call.compute(body, dims)


def _element(value: Value, at: Sequence[Any], what: Callable[..., Any] | None) -> Any:
    found = value.tensor(*at)
    return found if what is None else what(found, at)


def _combiner(call: Call, name: str) -> Any:
    te, t = call.lang.te, call.lang.tirx
    if name == "sum" and call.is_float():
        return te.sum
    of_two, least = {
        "sum": (lambda a, b: whole.add(t, a, b), lambda dtype: t.const(0, dtype)),
        "prod": (lambda a, b: whole.multiply(t, a, b), lambda dtype: t.const(1, dtype)),
        "max": (lambda a, b: larger(t, a, b), _lowest(t)),
        "min": (lambda a, b: smaller(t, a, b), _highest(t)),
        "all": (lambda a, b: t.all(a, b), lambda dtype: t.const(True, dtype)),
        "any": (lambda a, b: t.any(a, b), lambda dtype: t.const(False, dtype)),
    }[name]
    return te.comm_reducer(of_two, least, name=name)


def _lowest(t: Any) -> Callable[[Any], Any]:
    """Of floats minus infinity, as what is reduced may be."""
    return lambda dtype: (
        -t.infinity(dtype) if str(dtype).startswith("float") else t.min_value(dtype)
    )


def _highest(t: Any) -> Callable[[Any], Any]:
    return lambda dtype: t.infinity(dtype) if str(dtype).startswith("float") else t.max_value(dtype)


def _rule(combine: str) -> Callable[[Call], Any]:
    return lambda call: reduced(call, call.inputs[0], _axes(call), call.dims(), combine)


for _op, _name in (("Sum", "sum"), ("Prod", "prod"), ("Max", "max"), ("Min", "min")):
    RULES.of(_op, dtypes=_NUMBERS)(_rule(_name))
for _op, _name in (("All", "all"), ("Any", "any")):
    RULES.of(_op, dtypes=frozenset({"bool"}))(_rule(_name))


@RULES.of("Mean", dtypes=FLOATS)
def _mean(call: Call) -> Any:
    value, axes = call.inputs[0], _axes(call)
    sizes = call.sizes(call.node, value.dims)
    count = call.lang.tirx.const(1, "int64")
    for k in axes:
        count = count * sizes[k]
    total = reduced(call, value, axes, call.dims(), "sum")
    return call.compute(lambda *at: total(*at) / count.astype(value.dtype))


@RULES.of("Softmax", "LogSoftmax", dtypes=FLOATS)
def _softmax(call: Call) -> Any:
    value, t = call.inputs[0], call.lang.tirx
    rows, last = value.dims[:-1], len(value.dims) - 1
    if last < 0:
        raise call.refuse("a scalar has no last axis")
    highest = reduced(call, value, [last], rows, "max")
    if call.node.op == "LogSoftmax":
        total = reduced(
            call, value, [last], rows, "sum", lambda x, at: t.exp(x - highest(*at[:-1]))
        )
        return call.compute(
            lambda *at: value.tensor(*at) - highest(*at[:-1]) - t.log(total(*at[:-1]))
        )
    powers = Value(
        call.compute(lambda *at: t.exp(value.tensor(*at) - highest(*at[:-1])), value.dims),
        value.dims,
        value.dtype,
    )
    total = reduced(call, powers, [last], rows, "sum")
    return call.compute(lambda *at: powers.tensor(*at) / total(*at[:-1]))
