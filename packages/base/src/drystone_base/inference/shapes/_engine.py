"""Shape, dtype and constant inference over a graph, its functions and its loops.

A work list is run to a fixed point. What a node is known to give can only be widened (a dimension
becomes unknown, a rank becomes unknown, a value is forgotten), so the fixed point is reached
quickly. Every unknown dimension gets a symbol of its own: two outputs with the same symbol are
provably equal there. Source: TensorFlow's ``GraphProperties::InferStatically``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core.arguments import explained, explaining
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError, ShapeError
from drystone_base.core.gc_pause import paused_gc
from drystone_base.core.time_limits import look
from drystone_base.graph.functions import Bodies, Body, Function
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output, held_tensor, placeholder_shape
from drystone_base.graph.topology import topological_order
from drystone_base.graph.validate import Signature, Signatures
from drystone_base.inference.shapes._registry import (
    MAX_PARTIAL,
    Handle,
    PartialValue,
    Shape,
    ShapeCall,
    checked_shape,
    contradict,
    find_shape_function,
)
from drystone_base.inference.shapes._values import FOLLOWED, propagate
from drystone_base.kernels.evaluate import evaluate
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import OpDef
from drystone_base.ops.properties import MERGES

if TYPE_CHECKING:
    from drystone_base.inference.calls import Calls

__all__ = ["MAX_VALUE", "Engine", "Inference", "Known", "infer", "relax", "same_knowledge"]

# Constants larger than this are not carried along; no shape depends on them.
MAX_VALUE: Final = 256
_PLACEHOLDERS: Final = frozenset({"Placeholder", "PlaceholderV2"})
_MAX_DEPTH: Final = 32
# A node is looked at again when its fan-in changes; more rounds than this mean a wrong shape
# function.
_MAX_VISITS: Final = 64
# So many nodes are looked at between two looks at the clock; each order that is made looks, too.
_TICKS: Final = 32
# Nodes of functions that are gone over for calls, again each time: so many, and as often as all
# there are. What is called beyond that gives an unknown result.
_ROOM: Final = 10_000
_ROOM_OF_NODE: Final = 20


class Known:
    """What is known of a node's outputs: shapes, values (arrays or partial values) and handles."""

    __slots__ = ("handles", "shapes", "values")

    def __init__(
        self, shapes: list[Shape], values: list[Any], handles: list[Handle | None]
    ) -> None:
        self.shapes, self.values, self.handles = shapes, values, handles


@explaining("shape", "value")
class Inference:
    """The result: what is known of every node, and the nodes whose inputs contradict their op."""

    def __init__(self) -> None:
        self.known: dict[Node, Known] = {}
        self.errors: dict[Node, ShapeError] = {}

    def shape(self, output: Output) -> Shape:
        """Shape of an output; None when nothing is known of it."""
        known = self.known.get(output[0])
        return known.shapes[output[1]] if known and output[1] < len(known.shapes) else None

    def value(self, output: Output) -> np.ndarray[Any, Any] | None:
        """The output's value if it is a known constant."""
        known = self.known.get(output[0])
        value = known.values[output[1]] if known and output[1] < len(known.values) else None
        return value if isinstance(value, np.ndarray) else None


@explained
def infer(
    graph: Graph,
    nodes: Iterable[Node] | None = None,
    *,
    given: Mapping[Output, Shape] | None = None,
    strict: bool = False,
) -> Inference:
    """Infer shapes and constants of ``nodes`` (all by default).

    ``given`` states shapes of outputs, fed ones for example; it wins over what is inferred. With
    ``strict`` the first contradiction raises its ``ShapeError``; otherwise it is recorded and the
    node's outputs are unknown.
    """
    chosen = list(graph if nodes is None else nodes)
    with paused_gc():
        return Engine(graph, given or {}, strict, 0).run(chosen)


def relax(a: Shape, b: Shape) -> Shape:
    """The most specific shape that admits both."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else -1 for x, y in zip(a, b, strict=True))


class _Called:
    """What a call of functions gave, for inputs of which this much was known.

    Asked again of the same node, with as much known, it gives the same, and no body is gone over.
    """

    def __init__(self, signature: Signature, inputs: Known, found: Known) -> None:
        self.signature, self.inputs, self.found = signature, inputs, found

    def holds(self, signature: Signature, inputs: Known) -> bool:
        """Whether nothing else is asked now."""
        same = self.signature is signature or self.signature.attrs == signature.attrs
        return same and same_knowledge(self.inputs, inputs)

    def copy(self) -> Known:
        found = self.found
        return Known(found.shapes.copy(), found.values.copy(), found.handles.copy())


class Engine:
    """One inference over one graph; what it found so far is in ``result``."""

    def __init__(
        self, graph: Graph, given: Mapping[Output, Shape], strict: bool, depth: int
    ) -> None:
        self.graph, self.given, self.strict, self.depth = graph, given, strict, depth
        self.result = Inference()
        self.signatures = Signatures()
        self.bodies = Bodies()
        self.called: dict[Node, _Called] = {}
        self.args: dict[Node, tuple[Shape, Any, Handle | None]] = {}
        self.symbols: dict[tuple[Node, int, int], int] = {}
        self.next_symbol = -2
        self.visits = 0
        self.room: list[int] = []
        """How many nodes of functions may still be gone over, shared by all depths."""
        self.calls: Calls | None = None
        """What is told of each call, shared by all depths, where somebody wants to know."""

    def run(self, nodes: Iterable[Node]) -> Inference:
        order = topological_order(nodes)
        if any(node.op in MERGES for node in order):
            self.settle(order)
        else:  # without loops every node comes after all that it reads
            for node in order:
                self.update(node, widen=False)
        return self.result

    def settle(self, order: list[Node]) -> None:
        """Infer nodes again until what is known of them no longer changes."""
        import heapq  # few graphs have loops

        rank = {node: k for k, node in enumerate(order)}
        users: dict[Node, list[Node]] = {}
        for node in order:
            for source, _ in node.inputs:
                users.setdefault(source, []).append(node)
        visits = dict.fromkeys(order, 0)
        queued = set(order)
        queue = list(range(len(order)))
        while queue:
            node = order[heapq.heappop(queue)]
            queued.discard(node)
            visits[node] += 1
            if not self.update(node, widen=visits[node] > _MAX_VISITS):
                continue
            for user in users.get(node, ()):
                if user in rank and user not in queued:
                    queued.add(user)
                    heapq.heappush(queue, rank[user])

    def update(self, node: Node, widen: bool) -> bool:
        """Infer one node again; whether what is known of it changed."""
        self.visits += 1
        if self.visits % _TICKS == 0:
            look()
        op = node.op
        found = self.merge(node) if op in MERGES else self.evaluate(node)
        shapes, given = found.shapes, self.given
        if op in _PLACEHOLDERS:
            shapes[:] = [placeholder_shape(node)] * len(shapes)
        for k, shape in enumerate(shapes):
            if given and (node, k) in given:
                shape = given[(node, k)]
                found.values[k] = found.handles[k] = None
                shapes[k] = shape
            if widen:
                shapes[k] = None
            elif shape is not None and -1 in shape:
                shapes[k] = self.named(node, k, shape)
        known = self.result.known
        before = known.get(node)
        known[node] = found
        return before is None or not same_knowledge(before, found)

    def named(self, node: Node, output: int, shape: Shape) -> Shape:
        """The shape with a symbol in place of each plain unknown dimension."""
        if shape is None or -1 not in shape:
            return shape
        return tuple(self.symbol(node, output, k) if d == -1 else d for k, d in enumerate(shape))

    def symbol(self, node: Node, output: int, dim: int) -> int:
        key = (node, output, dim)
        if key not in self.symbols:
            self.symbols[key] = self.next_symbol
            self.next_symbol -= 1
        return self.symbols[key]

    def merge(self, node: Node) -> Known:
        """A merge admits what each of its inputs gives, as far as they are known yet."""
        seen = [
            (known.shapes[k], known.handles[k])
            for source, k in node.inputs
            if (known := self.result.known.get(source)) is not None and k < len(known.shapes)
        ]
        if not seen:
            return Known([None, ()], [None, None], [None, None])
        shape, handle = seen[0]
        for other, other_handle in seen[1:]:
            if self.calls is not None and self.depth == 0 and contradict(shape, other):
                self.calls.varying[node.name] = shape, other
            shape = relax(shape, other)
            handle = handle if handle == other_handle else None
        return Known([shape, ()], [None, None], [handle, None])

    def evaluate(self, node: Node) -> Known:
        if node.op == "Const" and (held := _held(node)) is not None:
            return held
        signature = self.signatures.of(node)
        if signature is None:
            count = 1 + max((k for _, k in self.read_outputs(node)), default=0)
            return _unknown(count)
        types = signature.outputs
        if types is None:
            return _unknown(1)
        if node in self.args:
            shape, value, handle = self.args[node]
            return Known([shape], [value], [handle])
        known = self.inputs(node)
        past = self.called.get(node)
        if past is not None and past.holds(signature, known):
            return past.copy()
        shapes = signature.given.get(tuple(known.shapes))
        if shapes is not None and not _values_may_follow(node.op, known.values, signature):
            count = len(shapes)
            return Known(shapes.copy(), [None] * count, [None] * count)
        try:
            call = ShapeCall(
                node.name,
                node.op,
                signature.attrs,
                known.shapes,
                known.values,
                signature.inputs,
                known.handles,
                signature.input_slices,
                len(types),
                self.infer_function,
            )
        except (KeyError, DrystoneError):
            return _unknown(1)
        try:
            found = self.apply(node, call, signature, types)
        except ShapeError as error:
            if self.strict:
                raise
            self.result.errors[node] = error
            if self.calls is not None:
                self.calls.is_complete = False
            return _unknown(len(types))
        if call.called:
            if self.calls is not None:
                self.note(call, found)
            past = self.called[node] = _Called(signature, known, found)
            return past.copy()
        return found

    def read_outputs(self, node: Node) -> list[Output]:
        return [user.inputs[k] for user, k in self.graph.consumers(node)]

    def inputs(self, node: Node) -> Known:
        """What is known of a node's inputs."""
        shapes: list[Shape] = []
        values: list[Any] = []
        handles: list[Handle | None] = []
        known_nodes = self.result.known
        for source, k in node.inputs:
            known = known_nodes.get(source)
            if known is None or k >= len(known.shapes):
                known, k = _NOTHING, 0
            shapes.append(known.shapes[k])
            values.append(known.values[k])
            handles.append(known.handles[k])
        return Known(shapes, values, handles)

    def apply(
        self, node: Node, call: ShapeCall, signature: Signature, types: Sequence[DType]
    ) -> Known:
        function = find_shape_function(node.op)
        if function is None:
            if node.op in self.graph.functions:
                ref = FunctionRef(node.op, call.attrs)
                shapes, values, handles = self.infer_function(
                    ref, call.shapes, call.values, call.handles
                )
                return Known(shapes, values, handles)
            return _unknown(call.output_count)
        try:
            shapes = [checked_shape(s) for s in function(call)]
        except DrystoneError:
            raise
        except Exception as error:  # a graph from anywhere may state any attributes
            raise call.unexpected(error) from error
        if len(shapes) != call.output_count:
            shapes = (shapes + [None] * call.output_count)[: call.output_count]
        if call.by_shapes:
            signature.given[tuple(call.shapes)] = shapes.copy()
        found: Sequence[Any] = call.output_values or self.constants(
            call, shapes, signature.definition
        )
        if len(found) != len(types):  # the node's inputs contradict its attributes
            found = [None] * len(types)
        whole = [
            _completed(v, t) if v.__class__ is PartialValue else v
            for v, t in zip(found, types, strict=True)
        ]
        handles = call.output_handles or [None] * len(shapes)
        return Known(shapes, whole, list(handles))

    def constants(self, call: ShapeCall, shapes: list[Shape], definition: OpDef) -> Sequence[Any]:
        """Values of the outputs, by the reference kernel when all inputs are small constants."""
        nothing: list[Any] = [None] * len(shapes)
        values = call.values
        if definition.is_stateful or not values or not shapes:
            return nothing
        for value in values:
            if value.__class__ is np.ndarray:
                continue
            if call.op not in FOLLOWED:
                return nothing
            try:
                return propagate(call) or nothing
            except IndexError:  # a node of a corrupt graph, with too few inputs
                return nothing
        sizes = [math.prod(s) if s is not None and all(d >= 0 for d in s) else -1 for s in shapes]
        small = sum(v.size for v in call.values) <= MAX_VALUE
        if not small or any(not 0 <= n <= MAX_VALUE for n in sizes):
            return nothing
        count = call.output_count
        try:
            return evaluate(call.node, call.op, call.attrs, call.values, call.input_slices, count)
        except Exception:  # the same failure is reported when the node runs
            return nothing

    def note(self, call: ShapeCall, found: Known) -> None:
        """Tell what a call handed on that varies, and go through what a loop asks before a turn."""
        if call.varying is not None and self.calls is not None and self.depth == 0:
            self.calls.varying[call.node] = call.varying
        asks = call.attrs.get("cond")
        if isinstance(asks, FunctionRef):
            self.infer_function(asks, found.shapes, found.values, found.handles)

    def infer_function(
        self,
        ref: FunctionRef,
        shapes: Sequence[Shape],
        values: Sequence[Any],
        handles: Sequence[Handle | None],
    ) -> tuple[list[Shape], list[Any], list[Handle | None]]:
        """What a function gives for arguments of which this much is known; unknown on any error."""
        function = self.graph.functions.get(ref.name)
        count = len(function.signature.outputs) if function else 0
        blank = _unknown(count)
        body = None if function is None else self.body(function, ref)
        if body is None:
            if self.calls is not None:
                self.calls.is_complete = False
            return blank.shapes, blank.values, blank.handles
        inner = Engine(body.graph, {}, self.strict, self.depth + 1)
        inner.signatures, inner.bodies, inner.room = self.signatures, self.bodies, self.room
        inner.calls = self.calls
        if self.calls is not None:
            self.calls.note(ref, shapes, values, handles)
        inner.next_symbol = self.next_symbol
        for arg, *known in zip(body.args, shapes, values, handles, strict=False):
            inner.args[arg] = (known[0], known[1], known[2])
        inner.run(list(body.graph))
        self.next_symbol = inner.next_symbol
        outputs = [result.inputs[0] for result in body.results]
        found = [(inner.result.known[n], k) for n, k in outputs]
        return (
            [known.shapes[k] for known, k in found],
            [known.values[k] for known, k in found],
            [known.handles[k] for known, k in found],
        )

    def body(self, function: Function, ref: FunctionRef) -> Body | None:
        """The body to go through; None where it does not hang together, or for too many of them."""
        if self.depth >= _MAX_DEPTH:
            return None
        try:
            body = self.bodies.of(function, self.graph.functions, ref.attrs)
        except DrystoneError:
            return None
        return body if self.has_room(len(body.graph)) else None

    def has_room(self, size: int) -> bool:
        """Whether a body of that many nodes may be gone over, which is then counted."""
        if not self.room:
            functions = self.graph.functions
            whole = len(self.graph) + sum(one.node_count for one in functions)
            self.room.append(_ROOM + _ROOM_OF_NODE * whole)
        self.room[0] -= size
        return self.room[0] >= 0


def _held(node: Node) -> Known | None:
    """What a Const holds; None where that cannot be read."""
    tensor = held_tensor(node)
    if tensor is None:
        return None
    try:
        shape = tensor.shape
        value = tensor.array if math.prod(shape) <= MAX_PARTIAL else None
    except DrystoneError:
        return None
    return Known([shape], [value], [None])


def _values_may_follow(op: str, values: Sequence[Any], signature: Signature) -> bool:
    """Whether something may become known of outputs' values, inputs of which this much is known."""
    if op in FOLLOWED and signature.has_integers:
        return True
    if signature.definition.is_stateful:
        return False
    for value in values:
        if value.__class__ is not np.ndarray:
            return False
    return bool(values)


def _completed(value: PartialValue, dtype: DType) -> Any:
    """A partial value of which every element is known, as an array; any other unchanged."""
    return value.array(dtype) if value.complete else value


def _unknown(count: int) -> Known:
    return Known([None] * count, [None] * count, [None] * count)


_NOTHING: Final = _unknown(1)


def same_knowledge(a: Known, b: Known) -> bool:
    """Whether equally much is known of two nodes."""
    if a.shapes != b.shapes or a.handles != b.handles or len(a.values) != len(b.values):
        return False
    return all(_same_value(x, y) for x, y in zip(a.values, b.values, strict=True))


def _same_value(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and not isinstance(a, np.ndarray) and bool(a == b)
