"""The built-in passes: one file or folder each; ``_registry`` has them in their order."""

from __future__ import annotations

__all__ = ["names_of_passes"]


def names_of_passes() -> tuple[str, ...]:
    """The names of the built-in passes in the order in which they run."""
    from drystone_optimizer.passes._registry import PASSES

    return tuple(one.name for one in PASSES)
