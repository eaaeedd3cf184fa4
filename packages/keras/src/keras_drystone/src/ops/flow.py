"""Branches and loops: of values at once, of symbolic tensors as ``If``, ``Case`` and ``While``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from keras.src import tree

from drystone_base.tracing import control_flow
from keras_drystone.src.dispatch import emit, is_symbolic
from keras_drystone.src.tensor import wrapped

__all__ = [
    "associative_scan", "cond", "fori_loop", "map", "scan", "switch", "vectorized_map", "while_loop"
]  # fmt: skip


def _tensors(nest: Any) -> Any:
    from keras_drystone.src.ops.core import convert_to_tensor

    return tree.map_structure(lambda x: None if x is None else convert_to_tensor(x), nest)


def _packed(function: Callable[..., Any], shapes: list[Any]) -> Callable[..., Any]:
    """The function with a flat list of tensors as its result; notes the nest of the first one."""

    def call(*args: Any) -> Any:
        found = function(*tree.map_structure(wrapped, args))
        flat = tree.flatten(found)
        shapes.append((found, [x is None for x in flat]))
        return tuple(_tensors(x) for x in flat if x is not None)

    return call


def _unpacked(found: Any, shapes: list[Any]) -> Any:
    nest, absent = shapes[0]
    rest = iter([wrapped(x) for x in found])
    flat = [None if none else next(rest) for none in absent]
    return tree.pack_sequence_as(nest, flat)


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """What one of two functions gives."""
    pred = _tensors(pred)
    if not is_symbolic(pred):
        return true_fn() if np.asarray(pred).all() else false_fn()
    shapes: list[Any] = []
    branches = [_packed(f, shapes) for f in (true_fn, false_fn)]
    from keras_drystone.src.ops.core import cast

    found = control_flow.cond(cast(pred, "bool"), *branches)
    return _unpacked(found if isinstance(found, tuple | list) else (found,), shapes)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """What the function of an index gives; indices beyond are the first or the last."""
    from keras_drystone.src.ops import core, numpy

    index = core.convert_to_tensor(index, "int32")
    index = numpy.clip(index, 0, len(branches) - 1)
    if not is_symbolic(index):
        return branches[int(index)](*operands)
    shapes: list[Any] = []
    made = [_packed(lambda b=b: b(*operands), shapes) for b in branches]
    return _unpacked(control_flow.switch(index, made), shapes)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: int | None = None,
) -> Any:
    """The loop's variables when the condition is false."""
    from keras_drystone.src.ops.core import convert_to_tensor

    is_tuple = isinstance(loop_vars, tuple | list)
    variables = _tensors(tuple(loop_vars) if is_tuple else (loop_vars,))
    limit = np.int32(np.iinfo(np.int32).max if maximum_iterations is None else maximum_iterations)

    def again(k: Any, *rest: Any) -> Any:
        found = _truth(cond(*rest))
        if maximum_iterations is None:
            return found
        return _and(k < limit, found)

    def once(k: Any, *rest: Any) -> Any:
        found = body(*rest)
        found = tuple(found) if isinstance(found, list | tuple) else (found,)
        return (k + np.int32(1), *found)

    found = _looped(again, once, (convert_to_tensor(0, "int32"), *variables))[1:]
    return tuple(found) if is_tuple else found[0]


def _truth(value: Any) -> Any:
    from keras_drystone.src.ops.core import cast

    return cast(value, "bool")


def _and(x: Any, y: Any) -> Any:
    return emit("LogicalAnd", _truth(x), _truth(y))


def _looped(test: Callable[..., Any], body: Callable[..., Any], state: tuple[Any, ...]) -> Any:
    """A loop over a tuple of nests: at once if its test is known, else a ``While``."""
    from drystone_base.tracing.trace import Trace
    from keras_drystone.src.ops.core import cast

    if Trace.active() is None or not (is_symbolic(tree.flatten(state)) or _is_unknown(test, state)):
        while bool(np.asarray(test(*state)).all()):
            state = tuple(_tensors(body(*state)))
            if is_symbolic(tree.flatten(state)) and is_symbolic([test(*state)]):
                break
        else:
            return state
    flat = tree.flatten(state)

    def given(values: Sequence[Any]) -> Any:
        return tree.pack_sequence_as(state, [wrapped(v) for v in values])

    def tested(*values: Any) -> Any:
        return cast(test(*given(values)), "bool")

    def done(*values: Any) -> Any:
        after = tree.flatten(body(*given(values)))
        return tuple(_like(new, old) for new, old in zip(after, flat, strict=True))

    found = control_flow.while_loop(tested, done, tuple(flat))
    return tree.pack_sequence_as(state, [wrapped(v) for v in found])


def _like(new: Any, old: Any) -> Any:
    """A loop's variable in the dtype that it began with."""
    from keras_drystone.src.ops.core import cast

    return new if getattr(new, "dtype", None) == old.dtype else cast(new, old.dtype)


def _is_unknown(test: Callable[..., Any], state: tuple[Any, ...]) -> bool:
    return is_symbolic([test(*state)])


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any) -> Any:
    """``body_fun(i, value)`` for each i."""
    if not is_symbolic([lower, upper, *tree.flatten(init_val)]):
        for i in range(int(lower), int(upper)):
            init_val = body_fun(i, init_val)
        return init_val
    first = _tensors(lower)
    found = while_loop(
        lambda i, _: i < upper, lambda i, v: (i + 1, body_fun(i, v)), (first, init_val)
    )
    return found[1]


def map(f: Callable[..., Any], xs: Any) -> Any:
    """What a function gives for each part along the first axis, stacked."""
    return scan(lambda _, x: ((), f(x)), (), xs)[1]


def vectorized_map(function: Callable[..., Any], elements: Any) -> Any:
    """As ``map``; elements of a list are given together."""
    if isinstance(elements, list | tuple):
        if not elements:
            raise ValueError("`elements` cannot be empty.")
        sizes = [x.shape[0] for x in elements]
        for i, size in enumerate(sizes):
            if size != sizes[0]:
                raise ValueError(
                    "All elements passed to `vectorized_map` must have the same batch size "
                    f"(dimension 0). Element at index 0 has batch size {sizes[0]}, but element "
                    f"at index {i} has batch size {size}."
                )
        elements = list(elements)
    return map(function, elements)


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> Any:
    """``carry, y = f(carry, x)`` along the first axis: the last carry, and the ys stacked."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 1):
        raise ValueError(
            f"`unroll` must be an positive integer or boolean. Received: unroll={unroll}"
        )
    if xs is None and length is None:
        raise ValueError("Got no `xs` to scan over and `length` not provided.")
    from keras_drystone.src.ops import core

    xs, carry = _tensors(xs), _tensors(init)
    flat = [x for x in tree.flatten(xs) if x is not None]
    count = int(length) if length is not None else core.shape(flat[0])[0]
    return folded(f, carry, xs, count, reverse=reverse, unroll=unroll is True)


def folded(
    f: Callable[..., Any],
    carry: Any,
    xs: Any,
    count: Any,
    *,
    reverse: bool = False,
    collect: bool = True,
    unroll: bool = False,
) -> Any:
    """As ``scan``, of tensors; the ys are None unless they are to be collected."""
    known = not is_symbolic([count])
    if known and (unroll or not is_symbolic([*tree.flatten(xs), *tree.flatten(carry)])):
        return _scanned_at_once(f, carry, xs, int(count), reverse, collect)
    return _scanned(f, carry, xs, count, reverse, collect)


def _at(xs: Any, index: Any) -> Any:
    return tree.map_structure(lambda x: None if x is None else x[index], xs)


def _scanned_at_once(f: Any, carry: Any, xs: Any, count: int, reverse: bool, collect: bool) -> Any:
    from keras_drystone.src.ops import numpy

    ys: list[Any] = []
    for i in reversed(range(count)) if reverse else range(count):
        carry, y = f(carry, _at(xs, i))
        if collect:
            ys.append(_zeros_like(carry) if y is None else _tensors(y))
    if reverse:
        ys.reverse()
    if not ys:
        return carry, None
    return carry, tree.map_structure(lambda *parts: numpy.stack(parts), *ys)


def _zeros_like(nest: Any) -> Any:
    from keras_drystone.src.ops import numpy

    return tree.map_structure(numpy.zeros_like, nest)


def _scanned(f: Any, carry: Any, xs: Any, count: Any, reverse: bool, collect: bool) -> Any:
    """By a ``While`` over lists of tensors."""
    from keras_drystone.src.ops import core
    from keras_drystone.src.ops.lists import TensorLists

    count = core.convert_to_tensor(count, "int32")
    first = count - 1 if reverse else core.convert_to_tensor(0, "int32")
    step = np.int32(-1 if reverse else 1)

    def one(carry: Any, i: Any) -> tuple[Any, Any]:
        after, y = f(carry, _at(xs, i))
        return after, _zeros_like(after) if y is None else y

    made = TensorLists.like(lambda: one(carry, first)[1], count) if collect else None

    def test(i: Any, *_: Any) -> Any:
        return i >= 0 if reverse else i < count

    def body(i: Any, carry: Any, lists: Any) -> Any:
        after, y = one(carry, i)
        lists = () if made is None else made.with_item(lists, i, y)
        return i + step, _same(after, carry), lists

    empty = () if made is None else made.empty
    _, carry, lists = _looped(test, body, (first, carry, empty))
    return carry, None if made is None else made.stacked(lists)


def _same(after: Any, before: Any) -> Any:
    return tree.map_structure(_like, after, before)


def associative_scan(
    f: Callable[..., Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Running results of an associative function along an axis, by halves."""
    from keras_drystone.src.ops import core, numpy

    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    flat = [core.convert_to_tensor(x) for x in tree.flatten(elems)]
    sizes = [x.shape[axis] for x in flat]
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "Array inputs to associative_scan must have the same first dimension. "
            f"(saw: {[x.shape for x in flat]})"
        )
    if sizes[0] is None:
        raise ValueError("associative_scan needs a known size of the axis it goes along")
    if reverse:
        flat = [numpy.flip(x, axis) for x in flat]

    def combine(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        found = f(tree.pack_sequence_as(elems, a), tree.pack_sequence_as(elems, b))
        return [core.convert_to_tensor(x) for x in tree.flatten(found)]

    scans = _by_halves(combine, flat, axis)
    if reverse:
        scans = [numpy.flip(x, axis) for x in scans]
    return tree.pack_sequence_as(elems, scans)


def _by_halves(combine: Any, elems: list[Any], axis: int) -> list[Any]:
    from keras.src.backend.common.backend_utils import slice_along_axis as part

    from keras_drystone.src.ops import numpy

    size = elems[0].shape[axis]
    if size < 2:
        return elems
    pairs = combine([part(e, 0, size - 1, 2, axis) for e in elems],
                    [part(e, 1, size, 2, axis) for e in elems])  # fmt: skip
    odd = _by_halves(combine, pairs, axis)
    last = size // 2 if size % 2 else size // 2 - 1
    even = [part(e, 0, 1, 1, axis) for e in elems]
    if size > 2:
        rest = combine([part(o, 0, last, 1, axis) for o in odd],
                       [part(e, 2, size, 2, axis) for e in elems])  # fmt: skip
        even = [numpy.concatenate([a, b], axis) for a, b in zip(even, rest, strict=True)]
    return [_interleaved(a, b, axis) for a, b in zip(even, odd, strict=True)]


def _interleaved(a: Any, b: Any, axis: int) -> Any:
    from keras_drystone.src.ops import numpy

    both = numpy.concatenate([a, b], axis)
    n, m = a.shape[axis], b.shape[axis]
    order = np.argsort(np.concatenate([2 * np.arange(n), 2 * np.arange(m) + 1]), kind="stable")
    return numpy.take(both, order.astype(np.int32), axis)
