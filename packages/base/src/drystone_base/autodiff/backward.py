"""Backward over a graph: from results to what they are differentiated by, rule by rule.

Only nodes on a path from an ``x`` to a ``y`` need a rule. What rules add and no gradient needs is
taken away again. Source: TensorFlow's ``tf.gradients``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from drystone_base.autodiff._complex import for_complex
from drystone_base.autodiff._registry import (
    CONSTANT,
    RULES,
    GradientBuilder,
    Grads,
    broken_packages,
    find_rule,
    takes_slices,
    zeros,
)
from drystone_base.autodiff._slices import Grad, IndexedSlices, dense, total
from drystone_base.core.dtypes import RESOURCE, VARIANT, DType
from drystone_base.core.errors import DrystoneError, GraphError
from drystone_base.core.payloads import at_node
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output
from drystone_base.graph.topology import reachable, topological_order
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.attrs import FunctionRef

__all__ = ["RECOMPUTED", "Backward", "Calls", "NoGradient", "gradients_of", "passes"]

Calls: TypeAlias = "Callable[[Backward, Node, FunctionRef, list[Grad | None]], Grads]"
"""Gradients of a call of a function."""

RECOMPUTED: Final = "_recompute_hint"
"""The mark of nodes whose values are computed again for gradients, rather than held until then."""
_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_FRAMES: Final = frozenset({"Enter", "Exit", "NextIteration", "Merge", "Switch"})


class NoGradient(GraphError):
    """A node on the way from a result to what it is differentiated by passes no gradient."""

    default_code = "no-gradient"
    default_status = "NOT_FOUND"

    def __init__(self, node: Node, path: str, found: str = "") -> None:
        framed = node.op in _FRAMES
        super().__init__(
            f"node {node.name!r} ({node.op}) has no gradient",
            check="every op on the way from a result to what it is differentiated by needs a rule",
            found=found or path,
            needed="control flow by functions: If, Case, While" if framed
            else f"a rule of {node.op}, or an op of those that have one",
            remedy="run the pass functionalize_control_flow on the graph first" if framed
            else f"register one: @drystone.gradient({node.op!r}); or stop before it: stop=[...]",
            inner=broken_packages(),
            details=at_node(node.name, node.op),
        )  # fmt: skip
        self.node = node


def gradients_of(
    ys: Sequence[Output],
    xs: Sequence[Output],
    grad_ys: Sequence[Grad | None] | None = None,
    stop: Iterable[Output] = (),
) -> list[Grad | None]:
    """As :func:`drystone_base.gradients`, of outputs of one graph that are known to be floats."""
    if not ys or not xs:
        return [None] * len(xs)
    return Backward(ys[0][0].graph, ys, xs, stop).run(grad_ys or [None] * len(ys))


class Backward:
    """One way back through one graph; ``calls`` says how it goes through calls of functions."""

    def __init__(
        self,
        graph: Graph,
        ys: Sequence[Output],
        xs: Sequence[Output],
        stop: Iterable[Output] = (),
        calls: Calls | None = None,
    ) -> None:
        self.graph, self.ys, self.xs, self.calls = graph, list(ys), list(xs), calls
        self.order = topological_order(reachable([node for node, _ in ys]))
        self.stop = frozenset(stop)
        self.carrying = self._carrying(self.stop)
        self.b = GradientBuilder(graph, self.carrying)
        self.found: dict[Output, list[Grad]] = {}

    def _carrying(self, stop: frozenset[Output]) -> set[Output]:
        """The outputs through which a change of an ``x`` reaches others."""
        found = set(self.xs)
        for node in self.order:
            if node.op in CONSTANT or not any(source in found for source in node.inputs):
                continue
            for k, dtype in enumerate(output_dtypes(node) or []):
                if passes(dtype) and (node, k) not in stop:
                    found.add((node, k))
        return found

    def run(self, grad_ys: Sequence[Grad | None]) -> list[Grad | None]:
        """Add the nodes; the gradients of ``xs``."""
        before = len(self.graph)
        try:
            for y, grad in zip(self.ys, grad_ys, strict=True):
                self.add(y, self.b("OnesLike", y) if grad is None else grad)
            for node in reversed(self.order):
                self._through(node)
            found = [self.sum_of(x) for x in self.xs]
        except DrystoneError:
            self._tidy(before, [])
            raise
        self._tidy(before, found)
        return found

    def add(self, output: Output, grad: Grad) -> None:
        """Add what one use of an output gives to its gradient."""
        if output in self.carrying:
            self.found.setdefault(output, []).append(grad)

    def sum_of(self, output: Output) -> Grad | None:
        """The gradient of an output; None where no result depends on it."""
        grads = self.found.get(output)
        if not grads:
            return None
        self.found[output] = [total(self.b, grads)]
        return self.found[output][0]

    def _through(self, node: Node) -> None:
        """Hand the gradients of a node's outputs on to its inputs."""
        outputs = [(node, k) for k in range(len(output_dtypes(node) or []))]
        if not any(o in self.found and o not in self.stop for o in outputs):
            return
        if node.op in CONSTANT or not any(source in self.carrying for source in node.inputs):
            return
        for source, grad in zip(node.inputs, self._gradients(node, outputs), strict=True):
            if grad is not None:
                self.add(source, grad)

    def _gradients(self, node: Node, outputs: list[Output]) -> Grads:
        called = _called(node)
        given = [None if o in self.stop else self.sum_of(o) for o in outputs]
        if called is not None and self.calls is not None:
            return self.calls(self, node, called, given)
        stated = node.attr("_gradient_op_type")
        name = stated if isinstance(stated, str) else "PartitionedCall" if called else node.op
        rule = find_rule(name)
        if rule is None or node.op == "SymbolicGradient":
            raise NoGradient(node, self.path_through(node))
        if self._is_complex(node, outputs):
            found = for_complex(name, rule)
            if found is None:
                raise NoGradient(node, "", f"complex numbers: {self.path_through(node)}")
            rule = found
        if not takes_slices(rule):
            given = [None if g is None else dense(self.b, g) for g in given]
        whole = [self._or_zeros(o, g) for o, g in zip(outputs, given, strict=True)]
        before = len(self.b.made)
        grads = rule(self.b, node, whole)
        if node.states(RECOMPUTED):
            self._let_wait(self.b.made[before:], whole)
        return grads

    def _let_wait(self, made: Sequence[Node], grads: Sequence[Grad | None]) -> None:
        """Let what reads values of the way there alone wait until the gradient is there."""
        there = {part[0] for grad in grads if grad is not None for part in _parts(grad)}
        late = there | set(made)
        for node in made:
            if node.inputs and not any(source in late for source, _ in node.inputs):
                self.graph.set_controls(node, [*node.controls, *there])

    def _is_complex(self, node: Node, outputs: list[Output]) -> bool:
        ends = [*(o for o in outputs if o in self.found), *node.inputs]
        return any(self.b.dtype(o).is_complex for o in ends)

    def _or_zeros(self, output: Output, grad: Grad | None) -> Grad | None:
        """The gradient, or zeros for numbers that no result depends on."""
        dtype = self.b.dtype(output)
        smooth = grad is None and (dtype.is_floating or dtype.is_complex)
        return zeros(self.b, output) if smooth else grad

    def path_through(self, node: Node) -> str:
        """How a result depends on an ``x`` through a node, as text."""
        ends = {n for n, _ in self.ys}
        order = set(self.order)
        down = _way(node, ends, lambda n: [u for u in self.graph.users(n) if u in order])
        starts = {n for n, _ in self.xs}
        up = _way(node, starts, lambda n: [s for s, k in n.inputs if (s, k) in self.carrying])
        names = [*reversed(down), *up[1:]]
        shown = names if len(names) <= 9 else [*names[:4], None, *names[-4:]]
        return " <- ".join("..." if n is None else f"{n.name} ({n.op})" for n in shown)

    def _tidy(self, before: int, kept: Sequence[Grad | None]) -> None:
        """Remove what rules added and nothing needs."""
        held = {part[0] for grad in kept if grad is not None for part in _parts(grad)}
        held |= {node for node, _ in self.xs}
        for node in reversed(list(self.graph)[before:]):
            if node not in held and not self.graph.has_users(node):
                self.graph.remove(node)


def passes(dtype: DType) -> bool:
    """Whether gradients pass a dtype; those of resources and lists are of what they hold."""
    base = dtype.base
    return base.is_floating or base.is_complex or base in (RESOURCE, VARIANT)


def _parts(grad: Grad) -> list[Output]:
    return list(grad) if isinstance(grad, IndexedSlices) else [grad]


def _called(node: Node) -> FunctionRef | None:
    """The function that a node calls, once and unconditionally."""
    if node.op in _CALLS:
        found = node.attr("f")
        return found if isinstance(found, FunctionRef) else None
    is_function = node.op not in RULES.index and node.op in node.graph.functions
    return FunctionRef(node.op, node.attrs) if is_function else None


def _way(start: Node, ends: set[Node], step: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The shortest way from a node to one of ``ends``."""
    before: dict[Node, Node | None] = {start: None}
    queue = [start]
    for node in queue:
        if node in ends:
            way: list[Node] = []
            at: Node | None = node
            while at is not None:
                way.append(at)
                at = before[at]
            return way[::-1]
        for other in step(node):
            if other not in before:
                before[other] = node
                queue.append(other)
    return [start]
