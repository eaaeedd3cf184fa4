"""Random training steps: variables, a loss, its gradient by hand, and rules that apply it."""

from __future__ import annotations

from typing import Any

import numpy as np
from random_drawing import Drawing
from random_programs import Program

from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Output

__all__ = ["draw_training"]

F: dict[str, Any] = {"T": FLOAT32}
_UNARY = ("Tanh", "Neg", "Identity", "Relu", "Square")
_STEPS = 3


class Training(Drawing):
    """A step of a linear model of a few variables, some of them resources."""

    def __init__(self, rng: np.random.Generator, plain: bool) -> None:
        super().__init__(rng)
        self.plain = plain
        self.rows, self.width = (int(rng.integers(1, 4)) for _ in range(2))
        self.inits: list[str] = []
        self.reads: list[str] = []
        self.updates: list[str] = []

    def variable(self, name: str, value: Any, resource: bool) -> tuple[Output, Output]:
        """A variable, and a read of it; it is set by a node that runs first."""
        m, begin = self.m, self.m.const(f"{name}/begin", value)
        named = {"shape": value.shape, "shared_name": name, "container": ""}
        self.inits.append(f"{name}/init")
        self.reads.append(f"{name}/read:0")
        if resource:
            handle = m.op("VarHandleOp", name, dtype=FLOAT32, **named)
            m.op("AssignVariableOp", f"{name}/init", handle, begin, dtype=FLOAT32)
            return handle, m.op("ReadVariableOp", f"{name}/read", handle, dtype=FLOAT32)
        held = m.op("VariableV2", name, dtype=FLOAT32, **named)
        m.op("Assign", f"{name}/init", held, begin, **F)
        return held, m.op("Identity", f"{name}/read", held, **F)

    def step(self, k: int, x: Output) -> None:
        """One variable: what the model makes of it, the error, the gradient, the update."""
        m, resource = self.m, self.chance(0.5)
        variable, read = self.variable(f"v{k}", self.numbers(self.width, 2), resource)
        made = m.op("MatMul", f"product_{k}", x, read, **F)
        for j in range(int(self.rng.integers(3))):
            kind = self.one_of(_UNARY)
            made = m.op(kind, f"act_{k}_{j}", made, **F)
        wanted = m.const(f"wanted_{k}", self.numbers(self.rows, 2))
        error = m.op("Sub", f"error_{k}", made, wanted, **F)
        gradient = m.op("MatMul", f"gradient_{k}", x, error, transpose_a=True, **F)
        self.apply(k, variable, gradient, resource)

    def apply(self, k: int, variable: Output, gradient: Output, resource: bool) -> None:
        """The update, by a rule; with the plain one a step in replicas is the same step."""
        rate = self.m.const(f"rate_{k}", np.float32(0.05))
        prefix = "Resource" if resource else ""
        before = self.updates[-1:] if self.chance(0.1) else []
        inputs = [variable]
        if self.plain or self.chance(0.5):
            rule, inputs = "GradientDescent", [variable, rate, gradient]
        else:
            slot, _ = self.variable(f"v{k}/slot", np.zeros((self.width, 2), np.float32), resource)
            momentum = self.m.const(f"momentum_{k}", np.float32(0.9))
            rule, inputs = "Momentum", [variable, slot, rate, gradient, momentum]
        self.updates.append(f"update_{k}")
        self.m.op(f"{prefix}Apply{rule}", f"update_{k}", *inputs, controls=before, **F)


def draw_training(seed: int, plain: bool) -> Program:
    """Set all, some steps, and what the variables are then; ``plain``: by gradients alone."""
    rng = np.random.default_rng(seed)
    made = Training(rng, plain)
    x = made.m.x(shape=(-1 if made.chance(0.3) else made.rows, made.width))
    for k in range(int(rng.integers(1, 4))):
        made.step(k, x)
    made.m.op("NoOp", "train", controls=made.updates)
    program = Program(seed, made.m.graph, inexact=set(made.reads))
    program.runs.append((made.inits, {}))
    feeds = [{"x:0": made.numbers(made.rows, made.width)} for _ in range(_STEPS)]
    program.runs += [(["train"], fed) for fed in feeds]
    program.runs.append((sorted(made.reads), {}))
    return program
