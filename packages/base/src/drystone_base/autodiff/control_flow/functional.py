"""Calls and branches: If, Case and calls of functions. Source: TensorFlow ``cond_v2.py``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drystone_base.autodiff._registry import Grads, needs, rule
from drystone_base.autodiff.control_flow._functions import Way, dtypes_of, finish, is_stateful
from drystone_base.core.dtypes import DType
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output
from drystone_base.ops.attrs import FunctionRef

__all__: list[str] = []


@rule("PartitionedCall", "StatefulPartitionedCall")
def _call(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """A call of a function; a node whose op is a function becomes one."""
    stated = node.attr("f")
    function = stated if isinstance(stated, FunctionRef) else FunctionRef(node.op, node.attrs)
    branches = _Branches(b, node, [function], list(node.inputs), grads)
    (forward,) = branches.forward()
    _become_call(b, node, forward, branches.added)
    return branches.gradients("Call", None)


def _become_call(b: Builder, node: Node, function: FunctionRef, added: list[DType]) -> None:
    graph = node.graph
    types = dtypes_of(b, [(node, k) for k in range(_count(node))])
    stateful = is_stateful(graph, function)
    if node.op not in ("PartitionedCall", "StatefulPartitionedCall"):
        for name in list(node.attrs):
            graph.remove_attr(node, name)
    op = "StatefulPartitionedCall" if stateful or node.op == "StatefulPartitionedCall" else None
    graph.set_op(node, op or "PartitionedCall")
    graph.set_attr(node, "Tin", dtypes_of(b, node.inputs))
    graph.set_attr(node, "Tout", [*types, *added])
    graph.set_attr(node, "f", function)


@rule("If", "StatelessIf")
def _if(b: Builder, node: Node, grads: list[Any]) -> Grads:
    functions = [node.attr("then_branch"), node.attr("else_branch")]
    branches = _Branches(b, node, functions, list(node.inputs[1:]), grads)
    then, other = branches.forward()
    _extend(node, branches.added)
    node.graph.set_attr(node, "then_branch", then)
    node.graph.set_attr(node, "else_branch", other)
    return [None, *branches.gradients("If", node.inputs[0])]


@rule("Case", "StatelessCase")
def _case(b: Builder, node: Node, grads: list[Any]) -> Grads:
    branches = _Branches(b, node, node.attr("branches"), list(node.inputs[1:]), grads)
    functions = branches.forward()
    _extend(node, branches.added)
    node.graph.set_attr(node, "branches", functions)
    return [None, *branches.gradients("Case", node.inputs[0])]


def _extend(node: Node, added: list[DType]) -> None:
    """State the dtypes of further outputs; shapes are stated of none, then."""
    node.graph.set_attr(node, "Tout", [*node.attr("Tout"), *added])
    node.graph.remove_attr(node, "output_shapes")
    node.graph.remove_attr(node, "_output_shapes")


def _count(node: Node) -> int:
    from drystone_base.graph.validate import output_dtypes

    return len(output_dtypes(node) or [])


class _Branches:
    """Functions of the same arguments, one of which is called: the ways back through them."""

    def __init__(
        self,
        b: Builder,
        node: Node,
        functions: Sequence[FunctionRef],
        inputs: list[Output],
        grads: list[Output | None],
    ) -> None:
        self.b, self.node, self.inputs = b, node, inputs
        self.given = {k: g for k, g in enumerate(grads) if g is not None}
        dtypes = {k: b.dtype(g) for k, g in self.given.items()}
        wanted = [k for k, source in enumerate(inputs) if needs(b, source)]
        self.ways = [Way.of(node, f, dtypes, wanted) for f in functions]
        self.stems = [f.name for f in functions]
        self.types = {k: way.b.dtype(o) for way in self.ways for k, o in way.found.items()}
        self.before = len(grads)
        for way in self.ways:
            way.complete(self.types)
            way.split()
        self.kept = [[(output, way.b.dtype(output)) for output in way.kept] for way in self.ways]
        self.added = [dtype for kept in self.kept for _, dtype in kept]

    def forward(self) -> list[FunctionRef]:
        """The functions with what is kept as further results; what another one keeps is faked."""
        found = []
        for way, stem in zip(self.ways, self.stems, strict=True):
            extract = way.there()
            results = way.results(extract)
            for other, kept in zip(self.ways, self.kept, strict=True):
                results += [
                    (extract.place(o) if other is way else _fake(extract.graph, t), t)
                    for o, t in kept
                ]
            made = finish(self.node.graph, f"{stem}_kept", extract, results, way.effects(extract))
            found.append(made)
        return found

    def gradients(self, kind: str, chosen: Output | None) -> list[Output | None]:
        """Add the node of the ways back; the gradient of each input."""
        order = sorted(self.types)
        reads = sorted({k for way in self.ways for k in way.reads})
        every = [one for kept in self.kept for one in kept]
        functions = []
        for way, stem in zip(self.ways, self.stems, strict=True):
            extract = way.back(reads, every)
            results = way.ends(extract, order)
            functions.append(finish(self.node.graph, f"{stem}_back", extract, results))
        kept = [(self.node, self.before + k) for k in range(len(every))]
        inputs = [*(self.inputs[k] for k in reads), *kept, *self.given.values()]
        types = [self.types[k] for k in order]
        if not types:
            return [None] * len(self.inputs)
        made = self._node(kind, chosen, functions, inputs, types)
        place = {k: (made, n) for n, k in enumerate(order)}
        return [place.get(k) for k in range(len(self.inputs))]

    def _node(
        self,
        kind: str,
        chosen: Output | None,
        functions: list[FunctionRef],
        inputs: list[Output],
        types: list[DType],
    ) -> Node:
        stateful = any(is_stateful(self.node.graph, f) for f in functions)
        if chosen is None:
            op = "StatefulPartitionedCall" if stateful else "PartitionedCall"
            return self.b.node(op, inputs, Tout=types, f=functions[0])
        op = kind if stateful else f"Stateless{kind}"
        if kind == "Case":
            return self.b.node(op, chosen, inputs, Tout=types, branches=functions)
        then, other = functions
        return self.b.node(op, chosen, inputs, Tout=types, then_branch=then, else_branch=other)


def _fake(graph: Any, dtype: DType) -> Output:
    return Builder(graph, "gradients")("FakeParam", dtype=dtype, shape=None)
