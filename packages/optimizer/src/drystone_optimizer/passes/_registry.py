"""The built-in passes in Grappler's order, under the names of their toggles."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, NamedTuple

from drystone_optimizer.core.context import Context
from drystone_optimizer.passes import (
    arithmetic_optimization,
    common_subgraph_elimination,
    constant_folding,
    dependency_optimization,
    function_optimization,
    implementation_selector,
    loop_optimization,
    model_pruning,
    remapping,
    shape_optimization,
)

__all__ = ["PASSES", "SHORT_ON_CPUS", "BuiltIn"]


class BuiltIn(NamedTuple):
    """A pass: its name, TensorFlow's name for it, the toggle that it hangs on, what it does.

    ``needs`` is a second toggle that must not be off. ``once``: only in the first iteration.
    ``last``: once, after the last iteration, as what it adds is there for when and where things
    happen, which other passes would take out again.
    """

    name: str
    known_as: str
    toggle: str
    run: Callable[[Context], None]
    needs: str = ""
    once: bool = False
    last: bool = False


SHORT_ON_CPUS: Final = frozenset((
    "auto_mixed_precision_onednn_bfloat16", "auto_mixed_precision_mkl", "auto_mixed_precision_cpu",
))  # fmt: skip
"""Passes to 16 bits on CPUs."""


def _when_run(module: str, function: str = "run") -> Callable[[Context], None]:
    """A pass that few use: its module is imported when it runs."""

    def run(ctx: Context) -> None:
        found = import_module(f"drystone_optimizer.passes.{module}")
        getattr(found, function)(ctx)

    return run


PASSES: Final = (
    BuiltIn("model_pruning", "model_pruner", "disable_model_pruning", model_pruning.run),
    BuiltIn(
        "implementation_selector",
        "implementation_selector",
        "implementation_selector",
        implementation_selector.run,
    ),
    BuiltIn(
        "function_optimization",
        "function_optimizer",
        "function_optimization",
        function_optimization.run,
    ),
    BuiltIn(
        "common_subgraph_elimination",
        "common_subgraph_elimination",
        "common_subgraph_elimination",
        common_subgraph_elimination.run,
        needs="arithmetic_optimization",
    ),
    BuiltIn("debug_stripper", "debug_stripper", "debug_stripper", _when_run("debug_stripper")),
    BuiltIn("constant_folding", "constant_folding", "constant_folding", constant_folding.run),
    BuiltIn("shape_optimization", "shape_optimizer", "shape_optimization", shape_optimization.run),
    BuiltIn(
        "auto_mixed_precision",
        "auto_mixed_precision",
        "auto_mixed_precision",
        _when_run("auto_mixed_precision", "run_float16"),
        once=True,
    ),
    BuiltIn(
        "auto_mixed_precision_onednn_bfloat16",
        "auto_mixed_precision_onednn_bfloat16",
        "auto_mixed_precision_onednn_bfloat16",
        _when_run("auto_mixed_precision", "run_bfloat16"),
        once=True,
    ),
    BuiltIn(
        "auto_mixed_precision_mkl",
        "auto_mixed_precision_mkl",
        "auto_mixed_precision_mkl",
        _when_run("auto_mixed_precision", "run_mkl"),
        once=True,
    ),
    BuiltIn(
        "auto_mixed_precision_cpu",
        "auto_mixed_precision_cpu",
        "auto_mixed_precision_cpu",
        _when_run("auto_mixed_precision", "run_float16_on_cpu"),
        once=True,
    ),
    BuiltIn(
        "pin_to_host_optimization",
        "pin_to_host_optimizer",
        "pin_to_host_optimization",
        _when_run("pin_to_host_optimization"),
    ),
    BuiltIn(
        "arithmetic_optimization",
        "arithmetic_optimizer",
        "arithmetic_optimization",
        arithmetic_optimization.run,
    ),
    BuiltIn(
        "layout_optimizer",
        "layout",
        "layout_optimizer",
        _when_run("layout_optimizer"),
        once=True,
    ),
    BuiltIn("remapping", "remapper", "remapping", remapping.run),
    BuiltIn(
        "loop_optimization",
        "loop_optimizer",
        "loop_optimization",
        loop_optimization.run,
        once=True,
    ),
    BuiltIn(
        "dependency_optimization",
        "dependency_optimizer",
        "dependency_optimization",
        dependency_optimization.run,
    ),
    BuiltIn(
        "memory_optimization",
        "memory_optimizer",
        "memory_optimization",
        _when_run("memory_optimization"),
        last=True,
    ),
    BuiltIn(
        "auto_parallel",
        "auto_parallel",
        "auto_parallel",
        _when_run("auto_parallel"),
        last=True,
    ),
    BuiltIn(
        "scoped_allocator_optimization",
        "scoped_allocator_optimizer",
        "scoped_allocator_optimization",
        _when_run("scoped_allocator_optimization"),
        last=True,
    ),
    BuiltIn(
        "layer_fusion",
        "layer_fusion",
        "layer_fusion",
        _when_run("layer_fusion"),
        last=True,
    ),
    BuiltIn(
        "quantized_layers",
        "quantized_layers",
        "quantized_layers",
        _when_run("quantized_layers"),
        last=True,
    ),
    BuiltIn(
        "elementwise_fusion",
        "elementwise_fusion",
        "elementwise_fusion",
        _when_run("elementwise_fusion"),
        last=True,
    ),
)
