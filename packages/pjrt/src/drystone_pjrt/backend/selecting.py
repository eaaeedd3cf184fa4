"""What the backend takes: ops that can be written, of types that StableHLO has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from drystone_base.graph import Node
from drystone_base.graph.validate import output_dtypes
from drystone_pjrt.stablehlo.ops import complex_use
from drystone_pjrt.stablehlo.region import emitters
from drystone_pjrt.stablehlo.writer import ELEMENTS
from drystone_subgraph import (
    ContainOpSelector,
    Subgraph,
    SubgraphNode,
    SubgraphProperty,
    SubgraphSelector,
)
from drystone_subgraph.regions.unfused import FUSED

__all__ = ["HEAVY", "Regions"]

HEAVY: Final = FUSED | {
    "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2D", "DepthwiseConv2dNative", "Einsum",
    "MatMul",
}  # fmt: skip
"""Ops that are worth a call and copies."""
_OF_SHAPES: Final = frozenset(
    {"Add", "AddV2", "Cast", "ConcatV2", "Const", "ExpandDims", "FloorDiv", "GatherV2", "Identity",
     "Maximum", "Minimum", "Mul", "Pack", "Prod", "Range", "Rank", "Reshape", "Shape", "Size",
     "Slice", "Squeeze", "StridedSlice", "Sub"}
)  # fmt: skip
"""Ops by which shapes are computed."""
_SHAPES: Final = frozenset({"Rank", "Shape", "Size"})
_DEEP: Final = 32


class _Selector(ContainOpSelector):
    """The ops of the list, of elements that programs can have, with what must be known known."""

    def lacks(self, node: Node) -> str:
        for end in (node, *(source for source, _ in node.inputs)):
            for dtype in output_dtypes(end) or ():
                if dtype.ref or dtype.label not in ELEMENTS or complex_use(node.op, [dtype.np]):
                    return f"{node.op} of {dtype}"
        unknown = next((source for source in _static(node) if not _follows(source, 0)), None)
        if unknown is not None:
            return f"{node.op} needs {unknown.name!r} beforehand, which no shape and constant says"
        emitter = emitters().get(node.op)  # none for a fused layer, which is taken apart
        why = emitter.check(node) if emitter is not None else ""
        return f"{node.op}: {why}" if why else ""

    def filter(self, candidates: Sequence[Node]) -> Sequence[Node]:
        """Without nodes whose shapes and axes are computed outside of the region."""
        kept = list(candidates)
        while True:
            inside = frozenset(kept)
            left = [node for node in kept if all(_is_known(n, inside, 0) for n in _static(node))]
            if len(left) == len(kept):
                return kept
            kept = left


def _static(node: Node) -> list[Node]:
    """What must be known beforehand."""
    emitter, count = emitters().get(node.op), len(node.inputs)
    places = () if emitter is None else emitter.static
    return [node.inputs[k][0] for k in places if -count <= k < count]


def _is_known(node: Node, inside: Collection[Node], depth: int) -> bool:
    """Whether a value follows from constants and from shapes of values in the region."""
    if node.op == "Const" or depth > _DEEP:
        return node.op == "Const"
    if node not in inside:
        return False
    return node.op in _SHAPES or all(_is_known(n, inside, depth + 1) for n, _ in node.inputs)


def _follows(node: Node, depth: int) -> bool:
    """Whether a value follows from constants and shapes alone."""
    if node.op in _SHAPES:
        return True
    if node.op not in _OF_SHAPES or depth > _DEEP:
        return False
    return all(_follows(source, depth + 1) for source, _ in node.inputs)


class Regions(SubgraphProperty):
    """Regions that do enough to be worth a call."""

    name = "stablehlo"
    minimum_size = 2

    def create_subgraph_selector(self) -> SubgraphSelector:
        """What can be written."""
        return _Selector(FUSED | emitters().keys())

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        """The default operator, for a region with a product or a convolution."""
        if not any(node.op in HEAVY for node in subgraph.function.node_def):
            return subgraph.refuse("no product or convolution in it")
        return subgraph.node()
