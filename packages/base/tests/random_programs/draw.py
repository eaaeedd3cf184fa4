"""A program of a seed: its graph, and what is run one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drystone_base.graph import Graph, output_name
from random_programs import frames, functions, numbers, state
from random_programs.scope import EVERY, SHAPES, Scope, Shared, Value, sample

__all__ = ["Program", "draw"]

PIECES = (*numbers.PIECES, *frames.PIECES, *functions.PIECES, *state.PIECES, *[state.failure] * 2)


@dataclass
class Program:
    """``runs``: fetches and feeds, in order, of one session."""

    seed: int
    graph: Graph
    runs: list[tuple[list[str], dict[str, Any]]] = field(default_factory=list)
    inexact: set[str] = field(default_factory=set)


def draw(seed: int, size: int = 14) -> Program:
    """The program of a seed, with up to ``size`` pieces; with less, it has the first of them."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    shared = Shared(graph, PIECES, failing=bool(rng.random() < 0.7))
    scope = Scope(rng, graph, shared)
    count = 1 + int(rng.integers(14))
    feeds = {}
    for k in range(int(rng.integers(1, 4))):
        dtype, shape = scope.one_of(EVERY), scope.one_of(SHAPES)
        node = graph.add("Placeholder", f"x{k}", attrs={"dtype": dtype, "shape": None})
        feeds[output_name((node, 0))] = sample(rng, dtype, shape)
        scope.put(node, dtype, shape)
    scope.fill(min(size, count))
    program = Program(seed, graph)
    program.inexact = {output_name(v.output) for v in scope.values if v.last}
    if shared.inits:
        program.runs.append(([node.name for node in shared.inits], {}))
    for k in range(3):
        program.runs.append(_run(scope, feeds, middle=k == 2))
    return program


def _run(scope: Scope, feeds: dict[str, Any], *, middle: bool) -> tuple[list[str], dict[str, Any]]:
    """Some of the values, and some nodes of which there is nothing to fetch."""
    picked = [scope.one_of(scope.values) for _ in range(1 + scope.below(6))]
    names = [output_name(v.output) for v in [*picked, scope.values[-1]]]
    users = [node for used in scope.users.values() for node in used]
    others = [node.name for node in users if node.op in _NO_OUTPUT]
    if others and scope.chance(0.5):
        names.append(scope.one_of(others))
    given = dict(feeds)
    if middle:
        value = scope.one_of(scope.values)
        other = _in_place_of(scope, value)
        if value.output[0].op != "Switch":  # else a Merge may have two inputs alive
            given[output_name(value.output)] = other
    return names, given


def _in_place_of(scope: Scope, value: Value) -> Any:
    shape = value.shape if value.shape is not None else scope.one_of(SHAPES)
    return sample(scope.rng, value.dtype, shape)


_NO_OUTPUT = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "QueueEnqueueV2")
