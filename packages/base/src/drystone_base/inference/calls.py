"""What inference comes across when it goes through calls: what functions are given, what varies.

For who holds one graph against another: a function's body says little of its own, as it takes what
its callers hand it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.inference.shapes._registry import UNKNOWN, Handle, Shape
from drystone_base.inference.shapes.control_flow.functional import same_value, widen, widen_handle
from drystone_base.ops.attrs import FunctionRef

__all__ = ["FOLLOWED", "Calls", "Given"]

FOLLOWED: Final = frozenset({
    "If", "StatelessIf", "_If", "Case", "StatelessCase", "While", "StatelessWhile", "_While", "For",
    "PartitionedCall", "StatefulPartitionedCall", "RemoteCall",
})  # fmt: skip
"""Ops whose functions inference goes through."""

Given = tuple[Shape, Any, Handle | None]
"""What is known of an argument: shape, value and handle."""


class _Call(NamedTuple):
    function: FunctionRef
    given: list[Given]


class Calls:
    """The calls of one graph: of each function, all that it is given, joined.

    ``varying``: nodes of the graph itself that run something again or choose, and do not always
    give the same shape. ``is_complete``: no call was left out, as it is of functions that are too
    many, or around a node that cannot take what it is given.
    """

    def __init__(self) -> None:
        self._found: Final[dict[tuple[str, str], _Call]] = {}
        self.varying: Final[dict[str, tuple[Shape, Shape]]] = {}
        self.is_complete = True

    def __iter__(self) -> Iterator[_Call]:
        return iter(list(self._found.values()))

    def given(self, function: FunctionRef) -> list[Given] | None:
        """What a function is given, all calls joined; None where none was met."""
        found = self._found.get(_key(function))
        return found.given if found else None

    def note(
        self,
        function: FunctionRef,
        shapes: Sequence[Shape],
        values: Sequence[Any],
        handles: Sequence[Handle | None],
    ) -> None:
        """Remember a call, beside what is known of other calls of the same function."""
        key = _key(function)
        now = [_plain(*one) for one in zip(shapes, values, handles, strict=False)]
        was = self._found.get(key)
        if was is not None and len(was.given) == len(now):
            now = [
                (widen(a, b), same_value(v, w), widen_handle(h, i))
                for (a, v, h), (b, w, i) in zip(was.given, now, strict=True)
            ]
        self._found[key] = _Call(function, now)


def _key(function: FunctionRef) -> tuple[str, str]:
    return function.name, repr(sorted(function.attrs.items()))


def _plain(shape: Shape, value: Any, handle: Handle | None) -> Given:
    """Without symbols, which mean something in the graph of the call alone."""
    kept = value if isinstance(value, np.ndarray) else None
    return _open(shape), kept, handle and (handle[0], _open(handle[1]))


def _open(shape: Shape) -> Shape:
    return None if shape is None else tuple(max(size, UNKNOWN) for size in shape)
