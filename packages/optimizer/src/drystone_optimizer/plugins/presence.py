"""Whether anything could have brought an optimizer of a plugin, without looking for one."""

from __future__ import annotations

import sys
from typing import Final

from drystone_base.core.late_names import imported
from drystone_base.modules import declared

__all__ = ["GROUP", "may_have_plugins"]

GROUP: Final = "drystone.graph_optimizers"
"""Entry points that name optimizers in Python; see ``drystone_optimizer.plugins.sources``."""
_ENTRIES: Final = frozenset(("DS_OrderOptimizer", "TF_InitGraph", "TF_InitGraphPlugin"))
"""Entry functions through which a library brings an optimizer."""


def may_have_plugins() -> bool:
    """Whether any library, isolated plugin or Python package could have brought an optimizer."""
    entries = imported("drystone_base.host.library", "called_entries")  # with the first library
    return bool(
        (entries is not None and not _ENTRIES.isdisjoint(entries()))
        or "drystone_base.plugins.isolation" in sys.modules
        or "drystone_optimizer.plugins.sources" in sys.modules
        or declared(GROUP)
    )
