"""Every optimizer update, dense and sparse, by reference and as resource, applied three times."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node
from drystone_base.ops.defs import names, op_def
from scenarios import Program, scenario

DOUBLE = ["float32", "float64"]
SLOTS = """var m v vhat accum accum_update gradient_accumulator gradient_squared_accumulator mg ms
    mom linear""".split()  # noqa: SIM905
POSITIVE = ["v", "vhat", "accum", "accum_update", "gradient_squared_accumulator", "ms"]
RANGES = {
    "lr": (0.01, 0.5),
    "alpha": (0.01, 0.5),
    "l1": (0.0, 0.3),
    "l2": (0.0, 0.3),
    "l2_shrinkage": (0.0, 0.3),
    "lr_power": (-0.9, -0.1),
    "epsilon": (0.01, 0.1),
    "logbase": (0.5, 1.5),
}
# TensorFlow's own: other tests of the process may have made ops known, as Name>Op
UPDATES = [
    op
    for op in names()
    if "Apply" in op and "Accumulator" not in op and op[0] != "_" and ">" not in op
]


def hyper(rng: np.random.Generator, name: str) -> float:
    """A value for a hyper-parameter."""
    low, high = RANGES.get(name, (0.3, 0.95))
    if name == "lr_power" and rng.integers(2):
        return -0.5
    return 0.0 if name in ("l1", "l2") and rng.integers(3) == 0 else float(rng.uniform(low, high))


def slot(rng: np.random.Generator, name: str) -> Any:
    """First values of a variable."""
    value = rng.normal(size=(3, 2))
    return np.abs(value) + 1.2 if name in POSITIVE else value * (0.5 if name == "mg" else 1)


class Update:
    """One update op over variables of its own."""

    def __init__(self, p: Program, op: str, rng: np.random.Generator, dtype: str) -> None:
        self.p, self.op, self.rng, self.dtype = p, op, rng, dtype
        self.np = as_dtype(dtype).np
        self.sparse = "Sparse" in op
        self.resource = op.startswith("Resource")
        self.rows = pick_rows(rng) if self.sparse else 3
        self.slots: list[Node] = []
        self.fed: dict[str, Node] = {}

    def variable(self, name: str) -> Node:
        """A variable, initialised in a step of its own; most of the time."""
        p, first = self.p, slot(self.rng, name).astype(self.np)
        if self.resource:
            v = p("VarHandleOp", dtype=self.dtype, shape=[3, 2], shared_name=name)
            start = p("AssignVariableOp", v, first)
        else:
            v = p("VariableV2", dtype=self.dtype, shape=[3, 2], shared_name=name)
            start = p("Assign", v, first)
        if self.rng.integers(40):
            p.step(start)
        self.slots.append(v)
        return v

    def node(self) -> Node:
        """The update."""
        inputs: list[Any] = []
        for arg in op_def(self.op).inputs:
            if arg.name in SLOTS:
                inputs.append(self.variable(arg.name))
            elif arg.name in ("grad", "delta"):
                inputs.append(self.fed.setdefault("grad", self.p.feed(self.dtype)))
            elif arg.name == "indices":
                inputs.append(self.fed.setdefault("indices", self.p.feed("int32")))
            elif arg.name == "global_step":
                inputs.append(np.int64(self.rng.integers(1, 5)))
            else:
                inputs.append(np.asarray(hyper(self.rng, arg.name), self.np))
        bools = [k for k, a in op_def(self.op).attrs.items() if a.type == "bool"]
        flags: dict[str, Any] = {k: bool(self.rng.integers(2)) for k in bools}
        return self.p(self.op, *inputs, **flags)

    def read(self) -> list[Node]:
        """What reads the variables."""
        if not self.resource:
            return self.slots
        return [self.p("ReadVariableOp", v, dtype=self.dtype) for v in self.slots]

    def feeds(self, off: bool) -> dict[Node, Any]:
        """A gradient."""
        given: dict[Node, Any] = {
            self.fed["grad"]: self.rng.normal(size=(self.rows, 2)).astype(self.np)
        }
        if self.sparse:
            rows = self.rng.permutation(3)[: self.rows] + (3 if off else 0)
            given[self.fed["indices"]] = rows.astype(np.int32)
        elif off:
            given[self.fed["grad"]] = np.ones((2, 2), self.np)
        return given


def pick_rows(rng: np.random.Generator) -> int:
    """How many rows a sparse gradient has."""
    return int(rng.integers(0, 4))


def update(op: str, p: Program, rng: np.random.Generator, dtype: str) -> None:
    """Init, three updates, one that is refused or not."""
    made = Update(p, op, rng, dtype)
    node = made.node()
    reads = made.read()
    for _ in range(3):
        p.step(node, feeds=made.feeds(off=False))
    p.step(*reads)
    if rng.integers(4) == 0:
        p.step(node, feeds=made.feeds(off=True))


def dtypes(op: str) -> list[str]:
    """Dtypes that TensorFlow's CPU has a kernel for; AddSign and the like know no complex ones."""
    if "AdaMax" in op:
        return [*DOUBLE, "float16"]
    if "AdagradDA" in op or "Proximal" in op:
        return DOUBLE
    if "Sparse" in op and "RMSProp" in op:
        return [*DOUBLE, "float16", "complex64"]
    ordered = any(part in op for part in ("Sign", "Ftrl", "Amsgrad"))
    return [*DOUBLE, "float16", "bfloat16", *([] if ordered else ["complex64"])]


def register(op: str) -> None:
    """Draws over all dtypes."""

    kinds = dtypes(op)

    def build(p: Program, rng: np.random.Generator) -> None:
        update(op, p, rng, kinds[int(rng.integers(len(kinds)))])

    build.__name__ = op
    scenario(draws=8, tol=4.0)(build)


for _op in UPDATES:
    register(_op)
