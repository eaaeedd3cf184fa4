"""Cutting regions out: each as a function, and an operator in its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

from drystone_abi.protos import FunctionDef
from drystone_abi.protos import OpDef as OpDefProto
from drystone_base.dtypes import DType
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.validate import Signature, Signatures
from drystone_base.ops.attrs import Shape
from drystone_subgraph.subgraph import Subgraph, SubgraphNode

__all__ = ["Region", "apply", "cut"]

_CLASS: Final = "_class"


class Region:
    """A region that becomes an operator: its nodes, what goes in and out, and what it waits for.

    ``types``: the dtypes of ``outputs``.
    """

    def __init__(self, members: Sequence[Node], name: str, node: SubgraphNode) -> None:
        self.members, self.name, self.node = members, name, node
        self.inputs: list[Output] = []
        self.outputs: list[Output] = []
        self.types: list[DType] = []
        self.controls: list[Node] = []


def cut(
    graph: Graph,
    members: Sequence[Node],
    readers: Callable[[Node], Iterable[Node]],
    fetched: Collection[Node],
    signatures: Signatures,
    names: tuple[str, str, str],
    shape: Callable[[Output], Shape],
) -> tuple[Subgraph, Region]:
    """The subgraph of ``members``, in the order of the graph, and the region that it is.

    ``names``: of the operator, the function and the backend. ``readers``: the users of a node.
    """
    name, function_name, backend = names
    region = Region(members, name, SubgraphNode(""))
    inside = frozenset(members)
    seen: dict[Output, None] = {}
    waits: dict[Node, None] = {}
    for node in members:
        for output in node.inputs:
            if output[0] not in inside:
                seen[output] = None
        for source in node.controls:
            if source not in inside:
                waits[source] = None
    region.inputs, region.controls = list(seen), list(waits)
    region.outputs = _outputs(members, inside, readers, fetched, signatures)
    maker = _Function(graph, region, inside, signatures)
    sources = [(o, maker.dtype(o)) for o in region.inputs]
    region.types = [maker.dtype(o) for o in region.outputs]
    results = list(zip(region.outputs, region.types, strict=True))
    proto = maker.build(function_name, sources, results, readers)
    found = Subgraph(name, backend, members, sources, results, proto, graph.functions, shape)
    return found, region


def _outputs(
    members: Sequence[Node],
    inside: Collection[Node],
    readers: Callable[[Node], Iterable[Node]],
    fetched: Collection[Node],
    signatures: Signatures,
) -> list[Output]:
    """Outputs that somebody outside reads, in the order of the nodes, then of their outputs."""
    found: list[Output] = []
    for node in members:
        outside = [user for user in readers(node) if user not in inside]
        if not outside and node not in fetched:
            continue
        used = {k for user in outside for source, k in user.inputs if source is node}
        if node in fetched:
            known = signatures.of(node)
            used.update(range(len(known.outputs or ())) if known is not None else ())
        found += [(node, k) for k in sorted(used)]
    return found


class _Function:
    """The function that computes a region."""

    def __init__(
        self, graph: Graph, region: Region, inside: Collection[Node], signatures: Signatures
    ) -> None:
        self.graph, self.region, self.inside = graph, region, inside
        self.signatures = signatures
        self.spelled: dict[Output, str] = {}
        self.slots: dict[int, list[str]] = {}

    def dtype(self, output: Output) -> DType:
        found = self._signature(output[0]).outputs
        assert found is not None
        return found[output[1]].base

    def build(
        self,
        name: str,
        sources: Sequence[tuple[Output, DType]],
        results: Sequence[tuple[Output, DType]],
        readers: Callable[[Node], Iterable[Node]],
    ) -> FunctionDef:
        stem = self._stem("input")
        signature = OpDefProto(name=name)
        proto = FunctionDef(signature=signature)
        for k, (output, dtype) in enumerate(sources):
            self.spelled[output] = f"{stem}_{k}"
            proto.signature.input_arg.add(name=f"{stem}_{k}", type=_number(dtype))
        for node in self.region.members:
            self._add(proto, node)
        for k, (output, dtype) in enumerate(results):
            proto.signature.output_arg.add(name=f"output_{k}", type=_number(dtype))
            proto.ret[f"output_{k}"] = self._spell(output)
        self._effects(proto, readers)
        proto.signature.is_stateful = any(map(self._is_stateful, self.region.members))
        return proto

    def _stem(self, wanted: str) -> str:
        """The beginning of the arguments' names: no node's name begins so."""
        names = [node.name for node in self.region.members if node.name.startswith(wanted)]
        stem, k = wanted, 0
        while any(name.startswith(f"{stem}_") for name in names):
            k += 1
            stem = f"{wanted}{k}"
        return stem

    def _add(self, proto: FunctionDef, node: Node) -> None:
        spelled, inputs = self.spelled, []
        for output in node.inputs:
            text = spelled.get(output)
            inputs.append(self._spell(output) if text is None else text)
        inputs += [f"^{c.name}" for c in node.controls if c in self.inside]
        made = node.to_proto(proto.node_def.add(), inputs)
        if _CLASS in made.attr:
            del made.attr[_CLASS]  # whom it is placed with may be outside

    def _spell(self, output: Output) -> str:
        text = self.spelled.get(output)
        if text is None:
            node, index = output
            text = self.spelled[output] = f"{node.name}:{self._slots(node)[index]}"
        return text

    def _slots(self, node: Node) -> list[str]:
        """How a FunctionDef spells each output of a node."""
        signature = self._signature(node)
        found = self.slots.get(id(signature))
        if found is None:
            slices = signature.definition.output_slices(signature.attrs)
            found = [f"{name}:{k}" for name, s in slices.items() for k in range(s.stop - s.start)]
            self.slots[id(signature)] = found
        return found

    def _effects(self, proto: FunctionDef, readers: Callable[[Node], Iterable[Node]]) -> None:
        """Nodes that no result needs run all the same: somebody outside waits for them."""
        inside = self.inside
        ends = [n for n in self.region.members if not any(user in inside for user in readers(n))]
        needed = {node for node, _ in self.region.outputs}
        for node in ends:
            if node not in needed:
                proto.control_ret[f"effect_{len(proto.control_ret)}"] = node.name
                proto.signature.control_output.append(f"effect_{len(proto.control_ret) - 1}")

    def _is_stateful(self, node: Node) -> bool:
        return self._signature(node).definition.is_stateful

    def _signature(self, node: Node) -> Signature:
        found = self.signatures.of(node)
        assert found is not None, f"{node.op} is known"
        return found


def _number(dtype: DType) -> Any:
    return dtype.number


def apply(graph: Graph, regions: Sequence[Region], fetched: Collection[Node]) -> None:
    """Put the operators in the place of their regions; fetched nodes keep their names."""
    made: dict[Node, Node] = {}
    moved: dict[Output, Output] = {}
    for region in regions:
        device = region.members[0].device
        operator = graph.add(region.node.op, region.name, device=device, attrs=region.node.attrs)
        made.update(dict.fromkeys(region.members, operator))
        moved.update({output: (operator, k) for k, output in enumerate(region.outputs)})
    gone = {f"loc:@{node.name}" for node in made}
    for node in graph:
        if node in made:
            continue
        if any(s in made for s, _ in node.inputs):
            graph.set_inputs(node, [moved.get(o, o) for o in node.inputs])
        if any(c in made for c in node.controls):
            graph.set_controls(node, [made.get(c, c) for c in node.controls])
        if node.states(_CLASS):
            _drop_colocation(graph, node, gone)
    for region in regions:
        operator = made[region.members[0]]
        graph.set_inputs(operator, [moved.get(o, o) for o in region.inputs])
        graph.set_controls(operator, [made.get(c, c) for c in region.controls])
    graph.remove(made)
    for region in regions:
        _keep_names(graph, region, made[region.members[0]], fetched)


def _drop_colocation(graph: Graph, node: Node, gone: Collection[str]) -> None:
    """Nobody is placed with a node that is gone."""
    named = node.attrs[_CLASS]
    left = [name for name in named if name not in gone]
    if len(left) < len(named):
        graph.set_attr(node, _CLASS, left) if left else graph.remove_attr(node, _CLASS)


def _keep_names(graph: Graph, region: Region, operator: Node, fetched: Collection[Node]) -> None:
    """Under the name of each fetched node of a region, a node with the same outputs."""
    for node in region.members:
        if node not in fetched:
            continue
        places = [k for k, (source, _) in enumerate(region.outputs) if source is node]
        values, types = [(operator, k) for k in places], [region.types[k] for k in places]
        if not values:
            graph.add("NoOp", node.name, controls=[operator], device=node.device)
        elif len(values) == 1:
            attrs: dict[str, Any] = {"T": types[0]}
            graph.add("Identity", node.name, values, device=node.device, attrs=attrs)
        else:
            graph.add("IdentityN", node.name, values, device=node.device, attrs={"T": types})
