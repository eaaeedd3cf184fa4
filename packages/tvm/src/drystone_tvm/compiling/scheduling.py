"""How a region is computed: what is inlined, what runs in parallel, what in vectors.

Element-wise steps are written into what reads them as long as nothing is computed over and over, so
that they leave no tensor behind. What is left is a loop nest for each reduction and each result.
A reduction sums a block of its result at a time, so that what it reads serves several sums and the
sums stay in registers (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from drystone_tvm.compiling.cuda import bind
from drystone_tvm.compiling.plans import DEFAULT, Plan

__all__ = ["scheduled"]

_LARGEST: Final = 400
"""Nodes of an expression that inlining may make."""
_LANES: Final = (64, 32, 16, 8, 4)
_PARTS: Final = ("a", "b", "value", "body", "condition", "true_value", "false_value")
_PARALLEL: Final = 0  # IterVar.DataPar


class _Facts(NamedTuple):
    """Of a block: the buffer that it writes, how large its expression is, what that calls."""

    buffer: Any
    size: int
    calls: bool
    spatial: bool
    loops: int


def scheduled(function: Any, name: str, plan: Plan = DEFAULT, *, on_gpu: bool = False) -> Any:
    """The module of one function, its loops arranged. The function is used up."""
    import tvm
    from tvm.s_tir import Schedule

    schedule = Schedule(tvm.IRModule({name: function.with_attr("global_symbol", name)}))
    root = schedule.get_sblock("root", func_name=name)
    results = list(function.params)
    for block in list(schedule.get_child_blocks(root)):
        _inline(schedule, block, results, plan)
    for block in schedule.get_child_blocks(root):
        bind(schedule, block) if on_gpu else _arrange(schedule, block, plan)
    return schedule.mod


def _walk(expression: Any) -> Iterator[Any]:
    """An expression and all that it is made of; TVM has no visitor of these for Python."""
    todo = [expression]
    while todo:
        at = todo.pop()
        if isinstance(at, int):  # an index
            continue
        yield at
        if hasattr(at, "indices"):
            todo.extend(at.indices)
        elif hasattr(at, "args"):
            todo.extend(at.args)
        else:
            todo.extend(getattr(at, name) for name in _PARTS if hasattr(at, name))


def _is_costly(expression: Any) -> bool:
    """Whether it is a call of a function, and no choice between two values."""
    name = getattr(getattr(expression, "op", None), "name", "")
    return hasattr(expression, "args") and not name.endswith("if_then_else")


def _facts(block: Any) -> _Facts:
    parts = list(_walk(block.body.value))
    spatial = all(int(v.iter_type) == _PARALLEL for v in block.iter_vars) and block.init is None
    calls = any(map(_is_costly, parts))
    return _Facts(block.body.buffer, len(parts), calls, spatial, len(block.iter_vars))


def _loads(block: Any, buffer: Any = None) -> list[Any]:
    """Where a block reads a buffer, or any."""
    loads = [at for at in _walk(block.body.value) if hasattr(at, "indices")]
    return [at for at in loads if buffer is None or at.source.same_as(buffer)]


def _inline(schedule: Any, block: Any, results: list[Any], plan: Plan) -> None:
    """Write a block into those that read it, where that computes nothing much again."""
    facts = _facts(schedule.get(block))
    if not facts.spatial or any(facts.buffer.same_as(b) for b in results):
        return
    readers = [schedule.get(reader) for reader in schedule.get_consumers(block)]
    loads = [len(_loads(reader, facts.buffer)) for reader in readers]
    again = len(readers) > 1 or any(len(r.iter_vars) > facts.loops for r in readers)
    if again and (facts.calls or facts.size > plan.again):
        return
    if all(count * facts.size <= _LARGEST for count in loads):
        schedule.compute_inline(block)


def _extent(schedule: Any, loop: Any) -> int:
    extent = schedule.get(loop).extent
    return int(extent) if hasattr(extent, "value") else -1


def _arrange(schedule: Any, block: Any, plan: Plan) -> None:
    known = schedule.get(block)
    loops = schedule.get_loops(block)
    kinds = [int(v.iter_type) for v in known.iter_vars]
    if not loops or len(loops) != len(kinds):
        return
    outer = [loop for loop, kind in zip(loops, kinds, strict=True) if kind == _PARALLEL]
    inner = [loop for loop, kind in zip(loops, kinds, strict=True) if kind != _PARALLEL]
    if not outer:
        return
    work = math.prod(abs(k) if k > 0 else 64 for k in (_extent(schedule, loop) for loop in loops))
    lanes = _lanes(schedule, known, outer[-1], plan.lanes)
    count = len(outer)
    if inner and lanes:
        outer = _sum_in_blocks(schedule, outer, inner, lanes, plan)
    elif lanes:
        _, last = schedule.split(outer[-1], [None, lanes])
        schedule.vectorize(last)
    if count > 1 and work >= plan.threads_from:
        schedule.parallel(outer[0])
    if inner and lanes:  # the last: what is decomposed takes no threads any more
        first = schedule.decompose_reduction(block, inner[0])
        schedule.vectorize(schedule.get_loops(first)[-1])


def _sum_in_blocks(
    schedule: Any, outer: list[Any], inner: list[Any], lanes: int, plan: Plan
) -> list[Any]:
    """Sum a block of the result at a time, whole vectors; the loops over blocks."""
    *around, column = outer
    tall = None
    if around:
        around[-1], tall = _split(schedule, around[-1], plan.rows)
    column, last = schedule.split(column, [None, lanes])
    column, wide = _split(schedule, column, plan.columns)
    around.append(column)
    beside = [loop for loop in (tall, wide) if loop is not None]
    schedule.reorder(*around, *inner, *beside, last)
    schedule.vectorize(last)
    for loop in beside:
        schedule.unroll(loop)
    return around


def _split(schedule: Any, loop: Any, count: int) -> tuple[Any, Any]:
    """A loop, and what of it is done at once: ``count`` steps at most, or None for one."""
    extent = _extent(schedule, loop)
    fitting = next((k for k in range(count, 1, -1) if extent > 0 and extent % k == 0), 1)
    if fitting == 1:
        return loop, None
    first, at_once = schedule.split(loop, [None, fitting])
    return first, at_once


def _lanes(schedule: Any, block: Any, loop: Any, most: int) -> int:
    """Of how many elements vectors along a loop are; 0 where reading in steps would be needed."""
    extent = _extent(schedule, loop)
    fitting = (k for k in _LANES if k <= most and extent > 0 and extent % k == 0)
    lanes = next(fitting, 0)
    spatial = [v.var for v in block.iter_vars if int(v.iter_type) == _PARALLEL]
    return lanes if lanes and _is_contiguous(block, spatial[-1]) else 0


def _is_contiguous(block: Any, var: Any) -> bool:
    """Whether neighbours along a variable are read side by side, or are one and the same."""
    for load in _loads(block):
        *before, last = list(load.indices) or [0]
        beside = not _uses(last, var) or last.same_as(var)
        if not beside or any(_uses(index, var) for index in before):
            return False
    return True


def _uses(expression: Any, var: Any) -> bool:
    return any(at.same_as(var) for at in _walk(expression))
