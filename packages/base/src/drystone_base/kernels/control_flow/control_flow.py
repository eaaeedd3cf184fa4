"""Ops of frames and functions that compute nothing. (Switch, Merge, Enter, ...: the executor.)"""

from __future__ import annotations

from typing import Any

from drystone_base.kernels._registry import Array, Call, kernel


@kernel("LoopCond", "RefIdentity")
def forward(_: Call, value: Array) -> Array:
    """The input itself (LoopCond: bool scalar; RefIdentity: a variable)."""
    return value


@kernel("RefSelect")
def ref_select(call: Call, index: Array, *references: Any) -> Any:
    """The reference of that index."""
    chosen = int(index.item())
    call.require(
        0 <= chosen < len(references),
        "the index must choose one of the references",
        found=chosen,
        needed=f"0 to {len(references) - 1}",
    )
    return references[chosen]
