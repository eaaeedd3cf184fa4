"""Why a region is not replaced."""

from __future__ import annotations

from typing import NoReturn

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import GraphError
from drystone_base.core.payloads import at_node
from drystone_base.graph import Node, Output

__all__ = ["a_cycle", "foreign", "not_an_output", "refused", "wrong_dtype"]


def refused(what: str, check: str, found: str, needed: str) -> NoReturn:
    """Refuse a region that no node can stand for."""
    raise GraphError(
        f"a region cannot be replaced: {what}",
        check=check,
        found=found,
        needed=needed,
        remedy="give the tensors that enter the region and those that leave it",
        code="bad-replacement",
    )


def foreign(node: Node) -> NoReturn:
    """Refuse a node of another graph, or one that is in none any more."""
    raise GraphError(
        f"node {node.name!r} is not in this graph",
        details=at_node(node.name, node.op),
        check="inputs, outputs and the node that replaces are of the graph that is edited",
        found="a node of another graph, or one that was removed",
        needed="nodes of the graph",
        remedy=f"look it up: graph[{node.name!r}]",
        code="foreign-node",
    )


def not_an_output(output: Output, types: list[DType] | None) -> NoReturn:
    """Refuse an output that its node does not have."""
    node, index = output
    raise GraphError(
        f"node {node.name!r} ({node.op}) has no output {index}",
        details=at_node(node.name, node.op),
        check="a tensor is an output that its node has",
        found=f"{node.name}:{index}",
        needed="an index of 0 or more" if types is None else f"one of its {len(types)} outputs",
        remedy="an index counts outputs from 0",
        code="bad-output-index",
    )


def wrong_dtype(place: str, old: DType, result: str, new: DType) -> NoReturn:
    """Refuse a node that gives another dtype."""
    raise GraphError(
        f"{result} cannot stand for {place}",
        check="a replacement has the dtype of what it replaces",
        found=str(new),
        needed=str(old),
        remedy="cast what the node gives, or let it give that dtype",
        code="dtype-mismatch",
    )


def a_cycle(node: Node, why: str) -> NoReturn:
    """Refuse a node that would wait for itself."""
    raise GraphError(
        f"node {node.name!r} ({node.op}) would wait for itself",
        details=at_node(node.name, node.op),
        check="what a node waits for must not depend on what it gives",
        found=why,
        needed="a region that no path leaves and enters again",
        remedy="take what lies on the path into the region, or leave its end out",
        code="graph-cycle",
    )
