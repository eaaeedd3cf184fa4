"""The passes that come with drystone-base."""

from __future__ import annotations

from importlib import import_module
from typing import Final

__all__ = ["register_all"]

_MODULES: Final = (
    "parallel_concat_remove",
    "accumulate_n_remove",
    "lower_functional_ops",
    "floating_point_jitter",
    "isolate_inspected_ops",
    "encapsulate_computations",
    "functionalize_control_flow",
    "clone_constants",
    "mark_for_compilation",
    "increase_dynamism",
    "partially_decluster",
    "encapsulate_subgraphs",
    "build_cluster_ops",
)
"""In the order in which they are registered, which is that of running within a phase."""


def register_all() -> None:
    """Import each module once: its decorator registers the pass."""
    for name in _MODULES:
        import_module(f"drystone_base.passes.{name}")
