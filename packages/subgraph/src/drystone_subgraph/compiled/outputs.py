"""What the outputs of an executable must be: the region's, by number, dtypes and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError
from drystone_base.core.tensor import as_array
from drystone_subgraph.contract.executable import CompileRequest

__all__ = ["Shape", "checked_outputs", "shapes_of_outputs"]

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...] | None
"""Dimensions, below 0 for those that are unknown; None for an unknown rank."""


def shapes_of_outputs(request: CompileRequest) -> tuple[Shape, ...]:
    """What is known of them for inputs of these shapes; nothing where they contradict an op."""
    from drystone_base.inference.inference import infer

    body = request.body
    given = {(arg, 0): tuple(i.shape) for arg, i in zip(body.args, request.inputs, strict=True)}
    try:
        found = infer(body.graph, given=given)
    except DrystoneError:  # what runs the region says what is wrong with it
        return (None,) * len(body.results)
    return tuple(found.shape(result.inputs[0]) for result in body.results)


def checked_outputs(
    values: Sequence[Array], dtypes: Sequence[DType], shapes: Sequence[Shape]
) -> list[Array]:
    """The outputs as arrays; raises ``TypeError`` and ``ValueError`` for others than are due."""
    if len(values) != len(dtypes):
        raise ValueError(f"it gave {len(values)} outputs, and the region has {len(dtypes)}")
    found = [as_array(value) for value in values]
    for k, (array, dtype, shape) in enumerate(zip(found, dtypes, shapes, strict=True)):
        if array.dtype != dtype.np:
            raise TypeError(f"output {k} is {array.dtype}, and must be {dtype}")
        if not _admits(shape, array.shape):
            known = [dim if dim >= 0 else "?" for dim in shape or ()]
            due = str(known).replace("'", "")
            raise ValueError(
                f"output {k} has shape {list(array.shape)}, and the region gives {due}"
            )
    return found


def _admits(shape: Shape, found: tuple[int, ...]) -> bool:
    if shape is None:
        return True
    return len(shape) == len(found) and all(
        a < 0 or a == b for a, b in zip(shape, found, strict=True)
    )
