"""The functions that a holder of nodes alone needs: those that they call, and so on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from drystone_abi.protos import AttrValue, FunctionDefLibrary, NodeDef
from drystone_base.graph import FunctionLibrary

__all__ = ["called_functions"]


def called_functions(nodes: Iterable[NodeDef], library: FunctionLibrary) -> FunctionDefLibrary:
    """A library of all that ``nodes`` call, with the gradients that are registered for it.

    Datasets and gradients are followed, too: who has nothing else must find every name. The order
    is that of being met.
    """
    made = FunctionDefLibrary()
    queue = [name for node in nodes for name in _named(node)]
    met: set[str] = set()
    for name in queue:
        function = library.get(name) if name not in met else None
        if function is None:
            continue
        met.add(name)
        made.function.append(function.proto)
        gradient = library.gradient_of(name)
        if gradient is not None:
            made.gradient.add(function_name=name, gradient_func=gradient)
            queue.append(gradient)
        queue.extend(name for node in function.proto.node_def for name in _named(node))
    return made


def _named(node: NodeDef) -> Iterator[str]:
    yield node.op
    for name in sorted(node.attr):
        yield from _of_attr(node.attr[name])


def _of_attr(value: AttrValue) -> Iterator[str]:
    """Functions that an attribute names; a function may be given others as attributes."""
    for function in (value.func, *value.list.func):
        if function.name:
            yield function.name
        for name in sorted(function.attr):
            yield from _of_attr(function.attr[name])
