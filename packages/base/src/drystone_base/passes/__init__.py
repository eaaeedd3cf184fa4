"""Passes over whole graphs, by grouping and phase, as a session runs them around placement."""

from __future__ import annotations

from drystone_base.passes._pipeline import on_devices, place_body, place_for, prepare
from drystone_base.passes._registry import (
    PassRegistry,
    graph_pass,
    registered,
    registry,
    run_grouping,
)
from drystone_base.passes._report import GroupingReport, PassRun
from drystone_base.passes._types import Grouping, Pass, PassOptions, PassWarning

__all__ = [
    "Grouping",
    "GroupingReport",
    "Pass",
    "PassOptions",
    "PassRegistry",
    "PassRun",
    "PassWarning",
    "graph_pass",
    "on_devices",
    "place_body",
    "place_for",
    "prepare",
    "registered",
    "registry",
    "run_grouping",
]
