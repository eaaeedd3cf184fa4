"""What is asked of an optimizer's answer before it replaces the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NoReturn

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import PluginError
from drystone_base.graph import Graph, Node, parse_tensor_name, topological_order, validate
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.defs import find

__all__ = ["verify"]

_TIMES: Final = 10
_MORE: Final = 10_000


def verify(before: Graph, after: Graph, fetches: Sequence[str], preserved: Iterable[str]) -> None:
    """Raise ``PluginError`` or ``GraphError`` unless ``after`` may take the place of ``before``.

    Every preserved node is there; every fetch has the dtype that it had; every op is known, or was
    in the graph before; nodes that are new, or read from new ones, agree with their op definitions;
    there is no cycle, nor has it become a multiple of what it was.
    """
    _check_size(before, after)
    for name in preserved:
        if name not in after:
            _refuse(
                "every node that must be preserved is still there",
                f"{name!r} is gone",
                "fetches, feeds and kept nodes under their names",
                code="optimizer-lost-node",
            )
    _check_ops(before, after)
    validate(after, _affected(before, after))
    topological_order(after)
    for fetch in fetches:
        _check_fetch(before, after, fetch)


def _check_size(before: Graph, after: Graph) -> None:
    """What is done to each node from here on would take the program's time and memory."""
    most = _TIMES * len(before) + _MORE
    if len(after) > most:
        _refuse(
            f"a graph of {len(before)} nodes does not grow beyond {most}",
            f"{len(after)} nodes",
            "a graph that is not much larger than the one before",
            code="optimizer-grown-graph",
        )


def _affected(before: Graph, after: Graph) -> list[Node]:
    """Nodes that are not as they were, and those that read from one; all when functions changed."""
    if len(after.functions) and before.functions.to_proto() != after.functions.to_proto():
        return list(after)
    changed = set()
    for node in after:
        former = before.get(node.name)
        if former is None or not node.is_as_read(former):
            changed.add(node)
    return [n for n in after if n in changed or any(s in changed for s, _ in n.inputs)]


def _check_ops(before: Graph, after: Graph) -> None:
    tolerated: set[str] | None = None
    seen: set[str] = set()
    for node in after:
        if node.op in seen:
            continue
        seen.add(node.op)
        if find(node.op) is not None or node.op in after.functions:
            continue
        if tolerated is None:
            tolerated = {n.op for n in before}
        if node.op not in tolerated:
            _refuse(
                "every op is known, or registered by the plugin",
                f"node {node.name!r} has op {node.op!r}",
                "ops of TensorFlow, of the graph's functions, or registered in TF_InitKernel",
                code="optimizer-unknown-op",
            )


def _check_fetch(before: Graph, after: Graph, fetch: str) -> None:
    wanted, found = _dtype(before, fetch), _dtype(after, fetch)
    if wanted is not None and found is not wanted:
        _refuse(
            "a fetch keeps its dtype",
            f"{fetch!r} is {found or 'not there'} now",
            str(wanted),
            code="optimizer-changed-fetch",
        )


def _dtype(graph: Graph, fetch: str) -> DType | None:
    """Dtype of a fetched tensor; None when it has no output of that index, or it is not known."""
    name, index = (fetch, 0) if fetch in graph else parse_tensor_name(fetch)
    types = output_dtypes(graph[name]) if name in graph else None
    return types[index].base if types is not None and index < len(types) else None


def _refuse(check: str, found: str, needed: str, *, code: str) -> NoReturn:
    raise PluginError(
        "the graph that an optimizer gave back was refused",
        check=check,
        found=found,
        needed=needed,
        remedy="report it to the plugin's author; use_plugin_optimizers=False leaves plugins out",
        code=code,
    )
