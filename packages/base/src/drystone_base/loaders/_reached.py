"""Which variables some tensors reach, and what the graph's saver would give them.

So a model behind a scheme is loaded for one signature without the variables of the others. Where
that cannot be told for certain, all are restored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from drystone_abi.protos import SaverDef
from drystone_base.checkpoint import SliceSpec, parse_slice
from drystone_base.core.dtypes import STRING
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node, held_tensor, parse_tensor_name, reachable
from drystone_base.graph.calls import called, called_by_proto
from drystone_base.ops.properties import VARIABLES

__all__ = [
    "ASSIGNS",
    "Source",
    "assigned",
    "reached",
    "shared",
    "source_of",
    "texts_of",
    "told",
]

_RESTORES: Final = frozenset({"Restore", "RestoreSlice", "RestoreV2"})
ASSIGNS: Final = frozenset({"Assign", "AssignVariableOp"})
_ASSIGNED: Final = 2  # inputs of an assignment: the variable, and what it gets
_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_INPUTS: Final = frozenset({"Placeholder", "PlaceholderWithDefault", "_Arg"})
_HARMLESS: Final = frozenset({"Const", "Identity", "NoOp", "_Retval"})
_SAVER: Final = VARIABLES | _RESTORES | ASSIGNS | _CALLS | _INPUTS | _HARMLESS


class Source(NamedTuple):
    """The tensor of a checkpoint, or the part of one of shape ``whole``, that a variable gets."""

    name: str
    part: SliceSpec | None = None
    whole: tuple[int, ...] = ()


def shared(variable: Node) -> str:
    """The name under which a variable is shared."""
    return variable.attr("shared_name") or variable.name


def reached(graph: Graph, tensors: Iterable[str]) -> set[str] | None:
    """Names of the variables that these tensors need; None where a function has its own."""
    names = [parse_tensor_name(tensor)[0] for tensor in tensors]
    if not all(name in graph for name in names):
        return None
    nodes = reachable([graph[name] for name in names])
    queue = [name for node in nodes for name in called(node, graph.functions)]
    seen: set[str] = set()
    while queue:
        name = queue.pop()
        function = graph.functions.get(name)
        if name in seen or function is None:
            continue
        seen.add(name)
        if any(op in VARIABLES for op in function.ops()):
            return None
        for proto in function.proto.node_def:
            queue.extend(called_by_proto(proto, graph.functions))
    return {shared(node) for node in nodes if node.op in VARIABLES}


def assigned(graph: Graph, saver: SaverDef) -> dict[str, Source] | None:
    """What the saver's node for restoring assigns, by shared name.

    None for a saver that does more than assign tensors of its checkpoint to variables, once each.
    """
    file = graph[parse_tensor_name(saver.filename_tensor_name)[0]]
    found: dict[str, Source] = {}
    for variable, source in _assignments(graph, graph[saver.restore_op_name], file):
        if variable is None or source is None or shared(variable) in found:
            return None
        found[shared(variable)] = source
    return found


def told(graph: Graph, saver: SaverDef) -> dict[str, str]:
    """By shared name, the tensor of the checkpoint that a variable certainly gets whole.

    What else the saver does, as filling tables, is passed over.
    """
    file = graph[parse_tensor_name(saver.filename_tensor_name)[0]]
    pairs = _assignments(graph, graph[saver.restore_op_name], file, strict=False)
    return {
        shared(variable): source.name
        for variable, source in pairs
        if variable is not None and source is not None and source.part is None
    }


def _assignments(
    graph: Graph, target: Node, file: Node, *, strict: bool = True
) -> Iterator[tuple[Node | None, Source | None]]:
    """Each assignment of the saver; None for what is not understood.

    A function that does anything else is not understood, unless ``strict`` is False.
    """
    texts = cache(texts_of)  # all names are in one constant
    for node in reachable([target]):
        if node.op in _CALLS:
            yield from _inside(graph, node, file, strict)
        elif node.op not in _SAVER:
            yield None, None
        elif node.op in ASSIGNS:
            variable = node.inputs[0][0] if node.inputs else None
            known = variable is not None and variable.op in VARIABLES
            yield (variable if known else None), source_of(node, lambda name: name is file, texts)


def _inside(
    graph: Graph, call: Node, file: Node, strict: bool
) -> Iterator[tuple[Node | None, Source | None]]:
    """The assignments of a function that a saver calls, to variables that it is given."""
    function = graph.functions.get(getattr(call.attr("f"), "name", ""))
    if function is None or (strict and any(op not in _SAVER - _CALLS for op in function.ops())):
        yield None, None
        return
    try:
        body = function.body(graph.functions)
    except DrystoneError:
        yield None, None
        return
    texts = cache(texts_of)
    given = dict(zip(body.args, (_handed_on(source) for source, _ in call.inputs), strict=False))
    for node in body.graph:
        if node.op in ASSIGNS:
            variable = given.get(node.inputs[0][0]) if node.inputs else None
            known = variable is not None and variable.op in VARIABLES
            source = source_of(node, lambda name: given.get(name) is file, texts)
            yield (variable if known else None), source


def source_of(
    assign: Node, is_file: Callable[[Node], bool], texts: Callable[[Node], list[str]]
) -> Source | None:
    """What an assignment takes from the checkpoint; None for anything else.

    ``is_file`` says whether a node is where the saver is told the checkpoint's name; ``texts``
    gives the strings of a constant.
    """
    if len(assign.inputs) < _ASSIGNED:
        return None
    source, index = assign.inputs[1]
    if source.op == "Identity" and source.inputs:
        source, index = source.inputs[0]
    if source.op not in _RESTORES or not source.inputs:
        return None
    if not is_file(_handed_on(source.inputs[0][0])):
        return None
    names, *slices = [texts(node) for node, _ in source.inputs[1:]] or [[]]
    if any(index >= len(strings) for strings in (names, *slices)):
        return None
    part = parse_slice(slices[0][index]) if slices else None
    return Source(names[index]) if part is None else Source(names[index], part[1], part[0])


def _handed_on(node: Node) -> Node:
    """The node whose value it is, past those that hand one on."""
    while node.op == "Identity" and node.inputs:
        node = node.inputs[0][0]
    return node


def texts_of(node: Node) -> list[str]:
    """The strings of a constant; none for any other node."""
    value = held_tensor(node)
    if value is None or value.dtype is not STRING:
        return []
    return [v.decode("utf-8", "surrogateescape") for v in value.array.ravel().tolist()]
