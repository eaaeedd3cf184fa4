"""Which nodes change their data format, and from which to which."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from drystone_base.graph import Node
from drystone_base.ops.properties import CONVOLUTIONS
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.devices import DEFAULT_TYPE
from drystone_optimizer.core.native_kernels import of_plugins

__all__ = ["Direction", "directions"]

_CONVOLUTIONS: Final = tuple(sorted(CONVOLUTIONS))
_BY_CHANNEL: Final = ("BiasAdd", "FusedBatchNorm", "Add", "Mul", "Sub")
_SHORT: Final = ("float16", "bfloat16")
_LETTERS: Final = {4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


class Direction:
    """Nodes of one type of device, to channels first or to channels last."""

    def __init__(self, device: str, to_first: bool) -> None:
        self.device, self.to_first = device, to_first

    def formats(self, rank: int) -> tuple[str, str]:
        """The format from which, and the one to which, tensors of that rank go."""
        last, first = _LETTERS[rank]
        return (last, first) if self.to_first else (first, last)

    @cached_property
    def orders(self) -> dict[int, tuple[list[int], list[int]]]:
        """By rank: the permutation that goes there, and the one that goes back."""
        found = {}
        for rank in _LETTERS:
            source, target = self.formats(rank)
            there = [source.index(letter) for letter in target]
            found[rank] = (there, [target.index(letter) for letter in source])
        return found


def directions(ctx: Context) -> list[Direction]:
    """The directions for the graph's devices; why there is none is recorded."""
    found = []
    asked = [node for node in ctx.graph if node.device]
    if asked and "GPU" in ctx.devices and any(ctx.device_type(n) == "GPU" for n in asked):
        found.append(Direction("GPU", not _wants_last(ctx)))
    conversion = ctx.config.cpu_layout_conversion
    if conversion == "default" and _gains_by_last(ctx):
        conversion = "nchw_to_nhwc"
    if conversion in ("nchw_to_nhwc", "nhwc_to_nchw"):
        found.append(Direction(DEFAULT_TYPE, conversion == "nhwc_to_nchw"))
    if not found:
        ctx.decline(
            "no node is for a GPU that is there, and cpu_layout_conversion leaves the CPU's alone"
        )
    return found


def _gains_by_last(ctx: Context) -> bool:
    """Whether a convolution of the CPU has its channels first, and code that wants them last.

    That runs over the channels. A filter of one place with nothing after it is a product that is as
    quick in either format, and a depthwise convolution goes plane by plane: two transposes are not
    worth it for such alone.
    """
    kernels = of_plugins()
    return any(
        node.op in kernels and _is_first(node) and (_slides(ctx, node) or _is_followed(ctx, node))
        for node in ctx.graph
        if node.op.startswith(_CONVOLUTIONS)
        and not _is_by_planes(node)
        and ctx.device_type(node) == DEFAULT_TYPE
    )


def _is_by_planes(node: Node) -> bool:
    """Whether it is depthwise, and no gradient whose windows would move by several places."""
    moves = "BackpropInput" in node.op and any(step != 1 for step in node.attr("strides", ()))
    return "Depthwise" in node.op and not moves


def _is_first(node: Node) -> bool:
    return str(node.attr("data_format", "")).startswith("NC")


def _slides(ctx: Context, node: Node) -> bool:
    """Whether a convolution is more than a product, as far as its filter is known."""
    if "Backprop" in node.op:
        return True
    shape = ctx.shape(node.inputs[1])
    return shape is None or any(size != 1 for size in shape[:-2])


def _is_followed(ctx: Context, node: Node) -> bool:
    """Whether what comes next adds or multiplies by channel."""
    return any(user.op.startswith(_BY_CHANNEL) for user, _ in ctx.graph.consumers(node))


def _wants_last(ctx: Context) -> bool:
    """Whether half of the GPU's convolutions or more suit its units for matrices of 16 bits."""
    types = [
        str(node.attr("T"))
        for node in ctx.graph
        if node.op.startswith(_CONVOLUTIONS) and ctx.device_type(node) == "GPU"
    ]
    return bool(types) and 2 * sum(one in _SHORT for one in types) >= len(types)
