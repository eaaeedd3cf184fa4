"""Memory optimization: less is held at once, for the price of computing or copying more.

Values are computed again near what needs them late (``recompute``), wait on the host (``swap``), or
are summed as they come (``schedule``). Runs after the last iteration. By default only nodes marked
``_recompute_hint`` or ``_swap_to_host`` change, and devices of which ``device_memory`` says that
they would be short; ``memory_mode`` asks for more. Allocators need no advice here: Assign has
nothing to relax.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from drystone_optimizer.core.context import Context

__all__ = ["SWAP_HINT", "run"]

SWAP_HINT: Final = "_swap_to_host"
_HINTS: Final = ("_recompute_hint", SWAP_HINT)

_DONE: Final[Mapping[str, tuple[str, ...]]] = {
    "default": ("recompute", "schedule", "swap"),
    "manual": ("recompute", "swap"),
    "heuristics": ("recompute", "schedule", "swap"),
    "swapping_heuristics": ("swap",),
    "recomputation_heuristics": ("recompute",),
    "scheduling_heuristics": ("schedule",),
}


def run(ctx: Context) -> None:
    """Do what the mode asks for; most sessions ask for nothing, and import nothing."""
    mode = ctx.config.memory_mode
    idle = mode == "default" and not ctx.config.device_memory
    hints = {hint for node in ctx.graph for hint in _HINTS if node.states(hint)}
    if idle and not hints:
        return
    from drystone_optimizer.passes.memory_optimization import recompute, schedule, swap
    from drystone_optimizer.passes.memory_optimization.peak import short_devices

    done = _DONE[mode]
    by_hand = mode in ("default", "manual")
    if "recompute" in done and (mode != "default" or recompute.HINT in hints):
        recompute.run(ctx, by_hand=by_hand)
    short = {}
    if mode != "manual" and ctx.config.device_memory:
        short = short_devices(ctx)
        if not short:
            ctx.decline("no device is short of memory")
    if short and "schedule" in done:
        schedule.run(ctx, short)
        short = short_devices(ctx)
    if "swap" in done:
        while swap.run(ctx, short) and short:  # what is held may be most elsewhere now
            short = short_devices(ctx)
