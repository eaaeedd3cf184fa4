"""Pieces of programs that have state: variables, queues, stacks, tables, lists, random numbers."""

from __future__ import annotations

import numpy as np

from drystone_base.core.dtypes import FLOAT32, INT32, INT64, STRING, VARIANT
from drystone_base.graph import Node
from random_programs.scope import EVERY, NUMBERS, Scope, Value, sample

__all__ = ["PIECES", "failure"]


def variable(scope: Scope) -> None:
    """A resource variable: a new one in the graph itself, anywhere else one that is there."""
    if scope.depth == 0 and (not scope.resources or scope.chance(0.4)):
        _new_variable(scope)
    if not scope.resources:
        return
    name = scope.one_of(sorted(scope.resources))
    held = scope.resources[name]
    handle, kind = held.output, scope.below(4)
    value = scope.having(lambda v: v.dtype is held.dtype and v.shape == held.shape)
    if kind == 0 and value is not None:
        scope.touch(name, "AssignVariableOp", handle, value, dtype=held.dtype)
    elif kind in (1, 2) and held.dtype in NUMBERS:
        op = scope.one_of(("AssignAddVariableOp", "AssignSubVariableOp"))
        one = scope.constant(np.ones(held.shape or ()), held.dtype)
        scope.touch(name, op, handle, value or one, dtype=held.dtype)
    node = scope.touch(name, "ReadVariableOp", handle, dtype=held.dtype)
    scope.put(node, held.dtype, held.shape)


def _new_variable(scope: Scope) -> None:
    name, start = scope.new_name("v"), scope.fresh()
    handle = scope.node("VarHandleOp", dtype=start.dtype, shape=start.shape, shared_name=name)
    init = scope.node("AssignVariableOp", (handle, 0), start, dtype=start.dtype)
    scope.shared.inits.append(init)
    scope.resources[name] = Value((handle, 0), start.dtype, start.shape)


def ref_variable(scope: Scope) -> None:
    """A variable of references, changed and read, in this order."""
    if scope.depth:
        return
    name = scope.new_name("r")
    start = scope.fresh(scope.one_of((FLOAT32, INT32, INT64)))
    kind, shape = start.dtype, start.shape
    ref = scope.node("VariableV2", dtype=kind, shape=shape, shared_name=name)
    scope.shared.inits.append(scope.node("Assign", (ref, 0), start, T=kind, validate_shape=True))
    for _ in range(1 + scope.below(3)):
        value = scope.of(kind, shape=shape)
        op = scope.one_of(("Assign", "AssignAdd", "AssignSub"))
        changed = scope.touch(name, op, (ref, 0), value, T=kind)
        if scope.chance(0.5):
            read = scope.touch(name, "AddV2", (changed, 0), value, T=kind)
        else:
            read = scope.touch(name, "Identity", (ref, 0), T=kind)
        scope.put(read, kind, shape)


def queue(scope: Scope) -> None:
    """A queue: in, and out again."""
    if scope.depth:
        return
    name, a, b = scope.new_name("q"), scope.any(), scope.any()
    types = [a.dtype, b.dtype]
    handle = (scope.node("FIFOQueueV2", component_types=types, shared_name=name, capacity=-1), 0)
    full = [scope.touch(name, "QueueEnqueueV2", handle, a, b, Tcomponents=types)
            for _ in range(1 + scope.below(2))]  # fmt: skip
    size = scope.touch(name, "QueueSizeV2", handle)
    scope.put(size, INT32, ())
    waits = [*scope.use(name), *full]  # also where the size is fed
    out = scope.node("QueueDequeueV2", handle, controls=waits, component_types=types)
    scope.used([name], out)
    scope.put(out, a.dtype, a.shape)
    scope.put(out, b.dtype, b.shape, index=1)


def stack(scope: Scope) -> None:
    """A stack of a run: pushed twice, popped twice."""
    name, a = scope.new_name("s"), scope.any()
    made = scope.node("StackV2", scope.constant(-1, INT32), elem_type=a.dtype, stack_name=name)
    handle = (made, 0)
    b = scope.having(lambda v: v.dtype is a.dtype) or a
    for value in (a, b):
        scope.touch(name, "StackPushV2", handle, value, T=a.dtype)
    for value in (b, a):
        out = scope.touch(name, "StackPopV2", handle, elem_type=a.dtype)
        scope.put(out, a.dtype, value.shape)


def table(scope: Scope) -> None:
    """A table that remembers from run to run."""
    if scope.depth:
        return
    name, keys = scope.new_name("t"), scope.of(STRING)
    value = scope.fresh(INT64, keys.shape) if keys.shape is not None else None
    if value is None:
        return
    made = scope.node("MutableHashTableV2", key_dtype=STRING, value_dtype=INT64, shared_name=name)
    handle, types = (made, 0), {"Tin": STRING, "Tout": INT64}
    default = scope.constant(-1, INT64)
    before = scope.touch(name, "LookupTableFindV2", handle, keys, default, **types)
    scope.put(before, INT64, keys.shape)
    if scope.chance(0.7):
        distinct = scope.constant(sample(scope.rng, STRING, ()), STRING)
        scope.touch(
            name, "LookupTableInsertV2", handle, distinct, scope.constant(5, INT64), **types
        )
    scope.put(scope.touch(name, "LookupTableSizeV2", handle), INT64, ())


def tensor_list(scope: Scope) -> None:
    """A list in a variant: pushed, popped, stacked."""
    a = scope.having(lambda v: v.dtype in EVERY and v.shape is not None) or scope.fresh()
    shape = scope.constant([-1] if a.shape is None else a.shape, INT32)
    node = scope.node("EmptyTensorList", shape, scope.constant(-1, INT32), element_dtype=a.dtype,
                      shape_type=INT32)  # fmt: skip
    value = Value((node, 0), VARIANT, ())
    for _ in range(1 + scope.below(3)):
        b = scope.having(lambda v: v.dtype is a.dtype and v.shape == a.shape) or a
        node = scope.node("TensorListPushBack", value, b, element_dtype=a.dtype)
        value = Value((node, 0), VARIANT, ())
    scope.put(scope.node("TensorListLength", value), INT32, ())
    if scope.chance(0.5):
        popped = scope.node("TensorListPopBack", value, shape, element_dtype=a.dtype)
        scope.put(popped, a.dtype, a.shape, index=1)
        value = Value((popped, 0), VARIANT, ())
    stacked = scope.node("TensorListStack", value, shape, element_dtype=a.dtype)
    scope.put(stacked, a.dtype, None)


def chance(scope: Scope) -> None:
    """Random numbers: a stream of the node's, or of a key."""
    shape = scope.constant(scope.one_of(((), (3,), (2, 3))), INT32)
    size = (3,) if scope.chance(0.5) else ()
    shape = scope.constant(size, INT32)
    if scope.chance(0.5):
        seeds = {"seed": 1 + scope.below(9), "seed2": 1 + scope.below(9)}
        node = scope.node("RandomUniform", shape, T=INT32, dtype=FLOAT32, **seeds)
    else:
        seed = scope.constant([scope.below(9), 7], INT32)
        node = scope.node("StatelessRandomUniform", shape, seed, T=INT32, dtype=FLOAT32,
                          Tseed=INT32)  # fmt: skip
    scope.put(node, FLOAT32, size)


# ---- what fails ------------------------------------------------------------------------------


def failure(scope: Scope) -> None:
    """A node that fails where it runs; one in a program."""
    if scope.shared.failing:
        return
    scope.shared.failing = True
    node, dtype = scope.one_of(_FAILURES)(scope)
    scope.put(node, dtype, None)
    if scope.depth:
        scope.used(["failure"], node)  # the function, branch or loop waits for it


def _reshape(scope: Scope) -> tuple[Node, object]:
    a = scope.of(FLOAT32, shape=(3,))
    to = scope.constant([2, 2], INT32)
    return scope.node("Reshape", a, to, T=FLOAT32, Tshape=INT32), FLOAT32


def _gather(scope: Scope) -> tuple[Node, object]:
    a, at = scope.of(FLOAT32, shape=(3,)), scope.constant([0, 3], INT32)
    attrs = {"Tparams": FLOAT32, "Tindices": INT32, "Taxis": INT32}
    return scope.node("GatherV2", a, at, scope.constant(0, INT32), **attrs), FLOAT32


def _matmul(scope: Scope) -> tuple[Node, object]:
    a = scope.of(FLOAT32, shape=(2, 3))
    return scope.node("MatMul", a, a, T=FLOAT32), FLOAT32


def _assert(scope: Scope) -> tuple[Node, object]:
    a = scope.any()
    never = scope.node("Less", a, a, T=a.dtype) if a.dtype in (FLOAT32, INT32) else None
    wrong = scope.constant([1, 1], INT32)
    if never is None or a.shape != ():
        return scope.node("InvertPermutation", wrong, T=INT32), INT32
    check = scope.node("Assert", (never, 0), a, T=[a.dtype])
    return scope.node("Identity", a, controls=[check], T=a.dtype), a.dtype


def _number(scope: Scope) -> tuple[Node, object]:
    word = scope.constant(b"word", STRING)
    return scope.node("StringToNumber", word, out_type=FLOAT32), FLOAT32


def _division(scope: Scope) -> tuple[Node, object]:
    a = scope.of(INT32, shape=(3,))
    return scope.node("FloorDiv", a, scope.constant(0, INT32), T=INT32), INT32


def _pop(scope: Scope) -> tuple[Node, object]:
    most = scope.constant(-1, INT32)
    made = scope.node("StackV2", most, elem_type=FLOAT32, stack_name=scope.new_name("s"))
    return scope.node("StackPopV2", (made, 0), elem_type=FLOAT32), FLOAT32


def _unset(scope: Scope) -> tuple[Node, object]:
    made = scope.node("VarHandleOp", dtype=FLOAT32, shape=(), shared_name=scope.new_name("u"))
    return scope.node("ReadVariableOp", (made, 0), dtype=FLOAT32), FLOAT32


_FAILURES = (_reshape, _gather, _matmul, _assert, _number, _division, _pop, _unset)
PIECES = (variable, variable, variable, ref_variable, queue, stack, table, tensor_list, chance)
