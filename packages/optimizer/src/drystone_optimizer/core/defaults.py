"""Attributes that a graph leaves to their defaults, stated for plugins.

Exporters strip attributes that hold the op's default. Optimizers written for TensorFlow read
attributes without knowing defaults, because TensorFlow states all of them before its optimizers
run; some end the process where one is missing.
"""

from __future__ import annotations

from functools import cache

from drystone_abi.protos import AttrValue, GraphDef
from drystone_base.ops.attrs import encode_attr
from drystone_base.ops.defs import find

__all__ = ["with_defaults"]


@cache
def _defaults(op: str) -> dict[str, AttrValue]:
    """The op's attributes that have a default; none for an op that only the graph knows."""
    definition = find(op)
    if definition is None:
        return {}
    attrs = definition.attrs
    return {n: encode_attr(a.default, a.type) for n, a in attrs.items() if a.has_default}


def with_defaults(data: bytes) -> bytes:
    """The graph with every default of its nodes stated; the same bytes where none was missing."""
    graph = GraphDef.FromString(data)
    changed = False
    for node in graph.node:
        defaults = _defaults(node.op)
        if len(node.attr) >= len(defaults) and all(name in node.attr for name in defaults):
            continue
        for name, value in defaults.items():
            if name not in node.attr:
                node.attr[name].CopyFrom(value)
                changed = True
    return graph.SerializeToString(deterministic=True) if changed else data
