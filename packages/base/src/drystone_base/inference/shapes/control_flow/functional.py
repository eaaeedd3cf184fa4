"""Shapes of ops that call functions: inferred through the functions' bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone_base.inference.shapes._registry import (
    UNKNOWN,
    Handle,
    PartialValue,
    Shape,
    ShapeCall,
    shape,
)
from drystone_base.ops.truth import truth

_MAX_ROUNDS = 8


def _infer(
    c: ShapeCall,
    function: Any,
    shapes: Sequence[Shape],
    values: Sequence[Any],
    handles: Sequence[Handle | None],
) -> tuple[list[Shape], list[Any], list[Handle | None]]:
    """Shapes, values and handles of the function's outputs; all unknown without a library."""
    if c.infer_function is None:
        n = c.output_count
        return [None] * n, [None] * n, [None] * n
    return c.infer_function(function, shapes, values, handles)


def _set_outputs(
    c: ShapeCall, result: tuple[list[Shape], list[Any], list[Handle | None]]
) -> list[Shape]:
    """Keep values and handles on the call; shapes the op's own attribute refines are refined."""
    shapes, values, handles = result
    if len(shapes) != c.output_count:
        c.fail(
            "the function must return as many values as the node has outputs",
            found=len(shapes),
            needed=c.output_count,
        )
    c.output_values, c.output_handles = list(values), list(handles)
    return list(shapes)


def widen(a: Shape, b: Shape) -> Shape:
    """The most specific shape that admits both."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else UNKNOWN for x, y in zip(a, b, strict=True))


def widen_handle(a: Handle | None, b: Handle | None) -> Handle | None:
    """What is known of a handle that may be either."""
    if a is None or b is None or a[0] is not b[0]:
        return None
    return a[0], widen(a[1], b[1])


def same_value(a: Any, b: Any) -> Any:
    """What both agree on: the same array, a partial value of the common elements, or None."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        same = a.dtype == b.dtype and a.shape == b.shape and bool(np.all(a == b))
        return a if same else None
    if isinstance(a, PartialValue) and isinstance(b, PartialValue) and a.shape == b.shape:
        pairs = list(
            zip(zip(a.items, a.known, strict=True), zip(b.items, b.known, strict=True), strict=True)
        )
        items = [x[0] if x == y else UNKNOWN for x, y in pairs]
        return PartialValue(a.shape, items, [x == y and x[1] for x, y in pairs])
    return None


def _branches(c: ShapeCall, functions: Sequence[Any]) -> list[Shape]:
    """What holds for every branch; the declared ``output_shapes`` refine it."""
    results = [_infer(c, f, c.shapes[1:], c.values[1:], c.handles[1:]) for f in functions]
    shapes, values, handles = (list(part) for part in results[0])
    for other_shapes, other_values, other_handles in results[1:]:
        c.note_varying(shapes, other_shapes)
        shapes = [widen(a, b) for a, b in zip(shapes, other_shapes, strict=True)]
        values = [same_value(a, b) for a, b in zip(values, other_values, strict=True)]
        handles = [widen_handle(a, b) for a, b in zip(handles, other_handles, strict=True)]
    return _refine(c, _set_outputs(c, (shapes, values, handles)))


def _refine(c: ShapeCall, shapes: list[Shape]) -> list[Shape]:
    """Inferred shapes, made more specific by ``output_shapes`` where that does not contradict."""
    declared = c.attrs.get("output_shapes") or []
    if len(declared) != len(shapes):
        return shapes
    return [_refined(a, b) for a, b in zip(shapes, declared, strict=True)]


def _refined(inferred: Shape, declared: Shape) -> Shape:
    if inferred is None or declared is None:
        return declared if inferred is None else inferred
    if len(inferred) != len(declared):
        return inferred
    return tuple(b if a < 0 <= b else a for a, b in zip(inferred, declared, strict=True))


@shape("If", "StatelessIf", "_If")
def if_(c: ShapeCall) -> list[Shape]:
    """The branch taken when the condition is known, else what both branches share."""
    then, other = c.attrs["then_branch"], c.attrs["else_branch"]
    cond = c.value(0)
    taken = [then, other] if cond is None else [then if truth(cond) else other]
    return _branches(c, taken)


@shape("Case", "StatelessCase")
def case(c: ShapeCall) -> list[Shape]:
    """The branch taken when the index is known, else what all branches share."""
    branches = c.attrs["branches"]
    index = c.int_value(0)
    if index is not None:
        return _branches(c, [branches[index if 0 <= index < len(branches) else -1]])
    return _branches(c, branches)


def _fixed_point(
    c: ShapeCall, body: Any, before: int, shapes: list[Shape], values: list[Any]
) -> list[Shape]:
    """Shapes of loop variables that hold before and after any number of steps.

    ``before`` leading arguments (a counter) are unknown scalars. Values that the body changes
    become unknown; a variable that does not settle in a few rounds becomes wholly unknown.
    """
    handles: list[Handle | None] = list(c.handles[len(c.shapes) - len(shapes) :])
    lead: list[Shape] = [()] * before
    for step in range(_MAX_ROUNDS):
        new_shapes, new_values, new_handles = _infer(
            c, body, lead + shapes, [None] * before + values, [None] * before + handles
        )
        if len(new_shapes) != len(shapes):
            return _set_outputs(c, (new_shapes, new_values, new_handles))
        c.note_varying(shapes, new_shapes)
        wider = [widen(a, b) for a, b in zip(shapes, new_shapes, strict=True)]
        if step == _MAX_ROUNDS - 2:
            wider = [a if a == b else None for a, b in zip(shapes, wider, strict=True)]
        kept = [same_value(a, b) for a, b in zip(values, new_values, strict=True)]
        joined = [widen_handle(a, b) for a, b in zip(handles, new_handles, strict=True)]
        settled = all(_unchanged(a, b) for a, b in zip(values, kept, strict=True))
        if wider == shapes and joined == handles and settled:
            break
        shapes, values, handles = wider, kept, joined
    return _refine(c, _set_outputs(c, (shapes, values, handles)))


def _unchanged(before: Any, after: Any) -> bool:
    """Whether a round left what is known of a value as it was."""
    return before is after or (isinstance(before, PartialValue) and before == after)


@shape("While", "StatelessWhile", "_While")
def while_(c: ShapeCall) -> list[Shape]:
    """The fixed point of the body's shapes, from the inputs' shapes on."""
    return _fixed_point(c, c.attrs["body"], 0, list(c.shapes), list(c.values))


@shape("For")
def for_(c: ShapeCall) -> list[Shape]:
    """As for While; the body takes a counter first."""
    for k in range(3):
        c.with_rank(c.shape(k), 0)
    return _fixed_point(c, c.attrs["body"], 1, list(c.shapes[3:]), list(c.values[3:]))


@shape("PartitionedCall", "StatefulPartitionedCall")
def partitioned_call(c: ShapeCall) -> list[Shape]:
    """The function's output shapes."""
    return _set_outputs(c, _infer(c, c.attrs["f"], c.shapes, c.values, c.handles))


@shape("RemoteCall")
def remote_call(c: ShapeCall) -> list[Shape]:
    """The function's output shapes."""
    return _set_outputs(c, _infer(c, c.attrs["f"], c.shapes[1:], c.values[1:], c.handles[1:]))


@shape("MapDefun")
def map_defun(c: ShapeCall) -> list[Shape]:
    """The declared shapes, below the number of rows that all arguments have."""
    rows = UNKNOWN
    for k in range(len(c.attrs["Targuments"])):
        given = c.shape(k)
        if given is not None:
            rows = c.merge_dim(rows, _first(c, given))
    return [None if s is None else (rows, *s) for s in c.attrs["output_shapes"]]


def _first(c: ShapeCall, given: tuple[int, ...]) -> int:
    c.with_rank_at_least(given, 1)
    return given[0]


@shape("SymbolicGradient")
def symbolic_gradient(c: ShapeCall) -> list[Shape]:
    """Each gradient has the shape of its argument."""
    if len(c.shapes) < c.output_count:
        c.fail(
            "there must be an argument for each gradient",
            found=len(c.shapes),
            needed=c.output_count,
        )
    return list(c.shapes[: c.output_count])


@shape("FakeParam")
def fake_param(c: ShapeCall) -> list[Shape]:
    """The declared shape."""
    return [c.attrs["shape"]]


@shape("DeviceIndex")
def device_index(c: ShapeCall) -> list[Shape]:  # noqa: ARG001 — the registry's signature
    """A scalar."""
    return [()]
