"""Whether anything could have brought an optimizer of a plugin, without looking for one."""

from __future__ import annotations

from typing import Final

from drystone_base.core.registered import ENTRY_FUNCTIONS, OPTIMIZERS
from drystone_base.modules import declared

__all__ = ["GROUP", "may_have_plugins"]

GROUP: Final = "drystone.graph_optimizers"
"""Entry points that name optimizers in Python; see ``drystone_optimizer.plugins.sources``."""
_ENTRIES: Final = frozenset(("DS_OrderOptimizer", "TF_InitGraph", "TF_InitGraphPlugin"))
"""Entry functions through which a library brings an optimizer."""


def may_have_plugins() -> bool:
    """Whether a library, the program or a package could have brought an optimizer."""
    return bool(OPTIMIZERS) or not _ENTRIES.isdisjoint(ENTRY_FUNCTIONS) or declared(GROUP)
