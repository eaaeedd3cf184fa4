"""Which nodes regions are made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from drystone_abi.protos import FunctionDef
from drystone_base.graph import Node
from drystone_subgraph.contract.selector import NodeSelector
from drystone_tvm.compiling import elements, layout, products, reductions
from drystone_tvm.compiling.rules import RULES, why_not

__all__ = ["MOVING", "PIECES", "Selector", "computes", "known_ops", "piece"]

_RULES_OF: Final = (elements, layout, products, reductions)
"""Modules that are imported for the rules that they register."""
_LARGEST: Final = 40
"""Nodes of a region: TVM's passes take more than twice as long for twice as many."""
PIECES: Final = 32
"""How often what is left of regions that were too large is gone over again."""
MOVING: Final = frozenset(
    {"BroadcastTo", "Cast", "ConcatV2", "ExpandDims", "Gather", "GatherV2", "Identity", "Pack",
     "Pad", "PadV2", "PreventGradient", "Reshape", "Slice", "Snapshot", "Squeeze", "StopGradient",
     "Tile", "Transpose", "OnesLike", "ZerosLike"}
)  # fmt: skip
"""Ops that compute nothing: a region of them alone is not worth a call."""


def known_ops() -> frozenset[str]:
    """The ops that there are rules for."""
    return frozenset(RULES)


def computes(ops: Collection[str]) -> bool:
    """Whether a region of these ops does more than move elements."""
    return not MOVING.issuperset(ops)


class Selector(NodeSelector):
    """Nodes with a rule, of ``ops`` where those are stated; not those that were ``refused``."""

    def __init__(
        self, ops: Collection[str] | None = None, refused: Mapping[str, str] | None = None
    ) -> None:
        self.ops, self.refused = ops, refused or {}

    def wants(self, node: Node) -> bool:
        """Whether a region may have the node."""
        return not self.why_not(node)

    def why_not(self, node: Node) -> str:
        """Why a region may not have the node, "" where it may."""
        if self.ops is not None and node.op not in self.ops:
            return f"{node.op} is none of the ops that are asked for"
        return self.refused.get(node.name, "") or why_not(node)


def piece(function: FunctionDef) -> frozenset[str] | None:
    """The nodes of a part of a region that is not too large; None where the whole is not.

    The part needs nothing of the rest, so that no path leaves it and comes back.
    """
    sources = {node.name: [_name(text) for text in node.input] for node in function.node_def}
    inside = {name: [s for s in found if s in sources] for name, found in sources.items()}
    if len(inside) <= _LARGEST:
        return None
    return _largest_component(_before(inside)[:_LARGEST], inside)


def _name(text: str) -> str:
    """The node that an input of a function's node names."""
    return text.removeprefix("^").partition(":")[0]


def _before(sources: Mapping[str, Sequence[str]]) -> list[str]:
    """All nodes, each after what it needs, and near to it."""
    found: dict[str, None] = {}
    for end in sources:
        stack = [(end, iter(sources[end]))]
        entered = {end}
        while stack:
            name, rest = stack[-1]
            following = next((s for s in rest if s not in found and s not in entered), None)
            if following is None:
                found.setdefault(name)
                stack.pop()
            else:
                entered.add(following)
                stack.append((following, iter(sources[following])))
    return list(found)


def _largest_component(
    names: Sequence[str], sources: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """The most nodes that hold together."""
    parts: list[set[str]] = []
    for name in names:
        joined = {name}
        for part in [p for p in parts if not p.isdisjoint(sources[name])]:
            joined |= part
            parts.remove(part)
        parts.append(joined)
    largest: set[str] = max(parts, key=len)
    return frozenset(largest)
