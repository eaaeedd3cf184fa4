"""A region of a graph gives way to a node that computes the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from drystone_base.core.arguments import checked
from drystone_base.core.dtypes import DType
from drystone_base.graph import Graph, Node, Output, topological_order
from drystone_base.graph.rewiring import forget_colocation, merge
from drystone_base.graph.topology import waits_for
from drystone_base.graph.validate import output_dtypes
from drystone_base.graph_editor._refusals import (
    a_cycle,
    foreign,
    not_an_output,
    refused,
    wrong_dtype,
)
from drystone_base.inference.inference import Shapes
from drystone_base.ops.properties import CONTROL_FLOW

__all__ = ["replace"]

_ENTRIES: Final = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "_Arg"})


@checked
def replace(
    graph: Graph,
    inputs: Sequence[Output | Node | str],
    outputs: Sequence[Output | Node | str],
    node: Node,
    *,
    keep: Collection[str] = (),
) -> list[str]:
    """Let ``node`` give what a region of the graph gave; the names of the nodes that went.

    The region is what computes ``outputs`` from ``inputs``: tensors, as ``(node, index)``, a node
    for its output 0, or text. ``node`` is a node of the graph, such as a :class:`Builder` adds; its
    output k takes the place of ``outputs[k]``, of the same dtype and of a shape that does not
    contradict. What nothing else needs of the region goes; the node waits for what that waited for.
    ``keep``: names of nodes of ``outputs`` that stay as names of what the node gives, as tensors
    that are fetched must.

    Raises ``GraphError``, and the graph is as it was: ``bad-replacement`` for a region that the
    inputs do not bound, has control flow in it, or of which shapes differ; ``dtype-mismatch``;
    ``graph-cycle`` where the node would wait for itself; ``foreign-node``, ``unknown-node`` and
    ``bad-output-index`` for what is not in the graph.
    """
    bounds, places = _found(graph, inputs, "input"), _found(graph, outputs, "output")
    if node.graph is not graph or graph.get(node.name) is not node:
        foreign(node)
    _check_results(places, node)
    region = _region(bounds, places, node)
    kept = _kept(places, keep)
    before = _ancestors([node], ())
    gone = _dispensable(graph, region, places, before)
    controls = _outside(gone, before)
    _check_order(places, gone, before | _ancestors(controls, before), node)
    _rewire(graph, places, node, gone, controls)
    _name(node, kept)
    return [one.name for one in gone if one.name not in kept]


def _found(graph: Graph, given: Sequence[Output | Node | str], role: str) -> list[Output]:
    if isinstance(given, str):
        raise TypeError("a text is no list of tensors")
    found = [_output(graph, one) for one in given]
    if role == "output" and not found:
        refused("no outputs are given", "a region gives tensors", "none", "its outputs")
    for output in found:
        source, index = output
        if source.graph is not graph or graph.get(source.name) is not source:
            foreign(source)
        types = output_dtypes(source)
        if index < 0 or (types is not None and index >= len(types)):
            not_an_output(output, types)
    twice = next((o for o in found if found.count(o) > 1), None)
    if twice is not None:
        refused(
            f"{_spelled(twice)} is given twice",
            f"each {role} of a region is one tensor",
            f"{_spelled(twice)} {found.count(twice)} times",
            "each once",
        )
    return found


def _output(graph: Graph, given: Output | Node | str) -> Output:
    if isinstance(given, str):
        return graph.output(given)
    return (given, 0) if isinstance(given, Node) else given


def _check_results(places: Sequence[Output], node: Node) -> None:
    """Raise unless the node's outputs can stand where those of the region do."""
    types = output_dtypes(node)
    if types is None or len(types) < len(places):
        refused(
            f"node {node.name!r} ({node.op}) gives too little",
            "the node must have an output for each that it replaces",
            "outputs that are not known" if types is None else f"{len(types)} outputs",
            f"{len(places)}",
        )
    shapes = Shapes(node.graph)
    for k, place in enumerate(places):
        old = _dtype(place)
        if old is not None and old.base is not types[k].base:
            wrong_dtype(_spelled(place), old, _spelled((node, k)), types[k])
        was, now = shapes.shape(place), shapes.shape((node, k))
        if was is None or now is None:
            continue
        if len(was) != len(now) or any(
            a != b for a, b in zip(was, now, strict=True) if a >= 0 <= b
        ):
            refused(
                f"{_spelled((node, k))} has another shape than {_spelled(place)}",
                "a replacement gives what was there, of the same shape",
                _shown(now),
                _shown(was),
            )


def _dtype(output: Output) -> DType | None:
    types = output_dtypes(output[0])
    return None if types is None else types[output[1]]


def _region(bounds: Collection[Output], places: Sequence[Output], node: Node) -> dict[Node, None]:
    """What computes the outputs from the inputs, and constants on the way."""
    limits = set(bounds)
    region: dict[Node, None] = {}
    todo = [o[0] for o in places if o not in limits]
    while todo:
        at = todo.pop()
        if at in region:
            continue
        if at is node:
            a_cycle(node, "it is part of the region that it should replace")
        _check_member(at)
        region[at] = None
        todo += [o[0] for o in at.inputs if o not in limits]
    handed = next((o for o in places if o in limits), None)
    if handed is not None:
        refused(
            f"{_spelled(handed)} is both an input and an output",
            "a region computes its outputs",
            f"{_spelled(handed)}, which goes in",
            "outputs that the region computes",
        )
    return region


def _check_member(at: Node) -> None:
    if at.op in CONTROL_FLOW:
        refused(
            f"node {at.name!r} ({at.op}) is in the region",
            "a node cannot stand for control flow: which of its nodes run is decided in a run",
            f"{at.name} between the inputs and the outputs",
            "inputs behind it, or outputs before it",
        )
    if at.op in _ENTRIES:
        refused(
            f"the outputs are computed from {at.name!r} ({at.op}), too",
            "the inputs must bound the region",
            f"{at.name}, which is none of the inputs",
            "every tensor that comes from outside among the inputs",
        )


def _kept(places: Sequence[Output], keep: Collection[str]) -> dict[str, list[int]]:
    """Of each node that stays as a name, which outputs of the new node are its."""
    if isinstance(keep, str):
        raise TypeError("a text is no collection of names")
    found: dict[str, list[int]] = {}
    for name in keep:
        ours = {o[1]: k for k, o in enumerate(places) if o[0].name == name}
        if not ours or sorted(ours) != list(range(len(ours))):
            refused(
                f"node {name!r} cannot stay as a name",
                "what stays as a name is a node whose outputs, from the first on, are replaced",
                f"its outputs {sorted(ours)}" if ours else "a node of none of the outputs",
                "names of nodes of the outputs",
            )
        found[name] = [ours[k] for k in sorted(ours)]
    return found


def _ancestors(nodes: Iterable[Node], known: Collection[Node]) -> set[Node]:
    """Nodes, and all that they wait for; not followed beyond ``known``."""
    found: set[Node] = set()
    todo = list(nodes)
    while todo:
        at = todo.pop()
        if at not in found and at not in known:
            found.add(at)
            todo += waits_for(at)
    return found


def _dispensable(
    graph: Graph, region: Collection[Node], places: Sequence[Output], before: Collection[Node]
) -> dict[Node, None]:
    """Nodes of the region that nothing needs once the outputs come from elsewhere."""
    replaced = set(places)
    gone: dict[Node, None] = {}
    for at in reversed(topological_order(region)):
        if at not in before and all(
            user in gone or all(o in replaced for o in user.inputs if o[0] is at)
            for user in graph.users(at)
        ):
            gone[at] = None
    return gone


def _outside(gone: Collection[Node], before: Collection[Node]) -> list[Node]:
    """What the nodes that go waited for, which the new node waits for then."""
    waited = dict.fromkeys(c for at in gone for c in at.controls)
    return [c for c in waited if c not in gone and c not in before]


def _check_order(
    places: Sequence[Output], gone: Collection[Node], before: Collection[Node], node: Node
) -> None:
    replaced = set(places)
    for at in before:
        read = next((o for o in at.inputs if o in replaced), None)
        if read is not None:
            a_cycle(node, f"it waits for {at.name!r}, which reads {_spelled(read)}")
        awaited = next((c for c in at.controls if c in gone), None)
        if awaited is not None:
            a_cycle(node, f"it waits for {at.name!r}, which waits for {awaited.name!r}")


def _rewire(
    graph: Graph,
    places: Sequence[Output],
    node: Node,
    gone: Collection[Node],
    controls: Sequence[Node],
) -> None:
    for k, place in enumerate(places):
        graph.redirect(place, (node, k))
    if controls:
        graph.set_controls(node, [*node.controls, *controls])
    merge(graph, dict.fromkeys(gone, node))
    forget_colocation(graph, [one.name for one in gone])


def _name(node: Node, kept: dict[str, list[int]]) -> None:
    """Put a node of each kept name behind the new one."""
    graph, types = node.graph, output_dtypes(node) or []
    for name, numbers in kept.items():
        old = graph.get(name)
        if old is not None:  # something else reads it: of two nodes of a name the first is renamed
            graph.rename(old, graph.unique_name(name))
        values, dtypes = [(node, k) for k in numbers], [types[k].base for k in numbers]
        one = len(values) == 1
        attrs: dict[str, Any] = {"T": dtypes[0] if one else dtypes}
        op = "Identity" if one else "IdentityN"
        graph.add(op, name, values, device=node.device, attrs=attrs)


def _spelled(output: Output) -> str:
    return f"{output[0].name}:{output[1]}"


def _shown(shape: Sequence[int]) -> str:
    return f"[{', '.join('?' if size < 0 else str(size) for size in shape)}]"
