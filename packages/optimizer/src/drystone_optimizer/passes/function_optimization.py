"""Function optimization: calls are replaced by the bodies of the functions that they call.

The body's nodes are named ``call/node``. A call runs once all of its inputs and control inputs are
there, and runs every node of its body that has an effect: where that could be told apart, a NoOp
``call/start`` is waited for by what touches state, and the results wait for ``call/done``.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import (
    Body,
    Function,
    Graph,
    Node,
    Output,
    conditional_nodes,
    topological_order,
)
from drystone_base.graph.rewiring import redirect
from drystone_base.graph.seams import mismatch
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import find
from drystone_base.ops.properties import CONTROL_FLOW, SWITCHES
from drystone_optimizer.core import colocation
from drystone_optimizer.core.context import Context

__all__ = ["run"]

_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_NOT_INLINED: Final = ("_noinline", "_XlaMustCompile", "_XlaCompile", "_tf_data_function")
# The state of these goes by a handle or by no name at all, so their nodes may get other names.
_NAMELESS: Final = (
    "ReadVariable", "Assign", "Resource", "LookupTable", "Assert", "Print", "StatefulPartitioned",
    "If", "While", "Case", "TensorArray", "StackV2", "StackPushV2", "StackPopV2", "StackCloseV2",
    "VarIsInitialized", "VariableShape", "_Arg", "_Retval", "Queue", "CheckNumerics", "EagerPyFunc",
    "PyFunc", "DeviceIndex", "GuaranteeConst", "DestroyResource",
)  # fmt: skip
_NO_ROOM: Final = "calls stay: their bodies would make the graph too large"


def run(ctx: Context) -> None:
    """Inline calls, those in inlined bodies too, as long as the graph does not grow too large."""
    graph = ctx.graph
    if not len(graph.functions):
        return
    queue = [node for node in graph if _is_call(graph, node)]
    matcher = _Matcher(ctx) if queue else None
    inside: set[Node] = set()  # bodies of functions that may call themselves
    for node in queue:
        ctx.tick()
        assert matcher is not None
        found = matcher.match(node)
        if found is None:
            continue
        name = found.function.name
        if node in inside and ctx.node_budget.may_recur(name, graph.functions):
            continue
        if not ctx.node_budget.take(len(found.body.graph)):
            ctx.decline(_NO_ROOM)
            continue
        made = _Inlining(ctx, node, found).apply()
        ctx.count("inline-call")
        calls = [one for one in made if _is_call(graph, one)]
        queue += calls
        if calls and ctx.node_budget.may_recur(name, graph.functions):
            inside.update(calls)


def _is_call(graph: Graph, node: Node) -> bool:
    return node.op in _CALLS or node.op in graph.functions


class _Found(NamedTuple):
    function: Function
    body: Body


class _Matcher:
    """Says what may be inlined; each body is looked through once."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.judged: dict[int, tuple[Body, bool]] = {}

    def match(self, node: Node) -> _Found | None:
        """The body to put in the place of a call; None where it must stay a call."""
        ctx, graph = self.ctx, self.ctx.graph
        if graph.get(node.name) is not node or node in ctx.fed_nodes:
            return None
        ref = node.attrs.get("f") if node.op in _CALLS else FunctionRef(node.op, node.full_attrs())
        if not isinstance(ref, FunctionRef):
            return None
        function = graph.functions.get(ref.name)
        if function is None or _refuses(ctx, node, function):
            return None
        try:
            body = ctx.bodies.of(function, graph.functions, ref.attrs)
        except DrystoneError:
            return None  # reported when the call runs
        return _Found(function, body) if _fits(ctx, node, body) and self.may_move(body) else None

    def may_move(self, body: Body) -> bool:
        """Whether the nodes of a body may be nodes of another graph."""
        known = self.judged.get(id(body))
        if known is None:
            by_name = any(_goes_by_name(inner) for inner in body.graph)
            known = (body, not by_name and not _orders_inside(self.ctx, body))
            self.judged[id(body)] = known
        return known[1]


def _refuses(ctx: Context, node: Node, function: Function) -> bool:
    names = _NOT_INLINED[1:] if ctx.aggressive else _NOT_INLINED
    return any(function.attr(name) or node.attrs.get(name) for name in names)


def _fits(ctx: Context, node: Node, body: Body) -> bool:
    """Whether arguments and results agree with the call, and no result may be dead."""
    if len(body.args) != len(node.inputs) or mismatch(node) is not None:
        return False
    for arg, given in zip(body.args, node.inputs, strict=True):
        if arg.attrs["T"] is not ctx.dtype(given):
            return False
    return all(_returns(result) for result in body.results)


def _returns(result: Node) -> bool:
    """Whether a result is of the dtype that the signature states, and never dead."""
    source, index = result.inputs[0]
    types = output_dtypes(source) or []
    fits = index < len(types) and types[index].base is result.attrs["T"].base
    return fits and source.op not in SWITCHES


def _goes_by_name(node: Node) -> bool:
    """Whether something outside of the node knows it by its name."""
    definition = find(node.op)
    if definition is None or not definition.is_stateful:
        return any(arg.is_ref for arg in (*definition.outputs,)) if definition else False
    if node.op == "VarHandleOp":
        return not node.attr("shared_name")
    makes = any(out.type is not None and out.type.label == "resource"
                for out in definition.outputs)  # fmt: skip
    return (makes and not node.op.startswith(("TensorArray", "Stack"))) or not node.op.startswith(
        _NAMELESS
    )


def _orders_inside(ctx: Context, body: Body) -> bool:
    """Whether a branch or loop of the body holds what must run before or after something.

    What is outside of it cannot wait for that: it may be dead, or run many times.
    """
    if not any(node.op in CONTROL_FLOW for node in body.graph):
        return False
    inside = conditional_nodes(body.graph)
    return any(node in inside for node in body.effects) or any(
        ctx.effects.level(node) for node in inside
    )


class _Inlining:
    """Puts one body in the place of one call."""

    def __init__(self, ctx: Context, node: Node, found: _Found) -> None:
        self.ctx, self.graph, self.node, self.body = ctx, ctx.graph, node, found.body
        self.twins: dict[Node, Node] = {}
        self.made: list[Node] = []
        self.args = dict(zip(self.body.args, node.inputs, strict=True))

    def apply(self) -> list[Node]:
        """The nodes that were added."""
        ctx, node, body = self.ctx, self.node, self.body
        self.begins = [c for c in node.controls if ctx.noticed(c)] + ctx.waits(node.inputs)
        start = self.order("start", self.begins) if self.begins else None
        self.adopt()
        self.connect(start)
        ordered = [self.twins[n] for n in body.effects if n in self.twins and self.is_ordered(n)]
        gated = start is not None or any(ctx.effects.level(n) == 2 for n in ordered)
        done = None
        if gated or (ordered and self.graph.control_consumers(node)):
            done = self.order("done", [*([start] if start else []), *ordered])
        self.finish([self.result(k, done if gated else None) for k in range(len(body.results))],
                    done)  # fmt: skip
        return self.made

    def is_ordered(self, inner: Node) -> bool:
        """Whether it matters when an effect of the body runs: not for a handle of a variable."""
        definition = find(inner.op)
        stateful = definition is None or definition.is_stateful
        return not stateful or self.ctx.effects.level(inner) > 0

    def order(self, stem: str, controls: list[Node]) -> Node:
        """A NoOp that waits for some nodes."""
        unique = list(dict.fromkeys(controls))
        return self.ctx.add("NoOp", self.node, stem, (), {}, unique)

    def adopt(self) -> None:
        """Add copies of the body's nodes, each after what it reads, still without inputs."""
        graph, prefix = self.graph, self.node.name
        skipped = {*self.body.args, *self.body.results}
        for inner in topological_order(self.body.graph):
            if inner in skipped:
                continue
            twin = graph.adopt(inner, graph.unique_name(f"{prefix}/{inner.name}"))
            if not twin.device:
                graph.set_device(twin, self.node.device)
            if twin.op in ("Enter", "RefEnter"):
                graph.set_attr(twin, "frame_name", f"{prefix}/{inner.attrs['frame_name']}")
            self.twins[inner] = twin
            self.made.append(twin)
        names = {inner.name: twin.name for inner, twin in self.twins.items()}
        for twin in self.made:
            if twin.states(colocation.ATTR):
                colocation.renamed(graph, twin, names)

    def connect(self, start: Node | None) -> None:
        """Give the copies their inputs; those that must not run early wait for ``start``."""
        graph = self.graph
        for inner, twin in self.twins.items():
            inputs = [self.source(output) for output in inner.inputs]
            controls = [self.twins[c] for c in inner.controls if c in self.twins]
            lost = [self.args[c] for c in inner.controls if c in self.args]
            controls += self.ctx.waits(lost)
            if start is not None and (self.ctx.effects.level(inner) or not (inputs or controls)):
                controls.append(start)
            graph.set_inputs(twin, inputs)
            if controls:
                graph.set_controls(twin, controls)
            self.ctx.note(twin)

    def source(self, output: Output) -> Output:
        """What an input inside of the body is outside."""
        inner, k = output
        return self.args[inner] if inner in self.args else (self.twins[inner], k)

    def result(self, index: int, done: Node | None) -> Output:
        """Result ``index`` of the body; with ``done``, such that its readers wait for that."""
        result = self.body.results[index]
        source = self.source(result.inputs[0])
        if done is None:
            return source
        attrs = {"T": result.attrs["T"]}
        return (self.ctx.add("Identity", self.node, f"result_{index}", [source], attrs, [done]), 0)

    def finish(self, results: list[Output], done: Node | None) -> None:
        """Let readers of the call read the results; the call goes, or passes the results on."""
        ctx, graph, node = self.ctx, self.graph, self.node
        if len(results) == 1:
            graph.redirect((node, 0), results[0])
        else:
            redirect(graph, node, results)
        waiting = [done] if done is not None else []
        if ctx.kept(node):
            types: list[Any] = [result.attrs["T"] for result in self.body.results]
            attrs = {"T": types[0] if len(types) == 1 else types} if types else {}
            op = "NoOp" if not types else "Identity" if len(types) == 1 else "IdentityN"
            ctx.become(node, op, results, attrs, waiting)
            return
        for user in graph.control_consumers(node):
            others = [c for c in user.controls if c is not node]
            graph.set_controls(user, [*others, *waiting])
        graph.remove(node)
        ctx.forget(node)
