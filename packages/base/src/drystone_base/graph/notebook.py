"""Graphs in notebooks: a small table instead of a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.shown import shape_text, table
from drystone_base.graph.node import placeholder_shape
from drystone_base.ops.properties import PLACEHOLDERS

if TYPE_CHECKING:
    from drystone_base.graph.graph import Graph

__all__ = ["graph_html"]

_SHOWN: Final = 12


def graph_html(graph: Graph) -> str:
    """A graph's inputs and its most frequent ops, with how many there are."""
    ops = Counter(node.op for node in graph)
    inputs = [node for node in graph if node.op in PLACEHOLDERS]
    rows: list[Sequence[Any]] = [
        ("input", node.name, f"{node.attr('dtype')} {shape_text(placeholder_shape(node))}")
        for node in inputs[:_SHOWN]
    ]
    if len(inputs) > _SHOWN:
        rows.append(("input", f"{len(inputs) - _SHOWN} more", ""))
    rows += [("op", op, count) for op, count in ops.most_common(_SHOWN)]
    if len(ops) > _SHOWN:
        rest = ops.most_common()[_SHOWN:]
        rows.append(("op", f"{len(rest)} others", sum(count for _, count in rest)))
    title = f"Graph: {len(graph)} nodes, {len(graph.functions)} functions"
    return table(title, ("", "name", ""), rows)
