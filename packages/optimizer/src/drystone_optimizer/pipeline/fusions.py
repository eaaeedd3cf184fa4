"""What joins nodes for the host executor, apart from all else: backends are offered plain ops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from drystone_optimizer.core.config import OptimizerConfig, Toggle
from drystone_optimizer.passes._registry import PASSES

__all__ = ["FUSIONS", "fusions_only", "without_fusions"]

FUSIONS: Final = frozenset({"remapping", "layer_fusion", "quantized_layers", "elementwise_fusion"})
"""The passes whose nodes only kernels of the host know, or know as TensorFlow's inner ones."""
_PRUNING: Final = "disable_model_pruning"


def without_fusions(config: OptimizerConfig) -> OptimizerConfig:
    """All but those passes."""
    return _left_out(config, FUSIONS)


def fusions_only(config: OptimizerConfig) -> OptimizerConfig:
    """Those passes, as far as the config runs them."""
    others = frozenset(one.name for one in PASSES) - FUSIONS
    return replace(_left_out(config, others), custom_optimizers=())


def _left_out(config: OptimizerConfig, names: frozenset[str]) -> OptimizerConfig:
    toggles = {one.toggle for one in PASSES if one.name in names} - {_PRUNING}
    off: dict[str, Any] = dict.fromkeys(toggles, Toggle.OFF)
    listed = tuple(name for name in config.optimizers if name not in names)
    none = bool(config.optimizers) and not listed
    return replace(
        config,
        **off,
        optimizers=listed,
        disable_meta_optimizer=config.disable_meta_optimizer or none,
    )
