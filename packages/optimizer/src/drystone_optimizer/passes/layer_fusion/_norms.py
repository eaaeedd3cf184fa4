"""The node of a layer normalization, over the last dimension or the last few."""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import prod
from typing import Any, NamedTuple

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node, Output
from drystone_base.ops.own import LAYER_NORM
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import of_plugins
from drystone_optimizer.passes.arithmetic_optimization import reshapes

__all__ = ["Normalization", "become_normalization", "can_become", "is_parameter_of"]


class Normalization(NamedTuple):
    """The node that is to give it, what it is of, over how many of the last dimensions."""

    root: Node
    x: Output
    axes: int
    scale: Output | None
    offset: Output | None
    epsilon: float


def can_become(ctx: Context, output: Output, labels: Collection[str]) -> bool:
    """Whether a plugin has a kernel, and the output is of a dtype of these labels."""
    dtype = ctx.dtype(output) if LAYER_NORM in of_plugins() else None
    return dtype is not None and dtype.label in labels


def is_parameter_of(ctx: Context, x: Output, axes: int) -> Callable[[Output], bool] | None:
    """Whether an output is a scale or offset, of an entry for each element of a row.

    None where ``x`` has no rows of a known size over 1, or more than one node would have to say
    which shape the result has.
    """
    shape = ctx.shape(x)
    if not shape or min(shape[-axes:]) < 1 or prod(shape[-axes:]) < 2:
        return None
    if axes > 1 and sum(size < 0 for size in shape) > 1:
        return None
    if axes > 1 and any(size == 0 for size in shape):
        return None  # -1 would stand for anything

    def is_parameter(output: Output) -> bool:
        held = ctx.shape(output)
        if held is None or not axes <= len(held) <= len(shape) or held[-axes:] != shape[-axes:]:
            return False
        return all(size == 1 for size in held[:-axes])

    return is_parameter


def become_normalization(ctx: Context, _: Node, found: Normalization) -> None:
    """Make the root that node; of several dimensions, between two Reshapes."""
    root, x = found.root, found.x
    args = [arg for arg in (found.scale, found.offset) if arg is not None]
    before = [source for source, _ in root.inputs]
    attrs: dict[str, Any] = {
        "T": ctx.dtype(x),
        "num_args": len(args),
        "has_scale": found.scale is not None,
        "has_offset": found.offset is not None,
        "epsilon": found.epsilon,
    }
    if found.axes == 1:
        ctx.become(root, LAYER_NORM, [x, *args], attrs)
    else:
        _between_reshapes(ctx, found, args, attrs)
    for source in before:
        if ctx.graph.get(source.name) is source:
            ctx.drop_unused(source)


def _between_reshapes(
    ctx: Context, found: Normalization, args: list[Output], attrs: dict[str, Any]
) -> None:
    shape, root = ctx.shape(found.x), found.root
    assert shape is not None
    more = {"T": attrs["T"], "Tshape": as_dtype("int32")}
    sizes = np.array([-1, prod(shape[-found.axes :])], np.int32)
    rows = _sizes(ctx, root, "rows", sizes)
    flat = ctx.add("Reshape", root, "flat", [found.x, rows], more)
    normal = ctx.add(LAYER_NORM, root, "normal", [(flat, 0), *args], attrs)
    stated = np.array([max(size, -1) for size in shape], np.int32)
    back = _sizes(ctx, root, "shape", stated)
    ctx.become(root, "Reshape", [(normal, 0), back], more)
    for node in (flat, *ctx.graph.users(root)):
        inner = reshapes.RULE.match(ctx, node) if node.op == "Reshape" else None
        if inner is not None and ctx.may_rewrite(node):
            reshapes.RULE.apply(ctx, node, inner)


def _sizes(ctx: Context, near: Node, stem: str, sizes: np.ndarray[Any, Any]) -> Output:
    """A constant of sizes: one that another normalization has, else a new one."""
    for node in ctx.graph:
        value = ctx.constant((node, 0)) if node.op == "Const" and not node.controls else None
        if value is None or value.dtype != sizes.dtype or node.device != near.device:
            continue
        if value.shape == sizes.shape and bool((value == sizes).all()):
            return node, 0
    return ctx.add_constant(near, stem, sizes)
