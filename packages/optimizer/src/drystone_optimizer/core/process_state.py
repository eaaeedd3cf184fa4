"""What this process has set for its sessions, and what went wrong in it.

Plans depend on both. It stands apart, as every process asks and few optimize a graph.
"""

from __future__ import annotations

from typing import Any, Final

from drystone_base.core.registered import Registered

__all__ = ["EXPERIMENTAL_OPTIONS", "LEFT_OUT"]

EXPERIMENTAL_OPTIONS: Final[dict[str, Any]] = {}
"""What ``set_experimental_options`` set, by name of an option."""
LEFT_OUT: Final = Registered()
"""Graphs that were not optimized by all that should have optimized them."""
