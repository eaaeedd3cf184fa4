"""Which nodes change their data format, and from which to which."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from drystone_base.late_dataclasses import dataclass
from drystone_optimizer.context import Context

__all__ = ["Direction", "directions"]

_CONVOLUTIONS: Final = ("Conv2D", "Conv3D", "DepthwiseConv2dNative")
_SHORT: Final = ("float16", "bfloat16")
_LETTERS: Final = {4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


@dataclass(frozen=True)
class Direction:
    """Nodes of one type of device, to channels first or to channels last."""

    device: str
    to_first: bool

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
    if "GPU" in ctx.devices and any(ctx.device_type(node) == "GPU" for node in ctx.graph):
        found.append(Direction("GPU", not _wants_last(ctx)))
    if ctx.config.cpu_layout_conversion != "no_conversion_on_cpu":
        found.append(Direction("CPU", ctx.config.cpu_layout_conversion == "nhwc_to_nchw"))
    if not found:
        ctx.decline(
            "no node is for a GPU that is there, and cpu_layout_conversion leaves the CPU's alone"
        )
    return found


def _wants_last(ctx: Context) -> bool:
    """Whether half of the GPU's convolutions or more suit its units for matrices of 16 bits."""
    types = [
        str(node.attr("T"))
        for node in ctx.graph
        if node.op.startswith(_CONVOLUTIONS) and ctx.device_type(node) == "GPU"
    ]
    return bool(types) and 2 * sum(one in _SHORT for one in types) >= len(types)
