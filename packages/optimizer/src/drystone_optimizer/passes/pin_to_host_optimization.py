"""Pin to host: small integer work that asks for an accelerator goes to the CPU. Off by default.

Moved are pure nodes with a kernel of the host whose inputs and outputs are all small: int32, int64
or float of at most 64 elements, or strings. A constant stays where a consumer stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node, Output, topological_order
from drystone_optimizer.core.colocation import ATTR, PREFIX
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.devices import device_type, host_of
from drystone_optimizer.core.native_kernels import runs_here
from drystone_optimizer.core.purity import is_pure

__all__ = ["run"]

_MOST: Final = 64
_SMALL_TYPES: Final = ("int32", "int64", "float32")


def run(ctx: Context) -> None:
    """Move what :func:`_match` finds."""
    if any("TPU" in node.op or device_type(node.device, node.name) == "TPU" for node in ctx.graph):
        ctx.decline("the graph is for a TPU")
        return
    if not any(ctx.is_accelerated(node) for node in ctx.graph):
        ctx.decline("no node is for an accelerator that is there")
        return
    for node in _match(ctx):
        ctx.graph.set_device(node, host_of(node.device))
        ctx.count("pin-to-host")


def _match(ctx: Context) -> list[Node]:
    """The nodes to move, sources first."""
    bound = _colocated(ctx.graph)
    found: dict[Node, None] = {}
    for node in topological_order(ctx.graph):
        ctx.tick()
        if ctx.is_accelerated(node) and node.name not in bound and _may_move(ctx, node):
            found[node] = None
    for node in reversed(list(found)):
        if node.op == "Const" and not _all_leave(ctx, node, found):
            del found[node]
            ctx.decline("a constant stays beside its consumer")
    return list(found)


def _all_leave(ctx: Context, node: Node, leaving: Iterable[Node]) -> bool:
    return all(
        user in leaving or not ctx.is_accelerated(user) for user, _ in ctx.graph.consumers(node)
    )


def _may_move(ctx: Context, node: Node) -> bool:
    """Whether the host can run a node, and all that goes in and out is small."""
    if node in ctx.fed_nodes or not ctx.may_rewrite(node) or not is_pure(node):
        return False
    if node.op.startswith("Collective") or not runs_here(node.op):
        return False
    try:
        signature = ctx.signatures.of(node)
    except DrystoneError:
        return False
    if signature is None or not signature.outputs:
        return False
    outputs = [(node, k) for k in range(len(signature.outputs))]
    if all(_is_small(ctx, output) for output in (*node.inputs, *outputs)):
        return True
    ctx.decline("a tensor is large, or of unknown size")
    return False


def _is_small(ctx: Context, output: Output) -> bool:
    dtype = ctx.dtype(output)
    if dtype is None or dtype.label == "string":
        return dtype is not None
    shape = ctx.shape(output)
    if dtype.label not in _SMALL_TYPES or shape is None or min(shape, default=0) < 0:
        return False
    count = 1
    for size in shape:
        count *= size
    return count <= _MOST


def _colocated(graph: Graph) -> set[str]:
    """Names of nodes that must be where others are, or the reverse."""
    groups: dict[str, set[str]] = {}
    for node in graph:
        if not node.states(ATTR):
            continue
        for one in node.attr(ATTR) or ():
            text = one.decode() if isinstance(one, bytes) else str(one)
            name = text.removeprefix(PREFIX)
            groups.setdefault(name, {name} if name in graph else set()).add(node.name)
    return {name for group in groups.values() if len(group) > 1 for name in group}
