"""Which nodes regions are made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from drystone_base.graph import Node
from drystone_subgraph.contract.selector import NodeSelector
from drystone_tvm.compiling import elements, layout, products, reductions
from drystone_tvm.compiling.rules import RULES, why_not

__all__ = ["MOVING", "Selector", "computes", "known_ops"]

_RULES_OF: Final = (elements, layout, products, reductions)
"""Modules that are imported for the rules that they register."""
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
