"""Which ops read an input, through calls and loops, and what one reads a string as."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.properties import RESHAPES

__all__ = ["Reader", "arrivals", "reader_of"]

_READERS: Final = frozenset({
    "ParseExample", "ParseExampleV2", "ParseSingleExample", "DecodeRaw", "DecodePaddedRaw",
    "DecodeJpeg", "DecodePng", "DecodeGif", "DecodeBmp", "DecodeImage", "DecodeWebP",
    "DecodeAndCropJpeg", "ExtractJpegShape",
})  # fmt: skip
_HANDS_ON: Final = RESHAPES | frozenset({
    "Identity", "IdentityN", "Snapshot", "StopGradient", "PlaceholderWithDefault",
    "Unpack", "Pack", "Concat", "ConcatV2", "Split", "SplitV",
    "StridedSlice", "Slice", "Gather", "GatherV2", "Tile", "BroadcastTo", "Transpose",
    "TensorListFromTensor", "TensorListGetItem", "TensorArrayScatterV3", "TensorArrayReadV3",
    "Switch", "Merge", "Enter", "Exit", "NextIteration", "EnsureShape",
})  # fmt: skip
_FIRST: Final = {"If": 1, "StatelessIf": 1, "Case": 1, "StatelessCase": 1}
"""Inputs of branches that choose."""
_MOST: Final = 2000  # values that are followed


class Reader(NamedTuple):
    """The node that reads a string."""

    node: Node


def reader_of(graph: Graph, tensor: str) -> Reader | None:
    """The first op that reads the tensor as something, None where none is known to."""
    found = (u for u, slot in arrivals(graph, tensor) if u.op in _READERS and slot == 0)
    return next(map(Reader, found), None)


def arrivals(graph: Graph, tensor: str) -> Iterator[tuple[Node, int]]:
    """Each op that gets the tensor, with the number of its input, through calls and loops."""
    node, index = graph.output(tensor)
    pending = [(node, index)]
    users: dict[Graph, dict[tuple[Node, int], list[tuple[Node, int]]]] = {}
    seen: set[tuple[Node, int]] = set()
    for value in pending:
        if value in seen or len(seen) > _MOST:
            continue
        seen.add(value)
        inside = value[0].graph
        if inside not in users:
            users[inside] = _users(inside)
        for user, slot in users[inside].get(value, ()):
            yield user, slot
            pending += _handed_on(user, slot)


def _users(graph: Graph) -> dict[tuple[Node, int], list[tuple[Node, int]]]:
    found: dict[tuple[Node, int], list[tuple[Node, int]]] = {}
    for node in graph:
        for slot, source in enumerate(node.inputs):
            found.setdefault(source, []).append((node, slot))
    return found


def _handed_on(user: Node, slot: int) -> Iterator[tuple[Node, int]]:
    """Where the value comes out, and the arguments of functions that get it."""
    if user.op in _HANDS_ON:
        several = ("Unpack", "Split", "SplitV", "Switch", "IdentityN")
        yield from ((user, k) for k in range(16 if user.op in several else 1))
    library = user.graph.functions
    refs = [FunctionRef(user.op)] if user.op in library else []
    for value in user.attrs.values():
        refs += [r for r in (value if isinstance(value, list) else [value])
                 if isinstance(r, FunctionRef)]  # fmt: skip
    for ref in refs:
        function = library.get(ref.name)
        place = slot - _FIRST.get(user.op, 0)
        if function is None or place < 0:
            continue
        try:
            body = function.body(library, ref.attrs)
        except DrystoneError:
            continue
        if place < len(body.args):
            yield body.args[place], 0
