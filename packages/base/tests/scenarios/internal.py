"""Ops that TensorFlow's optimizer puts in, tensors that sessions keep, handles."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i32

from drystone_base.graph import Node
from scenarios import Program, scenario
from scenarios._draw import pick

COMPOSED = [
    "Abs", "Atan", "Ceil", "Cos", "Elu", "Exp", "Floor", "Neg", "Relu", "Relu6", "Rint", "Selu",
    "Sigmoid", "Sin", "Square", "Tanh",
]  # fmt: skip


def run(p: Program, op: str, *inputs: Any, **attrs: Any) -> Node:
    """A node of an internal op, named so that TensorFlow imports it."""
    return p(op, *inputs, name=op.removeprefix("_"), **attrs)


@scenario(draws=12)
def composed(p: Program, rng: np.random.Generator) -> None:
    names = [pick(rng, COMPOSED) for _ in range(int(rng.integers(1, 4)))]
    x = f32(rng.normal(0, 2, (2, 3))).astype(pick(rng, ["f4", "f8"]))
    p.step(run(p, "_UnaryOpsComposition", x, op_names=names))


@scenario()
def composed_of_nothing(p: Program) -> None:
    p.step(run(p, "_UnaryOpsComposition", f32([1]), op_names=[]))
    p.step(run(p, "_UnaryOpsComposition", f32([1]), op_names=["Lgamma"]))


@scenario(draws=8)
def hashed_numbers(p: Program, rng: np.random.Generator) -> None:
    x = rng.integers(-100, 100, (2, 3)).astype(pick(rng, ["i1", "i2", "i4", "i8"]))
    p.step(run(p, "_TensorToHashBucketFast", x, num_buckets=int(pick(rng, [1, 7, 1000]))))


@scenario()
def cast_on_the_host(p: Program) -> None:
    p.step(
        run(p, "_HostCast", f32([1.9, -1.9]), DstT="int32"),
        run(p, "_HostCast", i32([2]), DstT="bool"),
    )


@scenario()
def rows_put_together(p: Program) -> None:
    start = run(p, "_ParallelConcatStart", shape=[3, 2], dtype="float32")
    rows = [run(p, "_ParallelConcatUpdate", start, f32([[k, k + 1]]), loc=k) for k in range(3)]
    p.step(p("Identity", rows[0], controls=rows))


@scenario()
def tensors_that_are_not_kept(p: Program) -> None:
    text = p.feed("string")
    fetched = p("GetSessionTensor", text, dtype="float32")
    p.step(fetched, feeds={text: "nothing"})
    p.step(p("DeleteSessionTensor", text), feeds={text: "nothing"})


@scenario()
def handles_that_count(p: Program) -> None:
    named = p("VarHandleOp", dtype="float32", shape=[], shared_name="v")
    p.step(p("IsResourceHandleRefCounting", named))
    weak = p("MakeWeakResourceHandle", named)
    p.step(p("AssignVariableOp", named, f32(4)))
    p.step(p("ReadVariableOp", weak, dtype="float32"), p("IsResourceHandleRefCounting", weak))


@scenario()
def settings(p: Program) -> None:
    p.step(p("IsTensorFloat32Enabled"))
