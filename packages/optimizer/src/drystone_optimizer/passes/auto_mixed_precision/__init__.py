"""Auto mixed precision: layers, and what follows them, are computed in 16 bits. Off by default.

Three passes of one kind: float16 on GPUs, bfloat16 and float16 on CPUs. They lose precision, which
turning one on asks for; a session whose numeric class is ``exact`` is left alone. Names of ops that
are treated otherwise: see ``lists``. Of the environment count, after
``$TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_``: ``SIMULATE_GPU``, any node is one of a GPU;
``IGNORE_PERFORMANCE``, also ops for which plugins have kernels in 32 bits only; ``EMULATE_FP16``,
float16 on CPUs is what values are rounded to, while ops stay in 32 bits; ``LOG_PATH``: see ``log``.
"""

from __future__ import annotations

from typing import Final

from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.graph import Node
from drystone_base.ops.defs import OpDef, find
from drystone_optimizer.core.config import Toggle
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.devices import DEFAULT_TYPE
from drystone_optimizer.core.merge import logger
from drystone_optimizer.core.native_kernels import keeps_native_for
from drystone_optimizer.core.rules import Numeric
from drystone_optimizer.passes.auto_mixed_precision.casts import convert, emulated
from drystone_optimizer.passes.auto_mixed_precision.lists import chosen_lists, is_asked, level
from drystone_optimizer.passes.auto_mixed_precision.log import Log
from drystone_optimizer.passes.auto_mixed_precision.painting import paint
from drystone_optimizer.passes.auto_mixed_precision.type_graph import TypeGraph
from drystone_optimizer.passes.layer_fusion import convolutions

__all__ = ["run_bfloat16", "run_float16", "run_float16_on_cpu", "run_mkl"]

# Moments stay in 32 bits, whatever the images are of.
_NEVER: Final = frozenset({"U"})
_HANDLES: Final = ("resource", "variant")


def run_float16(ctx: Context) -> None:
    """float16 on GPUs."""
    _run(ctx, "float16", "GPU")


def run_bfloat16(ctx: Context) -> None:
    """bfloat16 on CPUs."""
    _run(ctx, "bfloat16", DEFAULT_TYPE)


def run_mkl(ctx: Context) -> None:
    """The older name for bfloat16 on CPUs."""
    logger().warning(
        "auto_mixed_precision_mkl is the older name of auto_mixed_precision_onednn_bfloat16"
    )
    run_bfloat16(ctx)


def run_float16_on_cpu(ctx: Context) -> None:
    """float16 on CPUs."""
    _run(ctx, "float16", DEFAULT_TYPE)


def _run(ctx: Context, label: str, device: str) -> None:
    if ctx.ceiling < Numeric.REASSOCIATES:
        ctx.decline(f"{label} is less precise, and the session is to be exact")
        return
    anywhere = device == "GPU" and is_asked("SIMULATE_GPU")
    if not anywhere and not any(ctx.device_type(node) == device for node in ctx.graph):
        ctx.decline(f"no node is for a {device} that is there")
        return
    force = level() == "UNSAFE_FORCE_ALL"
    if force and label == "bfloat16":
        ctx.decline("UNSAFE_FORCE_ALL is for float16: many ops have no bfloat16")
        return
    to, log = as_dtype(label), Log(label)
    if device != "GPU" and ctx.config.layer_fusion is not Toggle.OFF:
        convolutions.to_own(ctx, to)
    emulate = device == DEFAULT_TYPE and label == "float16" and is_asked("EMULATE_FP16")
    any_speed = anywhere or emulate or device == "GPU" or is_asked("IGNORE_PERFORMANCE")
    lists = chosen_lists(label == "bfloat16", ctx.config.mixed_precision_lists)

    def kind_of(op: str) -> str:
        found = lists.kind(op)
        return "allow" if force and found in ("infer", "deny") else found

    def may_change(node: Node, attr: str) -> bool:
        if not anywhere and ctx.device_type(node) != device:
            return False
        return (any_speed or keeps_native_for(node.op, attr, to)) and _may_change(
            ctx, node, attr, to
        )

    types = TypeGraph(ctx.graph, kind_of, may_change)
    painted = paint(types)
    log.paint(types.vertices, painted)
    if not painted:
        ctx.decline("no op that 16 bits are worth for")
        return
    log.graph(ctx, "preop")
    (emulated if emulate else convert)(ctx, types, painted, to)
    log.graph(ctx, "after")


def _reaches_state(op: str, definition: OpDef) -> bool:
    """Whether an op has a handle in hand of what states a dtype itself: a stack, queue or table.

    So a user's lists may not name it, either. Those of tensor lists are changed together.
    """
    args = (*definition.inputs, *definition.outputs)
    handles = any(arg.is_ref or (arg.type and arg.type.label in _HANDLES) for arg in args)
    return handles and not (op.startswith("TensorList") or op == "EmptyTensorList")


def _may_change(ctx: Context, node: Node, attr: str, to: DType) -> bool:
    """Whether a node may be changed, and its op is defined for the type."""
    if ctx.kept(node) or not ctx.may_rewrite(node) or attr in _NEVER or node.op == "Const":
        return False
    definition = find(node.op)
    if definition is None or (definition.is_stateful and attr == "dtype"):
        return False
    if _reaches_state(node.op, definition):
        return False
    allowed = definition.attrs[attr].allowed
    return allowed is None or to in allowed
