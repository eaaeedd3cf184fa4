"""Steps of training and evaluating: traced once for each signature, one native call each.

``arrays_of``, ``specs_of`` and ``tensors_of`` are how nests of arrays come into graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone_base.api.function import Spec, Traced
from drystone_base.core.dtypes import from_numpy
from drystone_base.tracing.nests import leaves, mapped
from drystone_base.tracing.tensor import Tensor
from keras_drystone.src.tensor import wrapped

__all__ = ["Step", "arrays_of", "specs_of", "tensors_of"]


class Step:
    """A function of one batch that reads and assigns variables.

    They stay in base's variables, where the native executor changes them in place; the first axis
    of arrays is a batch of any size. ``again``: it is traced at each call, so that Python code in
    it runs each time. ``check_numerics`` names the first op that gives NaN or infinity.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        name: str,
        *,
        again: bool = False,
        check_numerics: bool = False,
    ) -> None:
        self._function, self._name = function, name
        self._again, self._check_numerics = again, check_numerics
        self._made: dict[Any, Traced] = {}

    def __call__(self, data: Any) -> Any:
        """What the function gives for a batch: a nest of arrays, some of which may be None."""
        data, key, flat = arrays_of(data)
        made = None if self._again else self._made.get(key)
        if made is None:
            made = self._made[key] = self.traced(data)
        return made(*flat)

    @property
    def traces(self) -> list[Traced]:
        """All traces so far, the oldest first."""
        return list(self._made.values())

    def traced(self, data: Any) -> Traced:
        """The trace for batches like this one."""
        specs = specs_of(data)
        return Traced(self._name, self._called, specs, None, self._check_numerics)

    def _called(self, arguments: Any) -> Any:
        return self._function(tensors_of(arguments))


def arrays_of(data: Any) -> tuple[Any, Any, list[Any]]:
    """A nest with arrays as its leaves, what a trace for it depends on, and those not left out."""
    data = mapped(data, _array)
    plain = list(leaves(data))
    key = tuple((path, _key(leaf)) for path, leaf in plain)
    return data, key, [leaf for _, leaf in plain if leaf is not None]


def specs_of(data: Any) -> dict[str, Any]:
    """The arguments of a trace for nests like this one, of any number of rows."""
    return {"data": mapped(data, _spec)}


def tensors_of(arguments: Any) -> Any:
    """The nest of tensors that a trace is given."""
    return mapped(arguments["data"], _tensor)


def _array(leaf: Any) -> Any:
    """A leaf of a batch as an array; None for what is left out."""
    return None if leaf is None else np.asarray(leaf)


def _key(array: Any) -> Any:
    return None if array is None else (array.shape[1:], array.ndim, array.dtype.num)


def _spec(array: Any) -> Any:
    if array is None:
        return None
    shape = (None, *array.shape[1:]) if array.ndim else ()
    return Spec.of(shape, from_numpy(array.dtype))


def _tensor(leaf: Any) -> Any:
    return wrapped(leaf) if isinstance(leaf, Tensor) else leaf
