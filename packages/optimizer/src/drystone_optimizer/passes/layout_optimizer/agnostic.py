"""Ops that do the same in any format once their axes and sizes follow: moved behind transposes.

A node is moved when some image that it reads comes from a transpose back to the old format, and no
more of them would need a transpose of their own than come from one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from drystone_base.graph import Node, Output
from drystone_base.ops.properties import (
    ELEMENTWISE_BINARY,
    ELEMENTWISE_GRADIENTS,
    ELEMENTWISE_UNARY,
    IDENTITIES,
    REDUCTIONS,
)
from drystone_optimizer.passes.layout_optimizer.conversion import Conversion, Plan

__all__ = ["OPS", "match"]

_Handler: TypeAlias = Callable[[Conversion, Node], Plan | None]

_UNARY: Final = (ELEMENTWISE_UNARY - {"Invert"}) | (IDENTITIES - {"IdentityN"}) | {
    "Angle", "Cast", "CheckNumerics", "ComplexAbs", "Digamma", "Imag", "IsFinite", "IsInf", "IsNan",
    "Lgamma", "LogicalNot", "OnesLike", "Real", "ZerosLike",
}  # fmt: skip


def match(conversion: Conversion, node: Node) -> Plan | None:
    """What to change of a node to compute it in the new format; None where it stays."""
    handler = OPS.get(node.op)
    if handler is None or not node.inputs:
        return None
    return handler(conversion, node)


def _images(conversion: Conversion, node: Node, slots: Sequence[int]) -> int:
    """The rank of the images at these inputs, where moving pays; else 0."""
    back = [rank for k in slots if (rank := conversion.comes_back(node.inputs[k]))]
    if not back or len(set(back)) > 1 or 2 * len(back) < len(slots):
        return 0
    shapes = [conversion.ctx.shape(node.inputs[k]) for k in slots]
    return back[0] if all(s is not None and len(s) == back[0] for s in shapes) else 0


def _all_images(conversion: Conversion, node: Node) -> Plan | None:
    slots = range(len(node.inputs))
    rank = _images(conversion, node, slots)
    return Plan(rank, slots) if rank else None


def _first(conversion: Conversion, node: Node) -> Plan | None:
    rank = _images(conversion, node, (0,))
    return Plan(rank) if rank else None


def _cast(conversion: Conversion, node: Node) -> Plan | None:
    """Bitcast may change the rank, by the sizes of its types."""
    found = _first(conversion, node)
    shape = conversion.ctx.shape((node, 0))
    return found if found and shape is not None and len(shape) == found.rank else None


def _broadcast(conversion: Conversion, node: Node, slots: Sequence[int]) -> Plan | None:
    """Images, scalars, and what has fewer dimensions, which is filled up to images."""
    by_rank: dict[int, list[int]] = {}
    for k in slots:
        shape = conversion.ctx.shape(node.inputs[k])
        by_rank.setdefault(-1 if shape is None else len(shape), []).append(k)
    full = [rank for rank in by_rank if rank in conversion.direction.orders]
    if len(full) != 1 or not by_rank.keys() <= set(range(full[0] + 1)):
        return None
    thin = [k for rank, found in by_rank.items() if 0 < rank < full[0] for k in found]
    if not all(_is_sized(conversion, node.inputs[k]) for k in thin):
        return None
    rank = _images(conversion, node, by_rank[full[0]])
    return Plan(rank, by_rank[rank], thin=thin) if rank else None


def _is_sized(conversion: Conversion, output: Output) -> bool:
    """Whether one Reshape can give a value more dimensions: at most one size is unknown."""
    shape = conversion.ctx.shape(output)
    return shape is not None and sum(size < 0 for size in shape) <= 1


def _binary(conversion: Conversion, node: Node) -> Plan | None:
    return _broadcast(conversion, node, (0, 1))


def _ternary(conversion: Conversion, node: Node) -> Plan | None:
    return _broadcast(conversion, node, (0, 1, 2))


def _select(conversion: Conversion, node: Node) -> Plan | None:
    """Select takes a vector of conditions for the batch, which is the first in any format."""
    rank = _images(conversion, node, (1, 2))
    shape = conversion.ctx.shape(node.inputs[0])
    if not rank or shape is None or len(shape) not in (0, 1, rank):
        return None
    return Plan(rank, (0, 1, 2) if len(shape) == rank else (1, 2))


def _clip(conversion: Conversion, node: Node) -> Plan | None:
    shapes = [conversion.ctx.shape(output) for output in node.inputs[1:]]
    return _first(conversion, node) if shapes == [(), ()] else None


def _concat(conversion: Conversion, node: Node) -> Plan | None:
    last = len(node.inputs) - 1
    slots, axis = (range(last), last) if node.op == "ConcatV2" else (range(1, last + 1), 0)
    rank = _images(conversion, node, slots)
    return Plan(rank, slots, axes=(axis,)) if rank else None


def _split(conversion: Conversion, node: Node) -> Plan | None:
    data, axis = (1, 0) if node.op == "Split" else (0, 2)
    rank = _images(conversion, node, (data,))
    count = int(node.attr("num_split", 1))
    return Plan(rank, (data,), range(count), axes=(axis,)) if rank else None


def _with_vectors(*slots: int) -> _Handler:
    def handler(conversion: Conversion, node: Node) -> Plan | None:
        rank = _images(conversion, node, (0,))
        shapes = [conversion.ctx.shape(node.inputs[k]) for k in slots]
        if not rank or any(not shape or shape[0] != rank for shape in shapes):
            return None
        return Plan(rank, vectors=slots)

    return handler


def _strided_slice(conversion: Conversion, node: Node) -> Plan | None:
    """Only as many slices as there are dimensions, each of them in its place."""
    if any(node.attr(f"{name}_mask", 0) for name in ("ellipsis", "new_axis", "shrink_axis")):
        return None
    found = _with_vectors(1, 2, 3)(conversion, node)
    if found is None:
        return None
    order = conversion.direction.orders[found.rank][0]
    attrs = {}
    for name in ("begin_mask", "end_mask"):
        mask = int(node.attr(name, 0))
        attrs[name] = sum((mask >> at & 1) << k for k, at in enumerate(order))
    return Plan(found.rank, vectors=found.vectors, attrs=attrs)


def _left_in_order(conversion: Conversion, rank: int, gone: set[int]) -> bool:
    """Whether the dimensions that are left follow each other alike in both formats."""
    source, target = conversion.direction.formats(rank)
    letters = {source[k] for k in gone}
    return [s for s in source if s not in letters] == [t for t in target if t not in letters]


def _reduce(conversion: Conversion, node: Node) -> Plan | None:
    rank = _images(conversion, node, (0,))
    axes = conversion.ctx.constant(node.inputs[1])
    if not rank or axes is None or not all(-rank <= int(a) < rank for a in axes.flat):
        return None
    if node.attr("keep_dims", False):
        return Plan(rank, axes=(1,))
    gone = {int(a) % rank for a in axes.flat}
    return Plan(rank, (0,), (), axes=(1,)) if _left_in_order(conversion, rank, gone) else None


def _squeeze(conversion: Conversion, node: Node) -> Plan | None:
    rank = _images(conversion, node, (0,))
    axes = node.attr("squeeze_dims") or []
    if not rank or not axes or not all(-rank <= a < rank for a in axes):
        return None
    if not _left_in_order(conversion, rank, {a % rank for a in axes}):
        return None
    source, target = conversion.direction.formats(rank)
    places = sorted(target.index(source[a]) for a in axes)
    return Plan(rank, (0,), (), attrs={"squeeze_dims": places})


def _reverse(conversion: Conversion, node: Node) -> Plan | None:
    rank = _images(conversion, node, (0,))
    return Plan(rank, axes=(1,)) if rank else None


def _shape(conversion: Conversion, node: Node) -> Plan | None:
    rank = _images(conversion, node, range(len(node.inputs)))
    slots = range(len(node.inputs))
    return Plan(rank, slots, (), sizes=slots) if rank else None


def _size(conversion: Conversion, node: Node) -> Plan | None:
    rank = _images(conversion, node, (0,))
    return Plan(rank, outputs=()) if rank else None


def _fill(conversion: Conversion, node: Node) -> Plan | None:
    rank = conversion.sizes_come_back(node.inputs[0])
    return Plan(rank, (), vectors=(0,)) if rank else None


def _identities(conversion: Conversion, node: Node) -> Plan | None:
    ranks = [conversion.comes_back(output) for output in node.inputs]
    rank = max(ranks)
    slots = [k for k, found in enumerate(ranks) if found == rank]
    return Plan(rank, slots, slots) if rank else None


def _switch(conversion: Conversion, node: Node) -> Plan | None:
    rank = _images(conversion, node, (0,))
    return Plan(rank, (0,), (0, 1)) if rank else None


def _merge(conversion: Conversion, node: Node) -> Plan | None:
    """Only where all branches end in the new format: none of them gets a transpose."""
    ranks = {conversion.comes_back(output) for output in node.inputs}
    if len(ranks) != 1 or 0 in ranks:
        return None
    return Plan(ranks.pop(), range(len(node.inputs)))


OPS: Final[Mapping[str, _Handler]] = {
    **dict.fromkeys(sorted(_UNARY), _first),
    **dict.fromkeys((*sorted(ELEMENTWISE_GRADIENTS), "AddN"), _all_images),
    **dict.fromkeys(sorted(ELEMENTWISE_BINARY), _binary),
    **dict.fromkeys(("Betainc", "SelectV2"), _ternary),
    **dict.fromkeys(("Concat", "ConcatV2"), _concat),
    **dict.fromkeys(("Split", "SplitV"), _split),
    **dict.fromkeys(("Pad", "PadV2", "MirrorPad", "MirrorPadGrad", "Tile"), _with_vectors(1)),
    **dict.fromkeys(sorted(REDUCTIONS), _reduce),
    **dict.fromkeys(("Shape", "ShapeN"), _shape),
    "Bitcast": _cast,
    "ClipByValue": _clip,
    "Fill": _fill,
    "IdentityN": _identities,
    "Merge": _merge,
    "ReverseV2": _reverse,
    "Select": _select,
    "Size": _size,
    "Slice": _with_vectors(1, 2),
    "Squeeze": _squeeze,
    "StridedSlice": _strided_slice,
    "Switch": _switch,
}
"""Ops that follow the format of what they read."""
