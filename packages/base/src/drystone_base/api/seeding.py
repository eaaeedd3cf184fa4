"""The seed of a session: seeds for the random nodes that state none."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Final

from drystone_abi.protos import FunctionDef
from drystone_base.ops.attrs import encode_attr
from drystone_base.ops.defs import find

if TYPE_CHECKING:
    from drystone_base.graph import Graph

__all__ = ["with_seeds"]

_ATTRS: Final = ("seed", "seed2")
_NOT: Final = frozenset({"FractionalMaxPool", "FractionalAvgPool"})
"""Ops that refuse seeds unless they are told to be deterministic."""


def with_seeds(graph: Graph, seed: int) -> Graph:
    """A copy in which every stateful random node has seeds, made of its name and ``seed``.

    Nodes that state a seed keep it, in the graph and in its functions; ``graph`` itself is
    returned where there is nothing to do.
    """
    nodes = [n.name for n in graph if _takes_seeds(n.op) and not any(map(n.attrs.get, _ATTRS))]
    functions = [f.proto for f in graph.functions if any(map(_takes_seeds, f.ops()))]
    if not nodes and not functions:
        return graph
    out = graph.copy()
    for name in nodes:
        for attr, value in _seeds(seed, name).items():
            out.set_attr(out[name], attr, value)
    for proto in functions:
        out.functions.add(_function(proto, seed), replace=True)
    return out


@cache
def _takes_seeds(op: str) -> bool:
    found = find(op)
    if found is None or not found.is_stateful or op in _NOT:
        return False
    return all(a in found.attrs and found.attrs[a].type == "int" for a in _ATTRS)


def _seeds(seed: int, name: str) -> dict[str, int]:
    """Two positive 63-bit seeds for the node of a name."""
    words = hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=16).digest()
    first, second = (int.from_bytes(words[k : k + 8], "little") >> 1 for k in (0, 8))
    return {"seed": first or 1, "seed2": second}


def _function(proto: FunctionDef, seed: int) -> FunctionDef:
    out = FunctionDef()
    out.CopyFrom(proto)
    for node in out.node_def:
        if not _takes_seeds(node.op) or any(node.attr[a].i for a in _ATTRS if a in node.attr):
            continue
        if any(node.attr[a].placeholder for a in _ATTRS if a in node.attr):
            continue  # the caller states it
        for attr, value in _seeds(seed, f"{out.signature.name}/{node.name}").items():
            node.attr[attr].CopyFrom(encode_attr(value))
    return out
