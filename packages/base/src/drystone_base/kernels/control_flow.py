"""Ops of frames and functions that compute nothing. (Switch, Merge, Enter, ...: the executor.)"""

from __future__ import annotations

from drystone_base.kernels._registry import Array, Call, kernel


@kernel("LoopCond", "RefIdentity")
def forward(_: Call, value: Array) -> Array:
    """The input itself (LoopCond: bool scalar; RefIdentity: a variable)."""
    return value
