"""TensorFlow's fused convolution as ours: of the same steps, but for floats of 16 bits as well."""

from __future__ import annotations

from drystone_base.core.dtypes import DType
from drystone_base.ops.own import FUSED_CONVOLUTION
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native_for, of_plugins
from drystone_optimizer.passes.layer_fusion._layers import become_own

__all__ = ["to_own"]


def to_own(ctx: Context, dtype: DType) -> None:
    """Make each ``_FusedConv2D`` in float32 ours, where a plugin has a kernel for that type."""
    if FUSED_CONVOLUTION not in of_plugins() or not keeps_native_for(FUSED_CONVOLUTION, "T", dtype):
        return
    for node in list(ctx.graph):
        if node.op != "_FusedConv2D" or ctx.kept(node) or not ctx.may_rewrite(node):
            continue
        plain = node.attr("filter_format", "HWIO") == "HWIO" and not node.attr("num_host_args", 0)
        if plain and str(node.attrs["T"]) == "float32":
            become_own(ctx, node, node, node.inputs[0], (), ())
