"""Training by several processes: each has its share of the data, and all have the same weights.

The processes are those of the group that was joined by ``ds.distributed.join``. All make the same
calls, with as many batches. Alone nothing here does anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.state.collectives import find_collectives
from keras_drystone.src.dispatch import emit

__all__ = ["begin", "group_size", "mean_of_logs", "settle", "shared"]


def group_size() -> int:
    """How many processes train together."""
    found = find_collectives()
    return 1 if found is None else found.size


def shared(gradients: Sequence[Any], weights: Sequence[Any]) -> list[Any]:
    """The means over all processes of the gradients of weights; None stays.

    They go round as one array, so that processes cannot have them in different orders.
    """
    places = [k for k, gradient in enumerate(gradients) if gradient is not None]
    size = group_size()
    found = list(gradients)
    if size == 1 or not places:
        return found
    kinds = [as_dtype(gradients[k].dtype) for k in places]
    wide = as_dtype("float64" if as_dtype("float64") in kinds else "float32")
    flat = [
        emit("Reshape", emit("Cast", gradients[k], DstT=wide), np.array([-1], np.int32))
        for k in places
    ]
    joined = emit("ConcatV2", flat, np.int32(0)) if len(flat) > 1 else flat[0]
    total = emit(
        "CollectiveReduce", joined, group_size=size, group_key=1, instance_key=1, merge_op="Add",
        final_op="Div", subdiv_offsets=(0,),
    )  # fmt: skip
    at = 0
    for k, kind in zip(places, kinds, strict=True):
        shape = tuple(weights[k].shape)
        count = math.prod(shape)
        part = emit("Slice", total, np.array([at], np.int64), np.array([count], np.int64))
        part = emit("Reshape", part, np.array(shape, np.int64))
        found[k] = emit("Cast", part, DstT=kind)
        at += count
    return found


def begin(model: Any) -> None:
    """Have all processes begin with the weights, and the optimizer's state, of the first one."""
    group = find_collectives()
    if group is None or group.size == 1:
        return
    variables = [*model.variables, *getattr(model.optimizer, "variables", ())]
    arrays = [np.asarray(v.numpy()) for v in dict.fromkeys(variables) if _is_number(v)]
    if not arrays:
        return
    whole = group.broadcast(np.concatenate([_bytes_of(array) for array in arrays]))
    _assign([v for v in dict.fromkeys(variables) if _is_number(v)], arrays, whole)


def settle(model: Any) -> None:
    """Give what no gradient changes, such as means of batches, its mean over all processes."""
    group = find_collectives()
    if group is None or group.size == 1:
        return
    variables = [v for v in model.non_trainable_variables if as_dtype(v.dtype).is_floating]
    if not variables:
        return
    arrays = [np.asarray(v.numpy()) for v in variables]
    wide = np.concatenate([array.reshape(-1).astype(np.float64) for array in arrays])
    mean, at = group.reduce(wide, "Add", mean=True), 0
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(mean[at : at + array.size].reshape(array.shape).astype(array.dtype))
        at += array.size


def mean_of_logs(logs: dict[str, Any]) -> dict[str, Any]:
    """Logs of an epoch as all processes have them: callbacks must decide alike."""
    group = find_collectives()
    if group is None or group.size == 1:
        return logs
    names = sorted(name for name, value in logs.items() if np.ndim(value) == 0)
    values = np.array([float(logs[name]) for name in names])
    mean = group.reduce(values, "Add", mean=True)
    return logs | {name: float(value) for name, value in zip(names, mean, strict=True)}


def _is_number(variable: Any) -> bool:
    kind = as_dtype(variable.dtype)
    return not kind.is_object


def _bytes_of(array: Any) -> Any:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _assign(variables: Sequence[Any], arrays: Sequence[Any], whole: Any) -> None:
    at = 0
    for variable, array in zip(variables, arrays, strict=True):
        part = whole[at : at + array.nbytes]
        variable.assign(np.frombuffer(part.tobytes(), array.dtype).reshape(array.shape))
        at += array.nbytes
