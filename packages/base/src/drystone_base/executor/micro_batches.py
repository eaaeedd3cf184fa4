"""Which graphs compute each example of a batch by itself, so that they may run on a few at a time.

Values of a whole batch are too large for the caches. A plan of such a graph says how its feeds and
fetches hold the examples, and how much memory one takes; the host runs it in micro-batches.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from drystone_base.core.dtypes import DType
from drystone_base.executor.plan import runs_itself
from drystone_base.graph import Graph, Node, Output, reachable, topological_order
from drystone_base.graph.validate import Signatures
from drystone_base.inference.batch_rules._registry import RULES, SHARED, SIZES, BatchRuleCall, Rows
from drystone_base.inference.inference import Inference, infer
from drystone_base.inference.shapes._values import FOLLOWED
from drystone_base.ops.attrs import Shape
from drystone_base.ops.defs import OpDef
from drystone_base.ops.properties import RESHAPES, VARIABLES

__all__ = ["BatchLayout", "NotBatchwise", "batch_layout_of"]

_HARMLESS: Final = VARIABLES | {"Assert", "ReadVariableOp"}
"""Stateful ops that change nothing."""

_SIZES_OF: Final = frozenset({"Shape", "ShapeN", "Size"})
_LOOKS_UP: Final = frozenset({"Gather", "GatherV2"})
_SAME_MEMORY: Final = RESHAPES | {"Identity", "StopGradient"}


class BatchLayout(NamedTuple):
    """How a plan's feeds and fetches hold examples, and what one takes.

    ``feeds``, ``fetches``: for each, the rows along dimension 0 that one example has; 0 where it is
    not its own. ``bytes``: the most that values of one example take at once. ``least``: examples
    for which reading all constants again takes no longer than their values' way to memory.
    """

    feeds: tuple[int, ...]
    fetches: tuple[int, ...]
    bytes: int
    least: int


class NotBatchwise(NamedTuple):
    """A node of a graph that is fed batches: it is not known to compute each example by itself."""

    node: str
    op: str


def batch_layout_of(
    graph: Graph,
    fetches: Sequence[Output],
    targets: Sequence[Node],
    feeds: Mapping[Output, tuple[DType, Shape]],
) -> BatchLayout | NotBatchwise | None:
    """How examples lie in feeds and fetches, or what mixes them; None where none are fed.

    ``feeds``: dtype and shape of what is fed. Those whose first dimension alone is open hold
    examples. What the rules in ``ops.examples`` do not know is taken to mix them.
    """
    is_simple = not targets and not any(fetch in feeds for fetch in fetches)
    if not is_simple or not any(_is_batch(*fed) for fed in feeds.values()):
        return None
    nodes = reachable([node for node, _ in fetches], fed=feeds)
    given = {output: shape for output, (_, shape) in feeds.items()}
    shapes = infer(graph, [*nodes, *(node for node, _ in feeds)], given=given)
    found = _Search(shapes, feeds)
    order = topological_order(nodes, fed=feeds)
    for node in order:
        if not found.visit(node):
            return NotBatchwise(node.name, node.op)
    for node, k in fetches:
        if found.rows[(node, k)] < SHARED or found.types[(node, k)].is_object:
            return NotBatchwise(node.name, node.op)
    fetched = tuple(found.rows[fetch] for fetch in fetches)
    if not any(fetched):
        return None
    rows = tuple(found.rows[feed] for feed in feeds)
    return BatchLayout(rows, fetched, max(1, found.most_held(order, fetches)), found.least(order))


def _is_batch(dtype: DType, shape: Shape) -> bool:
    """Whether a feed holds any number of examples of one known size."""
    if not shape or dtype.is_object:
        return False
    return shape[0] < 0 <= min(shape[1:], default=0)


def _is_value(node: Node, definition: OpDef) -> bool:
    """Whether a node computes values and does nothing else, however often it runs."""
    if runs_itself(node.op) or (definition.is_stateful and node.op not in _HARMLESS):
        return False
    calls = any(attr.type in ("func", "list(func)") for attr in definition.attrs.values())
    writes = any(arg.is_ref for arg in definition.inputs)
    return not (calls or writes or node.op in node.graph.functions)


class _Search:
    """Follows the rows of examples from the feeds on."""

    def __init__(self, shapes: Inference, feeds: Mapping[Output, tuple[DType, Shape]]) -> None:
        self.shapes = shapes
        self.signatures = Signatures()
        self.types = {feed: dtype for feed, (dtype, _) in feeds.items()}
        self.rows: dict[Output, Rows] = {f: int(_is_batch(*feeds[f])) for f in feeds}
        self.made: dict[Node, list[Output]] = {}

    def visit(self, node: Node) -> bool:
        """Say which rows a node's outputs have; False where that cannot be said."""
        if node.op == "Const":
            self._take(node, [SHARED], [node.attrs["dtype"]])
            return True
        signature = self.signatures.of(node)
        rows = [self.rows.get(source, SIZES - 1) for source in node.inputs]
        if signature is None or signature.outputs is None or min(rows, default=0) < SIZES:
            return False
        if not _is_value(node, signature.definition):
            return False
        found = self._rows(node, signature.attrs, rows, len(signature.outputs))
        if found is None:
            return False
        for k, own in enumerate(found):
            shape = self.shapes.shape((node, k))
            if own > 0 and (not shape or min(shape[1:], default=0) < 0):
                return False
        self._take(node, found, signature.outputs)
        return True

    def _take(self, node: Node, rows: Sequence[Rows], types: Sequence[DType]) -> None:
        self.made[node] = [o for k in range(len(rows)) if (o := (node, k)) not in self.rows]
        for output in self.made[node]:
            self.rows[output], self.types[output] = rows[output[1]], types[output[1]].base

    def _rows(
        self, node: Node, attrs: Mapping[str, Any], rows: list[Rows], count: int
    ) -> Sequence[Rows] | None:
        if not any(rows):
            return [SHARED] * count
        if node.op in _SIZES_OF or (max(rows) <= SHARED and node.op in FOLLOWED):
            return [SIZES] * count
        rule = RULES.find(node.op) if max(rows) > 0 else None
        if rule is None:
            return None
        inputs = [self.shapes.shape(source) for source in node.inputs]
        outputs = [self.shapes.shape((node, k)) for k in range(count)]
        call = BatchRuleCall(
            node.op, attrs, rows, inputs, outputs, lambda k: self.shapes.value(node.inputs[k])
        )
        try:
            found = rule(call)
        except Exception:  # a graph from anywhere may state any attributes
            return None
        return [found] * count if isinstance(found, int) else found

    def size(self, output: Output) -> int:
        """Bytes of a shared value, or of one example's rows; what is not known counts as none."""
        shape, own = self.shapes.shape(output), self.rows[output]
        if shape is None:
            return 0
        dims = (own, *shape[1:]) if own > 0 else shape
        return math.prod(max(d, 0) for d in dims) * self.types[output].np.itemsize

    def memory(self, order: Sequence[Node]) -> dict[Output, Output]:
        """Of each value with rows of examples, the one in whose memory it lies."""
        found = {output: output for output, own in self.rows.items() if own > 0}
        for node in order:
            if node.op in _SAME_MEMORY and (node, 0) in found and node.inputs[0] in found:
                found[(node, 0)] = found[node.inputs[0]]
        return found

    def most_held(self, order: Sequence[Node], fetches: Sequence[Output]) -> int:
        """The most bytes that values of one example take at once, run in this order."""
        memory = self.memory(order)
        begins, ends = dict.fromkeys(memory.values(), -1), dict.fromkeys(memory.values(), -1)
        for k, node in enumerate(order):
            for output in self.made.get(node, ()):
                if memory.get(output) == output:
                    begins[output] = ends[output] = k
            ends.update((memory[source], k) for source in node.inputs if source in memory)
        ends.update((memory[fetch], len(order)) for fetch in fetches if fetch in memory)
        changes = [0] * (len(order) + 3)
        for output, begin in begins.items():
            changes[begin + 1] += self.size(output)
            changes[ends[output] + 2] -= self.size(output)
        return max(itertools.accumulate(changes))

    def least(self, order: Sequence[Node]) -> int:
        """For how many examples it takes as long to move their values as to read what is shared."""
        memory = self.memory(order)
        shared: set[Output] = set()
        moved = 0
        for node in order:
            made = [o for o in self.made.get(node, ()) if memory.get(o) == o]
            if made and node.op not in _LOOKS_UP:
                shared.update(source for source in node.inputs if source not in memory)
            moved += sum(map(self.size, made))
            moved += sum(self.size(s) for s in node.inputs if made and s in memory)
        return max(1, -(-sum(map(self.size, shared)) // max(moved, 1)))
