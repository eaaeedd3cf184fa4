"""What a creator gives for a region, looked at before it stands in a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import GraphError, PluginError
from drystone_base.graph import FunctionLibrary, Graph, Node
from drystone_base.graph.validate import definition_of, output_dtypes, validate
from drystone_base.ops.attrs import FunctionRef
from drystone_subgraph.contract.subgraph import Subgraph, SubgraphNode

__all__ = ["check_created"]


def check_created(made: Any, region: Subgraph) -> None:
    """The operator fits the region, and so does the body where the creator has edited it.

    The region's function is in its library already. Raises ``PluginError``
    (``subgraph-backend-failed``).
    """
    if not isinstance(made, SubgraphNode) or not isinstance(made.attrs, Mapping):
        _refuse(region, "a creator gives an operator, or None", repr(made), "a SubgraphNode")
    if not region.edited and made == region.node():
        return  # most are, and a large graph has many
    try:
        if region.edited:
            _check_body(region)
        _check_operator(made, region)
    except GraphError as error:  # the node is the creator's, and so is the mistake
        _refuse(region, error.check, f"{error.found}: {error.what}", error.needed)


def _check_body(region: Subgraph) -> None:
    body = region.body
    for node in body.graph:
        _check_op(region, node)
    validate(body.graph)
    for noun, ends, wanted in (
        ("inputs", body.args, region.input_types),
        ("outputs", body.results, region.output_types),
    ):
        _check_types(region, f"the body keeps its {noun}", [n.attr("T") for n in ends], wanted)


def _check_operator(made: SubgraphNode, region: Subgraph) -> None:
    """A node like it, whose inputs are of the region's dtypes, in a graph of its own."""
    graph = Graph()
    graph.functions = region.library
    types = enumerate(region.input_types)
    inputs = [graph.add("Placeholder", f"input_{k}", attrs={"dtype": t}) for k, t in types]
    node = graph.add(made.op, region.name, inputs, attrs=made.attrs)
    _check_op(region, node)
    validate(graph, [node])
    for name in _called(made.attrs):
        _check_called(region, name, region.library)
    found = output_dtypes(node)
    _check_types(region, f"{made.op} gives the outputs of the region", found, region.output_types)


def _check_op(region: Subgraph, node: Node) -> None:
    if definition_of(node) is None:
        _refuse(region, "operators are of known ops", f"node {node.name!r} of op {node.op!r}",
                "an op that is registered, or a function of the graph")  # fmt: skip


def _called(attrs: Mapping[str, Any]) -> Iterator[str]:
    for value in attrs.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, FunctionRef):
                yield one.name


def _check_called(region: Subgraph, name: str, library: FunctionLibrary) -> None:
    if name not in library:
        _refuse(region, "what an operator calls is in the library", f"no function {name!r}",
                "a function of subgraph.library")  # fmt: skip


def _check_types(
    region: Subgraph, check: str, found: Sequence[DType] | None, wanted: Sequence[DType]
) -> None:
    if found is None or [t.base for t in found] != list(wanted):
        text = "dtypes that are not known" if found is None else _listed(found)
        _refuse(region, check, text, _listed(wanted))


def _listed(types: Sequence[DType]) -> str:
    return f"[{', '.join(map(str, types))}]"


def _refuse(region: Subgraph, check: str, found: str, needed: str) -> NoReturn:
    raise PluginError(
        f"subgraph backend {region.backend!r} made no fitting operator for {region.name!r}",
        check=check,
        found=found,
        needed=needed,
        remedy=f"leave {region.backend!r} out of the backends, and report this to its author",
        plugin=region.backend,
        code="subgraph-backend-failed",
    )
