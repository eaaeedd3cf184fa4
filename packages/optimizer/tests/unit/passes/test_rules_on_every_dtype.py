"""Every rule on every dtype that the ops it is for allow: what it leaves is what ops allow.

Graphs of two ops, of which the second reads the first, are drawn from the index of rules: the op
that a rule is for, one that it wants it to read, a dtype that both have, values that mean something
to rules, and default attributes. Nothing may be warned of, and the result must be what it was.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest
from pass_checks import Maker

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node, validate
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.defs import AttrDef, OpDef, find
from drystone_optimizer import OptimizerConfig, OptimizerWarning, optimize
from drystone_optimizer.passes._late_rules import index

COUNT = 700
VALUES = (0, 1, 2, -1)
_MOVED = ("Axis", "dim", "axis", "perm", "shape", "size", "begin", "multiples", "paddings")


class Undrawable(Exception):
    """There is no such graph."""


def drawn(chance: random.Random) -> tuple[Graph, str]:
    """A graph of two ops, and what it is called."""
    line = chance.choice([line for lines in index().values() for line in lines])
    op = chance.choice(sorted(line.ops - {"*"}) or ["Add"])
    reads = chance.choice(sorted(line.reads) or ["Identity"])
    m, main = Maker(), definition(op)
    dtype = chance.choice(allowed(main.attrs))
    inner: Node | None = None
    if reads != "Const":
        given = definition(reads)
        if dtype not in allowed(given.attrs):
            raise Undrawable
        inner = node(m, "inner", given, dtype, chance, None)
    outer = node(m, "outer", main, dtype, chance, inner)
    m.graph.add("Identity", "y", [outer], attrs={"T": first_type(outer)})
    validate(m.graph)
    return m.graph, f"{op} of {reads}, {dtype}"


def definition(op: str) -> OpDef:
    """The op's definition, if it computes something from tensors of one dtype, ``T``."""
    found = find(op)
    if (
        found is None
        or op in ("Merge", "Switch")
        or found.is_stateful
        or "T" not in found.attrs
        or not found.outputs
    ):
        raise Undrawable
    return found


def allowed(attrs: Any) -> list[DType]:
    """The dtypes of numbers that ``T`` may be."""
    declared: AttrDef = attrs["T"]
    found = declared.allowed or [t for t in map(_dtype, ("float32", "int32", "uint8", "bool")) if t]
    numbers = [
        t for t in found if isinstance(t, DType) and not t.is_object and t.np.kind in "fiubc"
    ]
    if not numbers:
        raise Undrawable
    return numbers


def _dtype(label: str) -> DType:
    from drystone_base.core.dtypes import as_dtype

    return as_dtype(label)


def node(
    m: Maker, name: str, op: OpDef, dtype: DType, chance: random.Random, inner: Node | None
) -> Node:
    """A node of that op; an input of the dtype is ``inner`` if that is given, or values."""
    attrs: dict[str, Any] = {}
    for key, declared in op.attrs.items():
        if key == "T":
            attrs[key] = dtype
        elif declared.type == "int" and not declared.has_default:
            attrs[key] = 2
        elif not declared.has_default:
            raise Undrawable
    inputs: list[Any] = []
    for arg in op.inputs:
        if arg.type_attr not in ("T", None) and arg.type_attr not in attrs:
            kind = op.attrs[arg.type_attr].default
        else:
            kind = arg.type or dtype
        for _ in range(2 if arg.number_attr else 1):
            own = arg.type_attr == "T"
            if own and inner is not None and chance.random() < 0.8:
                inputs.append(inner)
            else:
                inputs.append(value(m, f"{name}{len(inputs)}", kind, own, chance, arg.name))
    return m.graph.add(op.name, name, inputs, attrs=attrs)


def value(m: Maker, name: str, dtype: DType, own: bool, chance: random.Random, arg: str) -> Node:
    """Numbers: a constant, or a feed where it is data."""
    if own and chance.random() < 0.5:
        return m.graph.add("Placeholder", name, attrs={"dtype": dtype, "shape": (2, 2)})
    number = chance.choice(VALUES) if own else 0
    number = abs(number) if dtype.np.kind in "ub" else number
    shape = chance.choice([(2, 2), ()]) if own else ()
    held = TensorAttr(array=np.full(shape, number).astype(dtype.np))
    return m.graph.add("Const", name, attrs={"dtype": dtype, "value": held})


def first_type(one: Node) -> DType:
    """The dtype of a node's output 0."""
    from drystone_base.graph.validate import output_dtypes

    types = output_dtypes(one)
    if not types:
        raise Undrawable
    return types[0]


def feeds_of(graph: Graph) -> dict[str, Any]:
    """Values for the placeholders."""
    return {
        f"{n.name}:0": np.array([[1, 0], [3, 2]]).astype(n.attrs["dtype"].np)
        for n in graph if n.op == "Placeholder"
    }  # fmt: skip


def run(graph: Graph) -> Any:
    """What the graph gives, or the code of its error."""
    config = SessionConfig(executor="reference", optimizer="off")
    try:
        with np.errstate(all="ignore"):
            return Session(graph, config).run("y:0", feeds_of(graph))
    except DrystoneError as error:
        return error.code


@pytest.mark.parametrize("part", range(7))
def test_what_rules_leave_is_what_ops_allow(part: int) -> None:
    done = 0
    for seed in range(part, 10**6, 7):
        if done * 7 >= COUNT:
            break
        try:
            graph, title = drawn(random.Random(seed))
        except (Undrawable, DrystoneError, KeyError):
            continue
        done += 1
        before = run(graph)
        with warnings.catch_warnings():
            warnings.simplefilter("error", OptimizerWarning)
            config = OptimizerConfig(numeric="exact", min_graph_nodes=-1)
            after = optimize(graph, ["y:0"], list(feeds_of(graph)), config)
        validate(after)
        if isinstance(before, str):
            continue  # it cannot run
        found = run(after)
        assert not isinstance(found, str), f"seed {seed}: {title}: {found}"
        np.testing.assert_array_equal(found, before, err_msg=f"seed {seed}: {title}")
