"""What is asked of an optimizer's answer before it replaces the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NoReturn

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import PluginError
from drystone_base.graph import Graph, Node, parse_tensor_name, topological_order, validate
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.defs import find
from drystone_optimizer.core.devices import all_device_types

__all__ = ["verify"]

_TIMES: Final = 10
_MORE: Final = 10_000


def verify(before: Graph, after: Graph, fetches: Sequence[str], preserved: Iterable[str]) -> None:
    """Raise ``PluginError`` or ``GraphError`` unless ``after`` may take the place of ``before``.

    Every preserved node is there; every fetch has the dtype that it had; every op is known, or was
    in the graph before; nodes that are new, or read from new ones, agree with their op definitions;
    there is no cycle, nor has it become a multiple of what it was. The same goes for the bodies of
    functions that are new, or others than before. Raises ``GraphError`` too, as
    :func:`~drystone_base.graph.validate` does, and for devices that cannot be understood.
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
    known = _KnownOps(before)
    known.check(after, after)
    validate(after, _affected(before, after))
    topological_order(after)
    for body in _changed_bodies(before, after):
        known.check(body, after, inside=True)
        validate(body)
        topological_order(body)
    all_device_types(after)
    for fetch in fetches:
        _check_fetch(before, after, fetch)


def _check_size(before: Graph, after: Graph) -> None:
    """What is done to each node from here on would take the program's time and memory."""
    was, now = _size(before), _size(after)
    most = _TIMES * was + _MORE
    if now > most:
        _refuse(
            f"a graph of {was} nodes does not grow beyond {most}",
            f"{now} nodes",
            "a graph that is not much larger than the one before",
            code="optimizer-grown-graph",
        )


def _size(graph: Graph) -> int:
    return len(graph) + sum(function.node_count for function in graph.functions)


def _changed_bodies(before: Graph, after: Graph) -> Iterator[Graph]:
    """Bodies of the functions of ``after`` that ``before`` has not, or others.

    Raises ``GraphError`` (``bad-function``) for one that does not hang together. Left out are those
    whose attributes their callers fill in.
    """
    for function in after.functions:
        former = before.functions.get(function.name)
        if former is function or (former is not None and former.proto == function.proto):
            continue
        if not function.signature.attrs:
            yield function.body(after.functions).graph


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


class _KnownOps:
    """The ops that a graph may have: those that are known, its functions, and what was there."""

    def __init__(self, before: Graph) -> None:
        self._before, self._tolerated = before, set[str]()

    def check(self, graph: Graph, whole: Graph, *, inside: bool = False) -> None:
        """Refuse an op of ``graph`` that is none of them; ``whole`` has the functions."""
        seen: set[str] = set()
        for node in graph:
            if node.op in seen or find(node.op) is not None or node.op in whole.functions:
                continue
            seen.add(node.op)
            if node.op not in self._were():
                where = "a function's node" if inside else "node"
                _refuse(
                    "every op is known, or registered by the plugin",
                    f"{where} {node.name!r} has op {node.op!r}",
                    "ops of TensorFlow, of the graph's functions, or registered in TF_InitKernel",
                    code="optimizer-unknown-op",
                )

    def _were(self) -> set[str]:
        if not self._tolerated:
            self._tolerated.update(node.op for node in self._before)
            for function in self._before.functions:
                self._tolerated.update(function.ops())
        return self._tolerated


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
