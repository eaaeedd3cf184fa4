"""The options that TensorFlow's ``RewriterConfig`` states, under our names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from drystone_abi.protos import RewriterConfig, VerifierConfig
from drystone_base.ops.attrs import decode_attr

__all__ = ["options_of"]

_SAME: Final = (
    "disable_meta_optimizer",
    "min_graph_nodes",
    "meta_optimizer_timeout_ms",
    "fail_on_optimizer_errors",
    "disable_tfg_optimizer",
    "experimental_disable_compressed_tensor_optimization",
    "experimental_disable_folding_quantization_emulation",
)
_NO_TOGGLE: Final = (
    "disable_model_pruning", "auto_parallel", "memory_optimization", "layer_fusion",
    "quantized_layers", "elementwise_fusion",
)  # fmt: skip


def options_of(proto: RewriterConfig, toggles: Sequence[str]) -> dict[str, Any]:
    """Values for the fields of ``OptimizerConfig``; ``toggles`` names those with four values."""
    words = {RewriterConfig.ON: "on", RewriterConfig.OFF: "off"}
    words[RewriterConfig.AGGRESSIVE] = "aggressive"
    found: dict[str, Any] = {
        name: words.get(getattr(proto, name), "default")
        for name in toggles
        if name not in _NO_TOGGLE
    }
    found |= {name: getattr(proto, name) for name in _SAME}
    if proto.disable_model_pruning:
        found["disable_model_pruning"] = "on"
    if proto.meta_optimizer_iterations > 0:
        found["meta_optimizer_iterations"] = int(proto.meta_optimizer_iterations)
    verifiers = (proto.inter_optimizer_verifier_config, proto.post_optimization_verifier_config)
    if any(one.structure_verifier == VerifierConfig.ON for one in verifiers):
        found["verify_passes"] = True
    return found | _of_named_passes(proto, words) | _of_single_passes(proto)


def _of_named_passes(proto: RewriterConfig, words: Mapping[Any, str]) -> dict[str, Any]:
    return {
        "optimizers": tuple(proto.optimizers),
        "custom_optimizers": tuple(
            (one.name, {name: decode_attr(value) for name, value in one.parameter_map.items()})
            for one in proto.custom_optimizers
        ),
        "experimental_conditional_code_motion": words.get(
            proto.experimental_conditional_code_motion, "default"
        ),
    }


def _of_single_passes(proto: RewriterConfig) -> dict[str, Any]:
    found: dict[str, Any] = {
        "memory_optimizer_target_node_name_scope": proto.memory_optimizer_target_node_name_scope,
        "auto_parallel_replicas": proto.auto_parallel.num_replicas,
    }
    if proto.cpu_layout_conversion != RewriterConfig.NO_CONVERSION_ON_CPU:  # unset
        layout = RewriterConfig.CpuLayout.Name(proto.cpu_layout_conversion)
        found["cpu_layout_conversion"] = layout
    if proto.auto_parallel.enable:
        found["auto_parallel"] = "on"
    if proto.memory_optimization == RewriterConfig.NO_MEM_OPT:
        found["memory_optimization"] = "off"
    elif proto.memory_optimization != RewriterConfig.DEFAULT_MEM_OPT:
        found["memory_mode"] = RewriterConfig.MemOptType.Name(proto.memory_optimization)
    if proto.scoped_allocator_opts.enable_op:
        found["scoped_allocator_ops"] = tuple(proto.scoped_allocator_opts.enable_op)
    return found
