"""Lists of tensors that a loop fills, one for each leaf of a nest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import standardize_dtype

from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.tracing.trace import Trace
from keras_drystone.src.dispatch import added, emit

__all__ = ["TensorLists"]


def _reserved(shape: Any, count: Any, kind: DType) -> Any:
    return added("TensorListReserve", [shape, count], {"element_dtype": kind})[0]


class TensorLists:
    """Lists for the leaves of a nest of tensors, whose shapes and dtypes are known."""

    def __init__(
        self, nest: Any, kinds: list[DType], shapes: list[tuple[int, ...]], count: Any
    ) -> None:
        self._nest, self._kinds, self._shapes = nest, kinds, shapes
        self.empty = tuple(
            _reserved(np.asarray(shape, np.int32), count, kind)
            for kind, shape in zip(kinds, shapes, strict=True)
        )

    @classmethod
    def like(cls, function: Callable[[], Any], count: Any) -> TensorLists:
        """Lists for what a function gives: it is traced aside, and the trace thrown away."""
        from keras_drystone.src.ops.core import convert_to_tensor

        outer = Trace.active()
        assert outer is not None
        with Trace(outer):
            found = tree.map_structure(convert_to_tensor, function())
            flat = tree.flatten(found)
            kinds = [as_dtype(standardize_dtype(x.dtype)) for x in flat]
            shapes = [tuple(-1 if d is None else d for d in x.shape) for x in flat]
        return cls(found, kinds, shapes, count)

    def with_item(self, lists: Any, index: Any, nest: Any) -> Any:
        """The lists with each leaf of the nest at an index."""
        from keras_drystone.src.ops.core import cast

        flat = tree.flatten(nest)
        return tuple(
            emit("TensorListSetItem", one, index, cast(x, kind.label))
            for one, x, kind in zip(lists, flat, self._kinds, strict=True)
        )

    def stacked(self, lists: Any) -> Any:
        """The nest of stacked tensors."""
        flat = [
            emit("TensorListStack", one, np.asarray(shape, np.int32), element_dtype=kind)
            for one, kind, shape in zip(lists, self._kinds, self._shapes, strict=True)
        ]
        return tree.pack_sequence_as(self._nest, flat)
