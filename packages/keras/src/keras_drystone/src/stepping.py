"""Steps of training and evaluating: traced once for each signature, one native call each.

Steps of one execution are one call together, where their batches are alike.

``arrays_of``, ``specs_of`` and ``tensors_of`` are how nests of arrays come into graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from drystone_base.api.function import Spec, Traced
from drystone_base.core.dtypes import from_numpy
from drystone_base.tracing.control_flow import while_loop
from drystone_base.tracing.nests import leaves, mapped
from drystone_base.tracing.tensor import Tensor
from keras_drystone.src.dispatch import emit
from keras_drystone.src.tensor import wrapped

__all__ = ["Step", "arrays_of", "specs_of", "tensors_of"]

_Arrays = tuple[Any, Any, list[Any]]
"""What ``arrays_of`` gives."""


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
        self._loops: dict[Any, _Loop] = {}

    def several(self, batches: Sequence[Any]) -> Any:
        """What the function gives for the last of some batches, after all others.

        Batches of one size that follow each other are one call, a loop in the graph, once the
        function has been traced for such.
        """
        if self._again or len(batches) < 2:
            return [self(batch) for batch in batches][-1]
        found = None
        for (key, _), group in groupby(map(arrays_of, batches), _kind):
            found = self._run(key, list(group))
        return found

    def _run(self, key: Any, batches: list[_Arrays]) -> Any:
        """The same for batches of one size, as ``arrays_of`` gives them."""
        if len(batches) > 1 and key in self._loops:
            return self._loops[key](batches)
        found = [self._once(*batch) for batch in batches][-1]
        if len(batches) > 1 and _is_whole(found):
            self._loops[key] = _Loop(self._function, self._name, found, self._check_numerics)
        return found

    def __call__(self, data: Any) -> Any:
        """What the function gives for a batch: a nest of arrays, some of which may be None."""
        return self._once(*arrays_of(data))

    def _once(self, data: Any, key: Any, flat: list[Any]) -> Any:
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


class _Loop:
    """A step for each of some batches of one size, in one graph; what the last one gives.

    ``last`` is what the step gave before: of which structure, shapes and dtypes that is.
    """

    def __init__(
        self, function: Callable[[Any], Any], name: str, last: Any, check_numerics: bool
    ) -> None:
        self._function, self._name = function, f"{name}_steps"
        self._start = mapped(last, np.zeros_like)
        self._check_numerics = check_numerics
        self._traced: Traced | None = None

    def __call__(self, batches: Sequence[_Arrays]) -> Any:
        """Run all batches."""
        flat = [np.stack(parts) for parts in zip(*(flat for _, _, flat in batches), strict=True)]
        if self._traced is None:
            specs = {"data": mapped(mapped(batches[0][0], _spec), _of_several)}
            self._traced = Traced(self._name, self._called, specs, None, self._check_numerics)
        return self._traced(*flat)

    def _called(self, arguments: Any) -> Any:
        data = tensors_of(arguments)
        some = next(leaf for _, leaf in leaves(data) if leaf is not None)
        zero, one = np.array([0], np.int32), np.array([1], np.int32)
        count = emit("StridedSlice", emit("Shape", some), zero, one, one, shrink_axis_mask=1)

        def body(k: Any, _: Any) -> Any:
            row = wrapped(k)
            taken = mapped(
                data, lambda x: x if x is None else emit("GatherV2", x, row, np.int32(0))
            )
            return k + 1, self._function(taken)

        start = (np.int32(0), self._start)
        return mapped(while_loop(lambda k, _: k < count, body, start)[1], wrapped)


def _of_several(spec: Any) -> Any:
    return None if spec is None else Spec((None, *spec.shape), spec.dtype)


def _kind(made: _Arrays) -> Any:
    """What batches have in common that one loop goes over."""
    _, key, flat = made
    return key, tuple(array.shape for array in flat)


def _is_whole(nest: Any) -> bool:
    """Whether it has leaves, and all of them are arrays."""
    plain = [leaf for _, leaf in leaves(nest)]
    return bool(plain) and all(isinstance(leaf, np.ndarray | np.generic) for leaf in plain)


def arrays_of(data: Any) -> _Arrays:
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
