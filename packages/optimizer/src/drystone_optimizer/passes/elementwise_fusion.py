"""Element-wise fusion: neighbours that compute element by element become one node.

The fused kernel goes through the tensor in tiles, so that what one op gives is still in the cache
when the next one reads it, and a chain of small ops costs one call. Only where a plugin has a
kernel for the fused op. Each op keeps its own loop, so that values stay the same to the bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.graph import Node, Output
from drystone_base.ops.own import FUSED_ELEMENTWISE, FUSES, LOGIC
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.native_kernels import of_plugins
from drystone_optimizer.core.regions import is_inner

if TYPE_CHECKING:
    from drystone_base.inference.inference import Shapes

__all__ = ["run"]

_SUMS: Final = frozenset(("float32", "float64", "int32", "int64"))
"""Labels of the dtypes of which AddN is one sum of two after another: others it rounds once."""

_BOOL: Final = as_dtype("bool")
_AS_SUMS: Final = ("AddN", "BiasAdd")
"""Ops that become additions."""

_FIRST_STEPS: Final = 2048  # as far as a region grows before it is seen that it fits
_MOST_STEPS: Final = 1 << 20
_GROWTH: Final = 8
_MOST_INPUTS: Final = 256  # of the kernel in drystone-cpu
_MOST_RESULTS: Final = 64  # that wait to be read at once: its buffers


def run(ctx: Context) -> None:
    """Fuse each region that ends in one output, consumers first."""
    if FUSED_ELEMENTWISE not in of_plugins():
        ctx.decline("no plugin has a kernel for fused element-wise ops")
        return
    shapes = ctx.shapes_in_use()
    for node in reversed(ctx.order()):
        if ctx.graph.get(node.name) is not node or not _is_elementwise(node):
            continue
        ctx.tick()
        if not ctx.may_rewrite(node) or not any(_is_elementwise(s) for s, _ in node.inputs):
            continue
        region = _Region.around(ctx, shapes, node)
        if region is not None:
            _fuse(ctx, region)
    _take_moves_in(ctx)


def _take_moves_in(ctx: Context) -> None:
    """Let fused nodes read around concatenations and splits, where there are some."""
    ops = {node.op for node in ctx.graph}
    if "ConcatV2" in ops:
        from drystone_optimizer.passes.concat_operands import join_operands

        join_operands(ctx)
    if not ops.isdisjoint(("Split", "SplitV")):
        from drystone_optimizer.passes.split_operands import slice_operands

        slice_operands(ctx)


def _is_elementwise(node: Node) -> bool:
    return node.op in _AS_SUMS or node.op in FUSES["float32"]


@dataclass
class _Region:
    """Nodes of which only ``root`` is read from outside, in the order in which they run."""

    root: Node
    nodes: list[Node]
    dtype: DType

    @classmethod
    def around(cls, ctx: Context, shapes: Shapes, root: Node) -> _Region | None:
        """The region that ends in ``root``; None for one that is not worth a node.

        One that grows large is looked at again, some times as large each time; of one that keeps
        too many results waiting a half is tried. So the cost goes by what it holds in the end.
        """
        found: _Region | None = None
        most = _FIRST_STEPS
        members = _members(ctx, shapes, root, most)
        while len(members) > 1:
            region = cls._of(root, members)
            if region is not None and _waiting(region.nodes) <= _MOST_RESULTS:
                found = region
                if len(members) < most or most >= _MOST_STEPS or most < _FIRST_STEPS:
                    break
                most = min(_GROWTH * most, _MOST_STEPS)
                members = _members(ctx, shapes, root, most)
            elif found is not None or region is None:
                break
            else:
                most = len(members) // 2  # any first ones are read by each other only
                members = dict.fromkeys(islice(members, most))
        return found

    @classmethod
    def _of(cls, root: Node, members: dict[Node, None]) -> _Region | None:
        types = {d for n in members if n.op not in LOGIC and (d := _computed_with(n)) is not None}
        types.discard(_BOOL)
        return cls(root, _in_order(root, members), types.pop()) if len(types) == 1 else None


def _computed_with(node: Node) -> DType | None:
    found = node.attrs.get("T")
    return found if isinstance(found, DType) else None


def _members(ctx: Context, shapes: Shapes, root: Node, most: int) -> dict[Node, None]:
    """``root`` and what only the region reads, in shape and dtype like it; users come first."""
    dtype = None if root.op in LOGIC else _computed_with(root)
    if dtype is _BOOL:
        dtype = None
    if dtype is not None and not _known(root, dtype):
        return {}
    shape, region = shapes.shape((root, 0)), dict.fromkeys([root])
    if not _has_shape(shapes, root, shape):
        return {}
    inputs = set(root.inputs)
    stack = [root]
    while stack and len(region) < most:
        for source, slot in dict.fromkeys(stack.pop().inputs):
            if source in region or not _is_elementwise(source):
                continue
            kind = dtype if source.op in LOGIC else _computed_with(source)
            if dtype is None and kind is not _BOOL:
                dtype = kind
            fits = kind is dtype or (kind is _BOOL and source.op == "SelectV2")
            if not fits or (dtype is not None and not _known(source, dtype)):
                continue
            grown = inputs | set(source.inputs)
            if len(grown) > _MOST_INPUTS or not is_inner(ctx, source, root, region):
                continue
            if not _has_shape(shapes, source, shape):
                continue
            inputs = grown - {(source, slot)}
            region[source] = None
            stack.append(source)
    return region


def _known(node: Node, dtype: DType) -> bool:
    if node.op in _AS_SUMS:
        return dtype.label in _SUMS and len(node.inputs) > 1
    return node.op in FUSES.get(dtype.label, ())


def _has_shape(shapes: Shapes, node: Node, shape: tuple[int, ...] | None) -> bool:
    """Whether a region of that shape takes the node: what it gives has the shape, or may have.

    Of the other sizes nothing but that they are not known may be known: where one turns out to be 1
    its node is computed for all elements of the region, to the same values. Ops that become
    additions do not broadcast: that they would not have failed must be known.
    """
    found = shapes.shape((node, 0))
    if node.op == "AddN":
        return all(same_shape(shapes.shape(o), shape) for o in [(node, 0), *node.inputs])
    if node.op == "BiasAdd" and not _fits_bias(shapes, node):
        return False
    if found is None or shape is None or len(found) != len(shape):
        return False
    return all(a == b != -1 or max(a, b) < 0 for a, b in zip(found, shape, strict=True))


def _fits_bias(shapes: Shapes, node: Node) -> bool:
    """Whether a bias has as many elements as the last dimension, which it is added along."""
    value, bias = (shapes.shape(output) for output in node.inputs)
    if value is None or bias is None or node.attr("data_format", b"NHWC") not in (b"NHWC", "NHWC"):
        return False
    return len(value) > 1 and len(bias) == 1 and value[-1] == bias[0] > 0


def _in_order(root: Node, members: Collection[Node]) -> list[Node]:
    """Operands before what reads them, each as late as it can be: few results wait at once."""
    order: dict[Node, None] = {}
    stack = [(root, False)]
    while stack:
        node, operands_are_done = stack.pop()
        if operands_are_done:
            order[node] = None
        elif node not in order:
            stack.append((node, True))
            stack.extend((s, False) for s, _ in reversed(node.inputs) if s in members)
    return list(order)


def _waiting(nodes: Sequence[Node]) -> int:
    """How many results wait to be read at once, at most."""
    left = Counter(source for node in nodes for source, _ in node.inputs)
    members, waiting, most = set(nodes), 0, 0
    for node in nodes:
        waiting += 1
        most = max(most, waiting)
        for source, _ in node.inputs:
            left[source] -= 1
            waiting -= source in members and not left[source]
    return most


def _steps(nodes: Sequence[Node], numbers: dict[Output, int]) -> list[tuple[str, tuple[int, ...]]]:
    """Ops and the numbers of their operands; a sum of many is one of two after another."""
    steps: list[tuple[str, tuple[int, ...]]] = []
    inputs = len(numbers)
    for node in nodes:
        operands = tuple(numbers[output] for output in node.inputs)
        if node.op == "AddN":
            for number in operands[1:-1]:
                steps.append(("AddV2", (operands[0], number)))
                operands = (inputs + len(steps) - 1, *operands[1:])
            steps.append(("AddV2", (operands[0], operands[-1])))
        else:
            steps.append(("AddV2" if node.op == "BiasAdd" else node.op, operands))
        numbers[node, 0] = inputs + len(steps) - 1
    return steps


def _fuse(ctx: Context, region: _Region) -> None:
    root = region.root
    numbers: dict[Output, int] = {}
    inner = set(region.nodes)
    for node in region.nodes:
        for output in node.inputs:
            if output[0] not in inner:
                numbers.setdefault(output, len(numbers))
    inputs = list(numbers)
    steps = _steps(region.nodes, numbers)
    dtypes = [ctx.dtype(output) for output in inputs]
    result = ctx.dtype((root, 0))
    if result is None or any(dtype not in (region.dtype, _BOOL) for dtype in dtypes):
        ctx.decline("an input's dtype is not known")
        return
    attrs = {
        "Targs": dtypes,
        "T": region.dtype,
        "Tout": result,
        "ops": [op for op, _ in steps],
        "operands": [number for _, operands in steps for number in operands],
    }
    ctx.become(root, FUSED_ELEMENTWISE, inputs, attrs)
    for node in reversed(region.nodes[:-1]):  # nothing else read them
        ctx.graph.remove(node)
        ctx.forget(node)
    ctx.count("region")
