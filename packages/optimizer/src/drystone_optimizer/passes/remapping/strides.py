"""What convolutions of one element with strides skip is not computed by the layer before them.

A residual network halves its images by such convolutions: the branch and the shortcut read every
second row and column of what the convolution before gave. It takes over their stride.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.remapping._windows import (
    CONVOLUTIONS,
    become_windows,
    image_axes,
    integers,
    paddings_of,
)

__all__ = ["RULE"]


class _Found(NamedTuple):
    source: Node
    readers: list[Node]
    paddings: list[tuple[int, int]]


def _match(ctx: Context, node: Node) -> _Found | None:
    source, slot = node.inputs[0]
    strides = integers(node, "strides")
    if slot or source.op not in CONVOLUTIONS or not _skips(ctx, node, strides):
        return None
    if ctx.kept(source) or source in ctx.fed_nodes or not ctx.may_rewrite(source):
        return None
    readers = list(dict.fromkeys(user for user, _ in ctx.graph.consumers(source)))
    for reader in readers:
        reads = [k for k, (read, _) in enumerate(reader.inputs) if read is source]
        if reads != [0] or not _skips(ctx, reader, strides):
            return None
        if image_axes(reader) != image_axes(source) or not ctx.may_rewrite(reader):
            return None
    paddings = paddings_of(ctx, source)
    return None if paddings is None else _Found(source, readers, paddings)


def _skips(ctx: Context, node: Node, strides: list[int]) -> bool:
    """Whether it is a convolution of one element with these strides, of more than 1, unpadded."""
    window = ctx.shape(node.inputs[1]) if node.op in CONVOLUTIONS else None
    if window is None or len(window) != 4 or window[:2] != (1, 1) or max(strides) < 2:
        return False
    if integers(node, "strides") != strides:
        return False
    padded = node.attr("padding") == "EXPLICIT" and any(node.attr("explicit_paddings", ()))
    return not padded


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    source, strides = found.source, integers(node, "strides")
    inputs = list(source.inputs)
    if "Add" in source.attr("fused_ops", ()):
        place = _place_of_sum(source)
        inputs[place] = _every(ctx, source, inputs[place], strides)
    taken = [a * b for a, b in zip(integers(source, "strides"), strides, strict=True)]
    become_windows(ctx, source, inputs, found.paddings, taken)
    for reader in found.readers:
        become_windows(ctx, reader, reader.inputs, [(0, 0)] * 4, [1, 1, 1, 1])


def _place_of_sum(source: Node) -> int:
    """The input that is added: filter and the inputs of what comes before it are left out."""
    place = 2
    for name in source.attr("fused_ops"):
        if name == "Add":
            return place
        place += {"BiasAdd": 1, "FusedBatchNorm": 4}.get(name, 0)
    raise AssertionError(source.name)


def _every(ctx: Context, near: Node, output: Output, strides: list[int]) -> Output:
    """The rows and columns of ``output`` that are read."""
    whole = 2 ** len(strides) - 1
    begin = ctx.add_constant(near, "begin", np.zeros(len(strides), np.int32))
    steps = ctx.add_constant(near, "steps", np.asarray(strides, np.int32))
    attrs = {
        "T": ctx.dtype(output),
        "Index": as_dtype("int32"),
        "begin_mask": whole,
        "end_mask": whole,
    }
    return (ctx.add("StridedSlice", near, "every", [output, begin, begin, steps], attrs), 0)


RULE: Final = Rule(
    "strides", CONVOLUTIONS, _match, _apply, Numeric.REASSOCIATES, reads=CONVOLUTIONS
)
