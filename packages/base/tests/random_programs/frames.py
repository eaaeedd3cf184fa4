"""Control flow of the first form: Switch and Merge, loops of frames, dead tensors."""

from __future__ import annotations

from drystone_base.core.dtypes import FLOAT32, INT32, RESOURCE
from drystone_base.graph import Node
from random_programs.scope import Scope, Value

__all__ = ["PIECES"]

MOST_DEPTH = 3


def branch(scope: Scope) -> None:
    """Two sides of a Switch, whatever they do, and the Merge of their results."""
    if scope.depth >= MOST_DEPTH:
        return
    choice = scope.predicate()
    carried = [scope.any() for _ in range(1 + scope.below(2))]
    waits = scope.every_user()  # all that is inside needs the first Switch
    switches = [scope.node("Switch", v, choice, controls=waits, T=v.dtype) for v in carried]
    handles = {
        name: scope.node("Switch", held.output, choice, T=RESOURCE)
        for name, held in scope.resources.items()
    }
    sides = []
    for side in (0, 1):
        pivot = scope.node("Identity", (switches[0], side), T=carried[0].dtype)
        inner = scope.inside(scope.graph, pivot)
        for node, value in zip(switches, carried, strict=True):
            inner.put(node, value.dtype, value.shape, index=side)
        for name, node in handles.items():
            inner.resources[name] = scope.resources[name]._replace(output=(node, side))
        inner.fill(inner.below(4))
        result = inner.having(lambda v: v.dtype is carried[0].dtype and v.shape == carried[0].shape)
        sides.append((inner.finish(result or inner.values[0]), 0))
    merge = scope.node("Merge", *sides, T=carried[0].dtype, N=2)
    scope.put(merge, carried[0].dtype, carried[0].shape)
    scope.put(merge, INT32, (), index=1)
    scope.used(handles, merge)
    if scope.chance(0.05):  # and a tensor that is dead or not
        scope.put(switches[0], carried[0].dtype, carried[0].shape, index=scope.below(2))


class Frame:
    """A loop of frames while it is drawn."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.name = scope.new_name("frame")
        self.parallel = 1 + scope.below(10)
        self.carried = [scope.any() for _ in range(1 + scope.below(2))]
        self.merges: list[Node] = []

    def enter(self, value: Value, *, constant: bool = False) -> Node:
        """The value in the frame."""
        return self.scope.node(
            "Enter", value, controls=self.scope.every_user(), T=value.dtype, frame_name=self.name,
            is_constant=constant, parallel_iterations=self.parallel,
        )  # fmt: skip

    def variable(self, value: Value) -> Node:
        """A Merge whose second input is to come."""
        entered = self.enter(value)
        attrs = {"T": value.dtype, "N": 2}
        graph, name = self.scope.graph, self.scope.new_name("Merge")
        return graph.add("Merge", name, [(entered, 0)] * 2, attrs=attrs)

    def gate(
        self, merges: list[Node], values: list[Value], limit: Node
    ) -> tuple[list[Node], Node, Scope]:
        """Go on while the first value is below ``limit``: switches, the count, the body's scope."""
        scope = self.scope
        less = scope.graph.add(
            "Less", scope.new_name("Less"), [(merges[0], 0), (limit, 0)], attrs={"T": INT32}
        )
        test = scope.node("LoopCond", (less, 0))
        switches = [
            scope.node("Switch", (m, 0), (test, 0), T=v.dtype)
            for m, v in zip(merges, values, strict=True)
        ]
        pivot = scope.node("Identity", (switches[0], 1), T=INT32)
        return switches, pivot, scope.inside(scope.graph, pivot)

    def back(self, merge: Node, value: Value, inner: Scope) -> None:
        """The value goes into the next iteration, once this one has done all it does."""
        node = self.scope.node("NextIteration", (inner.finish(value), 0), T=value.dtype)
        self.scope.graph.set_input(merge, 1, (node, 0))


def loop(scope: Scope) -> None:
    """A counted loop of frames."""
    if scope.depth >= MOST_DEPTH:
        return
    frame = Frame(scope)
    zero, bound = scope.constant(0, INT32), scope.constant(scope.below(4), INT32)
    values = [zero, *frame.carried]
    merges = [frame.variable(v) for v in values]
    limit = frame.enter(bound, constant=True)
    fixed = scope.any()
    entered = frame.enter(fixed, constant=True)
    handles = {}
    for name, held in scope.resources.items():
        handles[name] = frame.enter(held._replace(dtype=RESOURCE), constant=True)
    switches, pivot, inner = frame.gate(merges, values, limit)
    for node, value in zip(switches[1:], frame.carried, strict=True):
        inner.put(node, value.dtype, value.shape, index=1)
    here = scope.node("Identity", (entered, 0), controls=[pivot], T=fixed.dtype)
    inner.put(here, fixed.dtype, fixed.shape)  # in the iterations that the loop makes
    inner.put(pivot, INT32, ())
    for name, node in handles.items():
        inner.resources[name] = scope.resources[name]._replace(output=(node, 0))
    inner.fill(inner.below(4))
    more = inner.node("AddV2", (pivot, 0), inner.constant(1, INT32), T=INT32)
    frame.back(merges[0], Value((more, 0), INT32, ()), inner)
    for k, value in enumerate(frame.carried):
        found = inner.having(lambda v, w=value: v.dtype is w.dtype and v.shape == w.shape)  # type: ignore[misc]
        frame.back(merges[1 + k], found or inner.values[k], inner)
    exits = [scope.node("Exit", (s, 0), T=v.dtype)
             for s, v in zip(switches, values, strict=True)]  # fmt: skip
    for node, value in zip(exits, values, strict=True):
        scope.put(node, value.dtype, value.shape)
    scope.used(handles, exits[0])


def written(scope: Scope) -> None:
    """A TensorArray that is written in a loop of frames and gathered after it."""
    if scope.depth >= MOST_DEPTH:
        return
    frame = Frame(scope)
    value = scope.of(FLOAT32, shape=(3,))
    steps = scope.below(4)
    array = scope.node("TensorArrayV3", scope.constant(steps, INT32), dtype=FLOAT32,
                       dynamic_size=scope.chance(0.5), clear_after_read=False)  # fmt: skip
    flow = Value((array, 1), FLOAT32, ())
    handle = frame.enter(Value((array, 0), RESOURCE, ()), constant=True)
    limit = frame.enter(scope.constant(steps, INT32), constant=True)
    item = frame.enter(value, constant=True)
    values = [scope.constant(0, INT32), flow]
    merges = [frame.variable(v) for v in values]
    switches, pivot, inner = frame.gate(merges, values, limit)
    put = inner.node("TensorArrayWriteV3", (handle, 0), (pivot, 0), (item, 0), (switches[1], 1),
                     T=FLOAT32)  # fmt: skip
    more = inner.node("AddV2", (pivot, 0), inner.constant(1, INT32), T=INT32)
    frame.back(merges[0], Value((more, 0), INT32, ()), inner)
    frame.back(merges[1], Value((put, 0), FLOAT32, ()), inner)
    done = scope.node("Exit", (switches[1], 0), T=FLOAT32)
    wanted = scope.constant(range(steps), INT32)
    node = scope.node("TensorArrayGatherV3", (array, 0), wanted, (done, 0), dtype=FLOAT32,
                      element_shape=(3,))  # fmt: skip
    scope.put(node, FLOAT32, (steps, 3))


PIECES = (branch, branch, loop, loop, written)
