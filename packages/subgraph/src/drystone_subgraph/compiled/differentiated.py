"""Functions that are differentiated call their regions: an operator has no gradient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Final

from drystone_abi.protos import FunctionDef, NameAttrList, NodeDef
from drystone_base.graph import FunctionLibrary, Graph
from drystone_base.graph.calls import BACKEND_ATTR, called_by_proto
from drystone_base.ops.attrs import FunctionRef

__all__ = ["keep_differentiated"]

_OP: Final = "SymbolicGradient"


def keep_differentiated(graph: Graph) -> frozenset[str]:
    """Have ``SymbolicGradient`` differentiate copies of functions with regions; their names.

    The copies are to stay as they are. A function whose gradient the library names is not
    differentiated itself.
    """
    library = graph.functions
    nodes = [node for node in graph if node.op == _OP]
    inner = [f for f in library if any(proto.op == _OP for proto in f.proto.node_def)]
    named = {node.attrs["f"].name for node in nodes}
    named |= {p.attr["f"].func.name for f in inner for p in f.proto.node_def if p.op == _OP}
    holding = _holding_regions(named, library)
    new = {name: _unused(f"{name}_differentiated", library) for name in sorted(holding)}
    if not new:
        return frozenset()
    for name, copy in new.items():
        library.add(_renamed(library[name].proto, new, copy))
    for function in inner:
        library.add(_differentiating(function.proto, new), replace=True)
    for node in nodes:
        f = node.attrs["f"]
        graph.set_attr(node, "f", FunctionRef(new.get(f.name, f.name), f.attrs))
    return frozenset(new.values())


def _holding_regions(names: Iterable[str], library: FunctionLibrary) -> set[str]:
    """Those of the functions, and of all that they call, from which a region is called."""
    calls: dict[str, set[str]] = {}
    holding: set[str] = set()
    queue = [name for name in names if library.gradient_of(name) is None]
    for name in queue:
        function = library.get(name)
        if function is None or name in calls:
            continue
        calls[name] = set()
        for proto in function.proto.node_def:
            if BACKEND_ATTR in proto.attr:
                holding.add(name)
            else:
                calls[name].update(called_by_proto(proto, library))
        queue.extend(calls[name])
    while more := {n for n in calls.keys() - holding if not holding.isdisjoint(calls[n])}:
        holding |= more
    return holding


def _unused(name: str, library: FunctionLibrary) -> str:
    numbered = (f"{name}_{k}" for k in count(1))
    return name if name not in library else next(n for n in numbered if n not in library)


def _renamed(proto: FunctionDef, new: Mapping[str, str], name: str) -> FunctionDef:
    """A copy of that name which calls the copies of what it calls."""
    made = FunctionDef()
    made.CopyFrom(proto)
    made.signature.name = name
    for node in made.node_def:
        node.op = new.get(node.op, node.op)
        for ref in _functions(node):
            ref.name = new.get(ref.name, ref.name)
    return made


def _functions(node: NodeDef) -> Iterator[NameAttrList]:
    for value in node.attr.values():
        if value.HasField("func"):
            yield value.func
        yield from value.list.func


def _differentiating(proto: FunctionDef, new: Mapping[str, str]) -> FunctionDef:
    """A copy whose gradients are those of the copies."""
    made = FunctionDef()
    made.CopyFrom(proto)
    for node in made.node_def:
        if node.op == _OP:
            ref = node.attr["f"].func
            ref.name = new.get(ref.name, ref.name)
    return made
