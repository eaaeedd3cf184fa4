"""Python functions of arrays as graphs: traced once for each signature, run by one native call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drystone_base.api.function import Traced
from keras_drystone.src.stepping import arrays_of, specs_of, tensors_of
from keras_drystone.src.variable import Frozen, frozen

__all__ = ["Compiled"]


class Compiled:
    """A function of one nest of arrays, or None, whose first axis is a batch of any size.

    Variables that the function only reads are constants of the graph, so that what computes with
    them is done once, when the graph is optimized; when one of them changes, the function is traced
    again. Those that it assigns stay variables.
    """

    def __init__(self, function: Callable[[Any], Any], name: str) -> None:
        self._function, self._name = function, name
        self._made: dict[Any, tuple[Frozen, Traced]] = {}

    def __call__(self, data: Any) -> Any:
        """What the function gives for the arrays."""
        data, key, flat = arrays_of(data)
        found = self._made.get(key)
        if found is None or not found[0].is_current():
            found = self._made[key] = self._traced(data)
        return found[1](*flat)

    def _traced(self, data: Any) -> tuple[Frozen, Traced]:
        taken = Frozen()
        while True:
            made = self._once(data, taken)
            if taken.assigned <= taken.live:
                return taken, made
            taken = Frozen(frozenset(taken.live | taken.assigned))

    def _once(self, data: Any, taken: Frozen) -> Traced:
        with frozen(taken):
            return Traced(self._name, self._called, specs_of(data), None)

    def _called(self, arguments: Any) -> Any:
        return self._function(tensors_of(arguments))
