"""Programs of several nodes and steps, held against TensorFlow: see README.md in this folder."""

from __future__ import annotations

from scenarios._program import Program
from scenarios._registry import Scenario, families, load, scenario, with_tensorflow

__all__ = ["Program", "Scenario", "families", "load", "scenario", "with_tensorflow"]
