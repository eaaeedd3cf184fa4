"""Elements by index: slices, gathers, scatters of NumPy's kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from keras_drystone.src.dispatch import emit, is_symbolic
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.core import as_tensor, cast, convert_to_tensor, shape
from keras_drystone.src.ops.operands import kind_of, like, one_axis, sizes
from keras_drystone.src.ops.shaping import broadcast_to, moveaxis, reshape

__all__ = ["getitem", "nonzero", "select", "take", "take_along_axis", "unravel_index"]


def getitem(x: Any, key: Any) -> Any:
    """``x[key]`` of a tensor: numbers, slices, None, Ellipsis, and tensors of indices."""
    if not is_symbolic(x) and not is_symbolic(_parts(key)):
        return np.asarray(convert_to_tensor(x))[key]
    parts = _filled(key if isinstance(key, tuple) else (key,), x.ndim)
    if len(parts) == 1 and _is_mask(parts[0]):
        return emit("GatherNd", x, emit("Where", parts[0]))
    many = [k for k in parts if not isinstance(k, slice) and k is not None and _rank(k) > 0]
    if not many:
        return _sliced(x, parts)
    plain = [slice(None) if _is_many(k) else k for k in parts]
    return _gathered(_sliced(x, plain), parts)


def _parts(key: Any) -> list[Any]:
    found: list[Any] = []
    for part in key if isinstance(key, tuple) else (key,):
        found += [part.start, part.stop, part.step] if isinstance(part, slice) else [part]
    return found


def _rank(key: Any) -> int:
    return key.ndim if hasattr(key, "ndim") else np.ndim(key)


def _is_many(key: Any) -> bool:
    return not isinstance(key, slice) and key is not None and _rank(key) > 0


def _is_mask(key: Any) -> bool:
    return hasattr(key, "dtype") and kind_of(key) == "bool" and key.ndim > 0


def _filled(key: tuple[Any, ...], rank: int) -> list[Any]:
    """The key with slices for an Ellipsis and for axes that are not named."""
    given = [convert_to_tensor(k) if isinstance(k, list) else k for k in key]
    used = sum(k.ndim if _is_mask(k) else 1 for k in given if k is not None and k is not Ellipsis)
    places = [i for i, k in enumerate(given) if k is Ellipsis]
    rest = [slice(None)] * (rank - used)
    if places:
        return [*given[: places[0]], *rest, *given[places[0] + 1 :]]
    return [*given, *rest] if not any(map(_is_mask, given)) else given


def _sliced(x: Any, parts: list[Any]) -> Any:
    begin: list[Any] = []
    end: list[Any] = []
    step: list[Any] = []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for k, part in enumerate(parts):
        first, last, stride = 0, 0, 1
        if part is None:
            masks["new_axis"] |= 1 << k
        elif isinstance(part, slice):
            masks["begin"] |= (part.start is None) << k
            masks["end"] |= (part.stop is None) << k
            first, last = (0 if v is None else v for v in (part.start, part.stop))
            stride = 1 if part.step is None else part.step
        else:
            masks["shrink_axis"] |= 1 << k
            first, last = part, part + 1
        begin, end, step = [*begin, first], [*end, last], [*step, stride]
    if not parts:
        return x
    ends = [sizes(v) for v in (begin, end, step)]
    return emit("StridedSlice", x, *ends, **{f"{name}_mask": v for name, v in masks.items()})


def _gathered(x: Any, parts: list[Any]) -> Any:
    """Tensors of indices: one by ``GatherV2``, several by ``GatherNd`` of their common shape."""
    left = [k for k in parts if isinstance(k, slice) or k is None or _is_many(k)]
    places = [i for i, k in enumerate(left) if _is_many(k)]
    indices = [cast(left[i], "int32") for i in places]
    if len(places) == 1:
        return take(x, indices[0], places[0])
    joint = emit("BroadcastTo", indices[0], _common(indices))
    full = [broadcast_to(i, shape(joint)) for i in indices]
    lengths = shape(x)
    safe = [
        e.where(e.less(i, 0), e.add(i, lengths[p]), i) for i, p in zip(full, places, strict=True)
    ]
    front = moveaxis(x, places, list(range(len(places))))
    found = emit("GatherNd", front, emit("Pack", safe, axis=-1))
    if places == list(range(places[0], places[0] + len(places))) and places[0]:
        rank = joint.ndim
        return moveaxis(found, list(range(rank)), list(range(places[0], places[0] + rank)))
    return found


def _common(indices: list[Any]) -> Any:
    found = sizes(shape(indices[0]))
    for one in indices[1:]:
        found = emit("BroadcastArgs", found, sizes(shape(one)))
    return found


def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Elements of an axis by their indices; negative ones count from the end."""
    x, indices = as_tensor(x), convert_to_tensor(indices)
    if kind_of(indices) not in ("int32", "int64"):
        indices = cast(indices, "int32")
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = one_axis(axis, x.ndim)
    return emit("GatherV2", x, _from_start(indices, shape(x)[axis]), np.int32(axis))


def _from_start(indices: Any, length: Any) -> Any:
    """Indices counted from the start."""
    if not is_symbolic(indices) and (np.size(indices) == 0 or np.min(indices) >= 0):
        return indices
    negative = e.less(indices, like(0, indices))
    return emit("SelectV2", negative, emit("AddV2", indices, like(length, indices)), indices)


def take_along_axis(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Elements of an axis by an index for each place."""
    x, indices = as_tensor(x), convert_to_tensor(indices)
    if kind_of(indices) not in ("int32", "int64"):
        indices = cast(indices, "int32")
    if axis is None:
        x, indices, axis = reshape(x, (-1,)), reshape(indices, (-1,)), 0
    axis = one_axis(axis, x.ndim)
    x, indices = moveaxis(x, axis, -1), moveaxis(indices, axis, -1)
    indices = _from_start(indices, shape(x)[-1])
    lead = _lead(x, indices)
    x = broadcast_to(x, (*lead, shape(x)[-1]))
    indices = broadcast_to(indices, (*lead, shape(indices)[-1]))
    found = emit("GatherV2", x, indices, np.int32(x.ndim - 1), batch_dims=x.ndim - 1)
    return moveaxis(found, -1, axis)


def _lead(x: Any, y: Any) -> list[Any]:
    """The common sizes of the axes before the last one."""
    found: list[Any] = []
    for a, b, dynamic_a, dynamic_b in zip(
        x.shape[:-1], y.shape[:-1], shape(x)[:-1], shape(y)[:-1], strict=True
    ):
        found.append(dynamic_b if a == 1 else dynamic_a if b == 1 or b is None else dynamic_b)
    return found


def nonzero(x: Any) -> tuple[Any, ...]:
    """Indices of what is not 0, one tensor for each axis."""
    x = as_tensor(x)
    found = cast(emit("Where", cast(x, "bool")), "int32")
    return tuple(getitem(found, (slice(None), k)) for k in range(x.ndim))


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """For each element the first choice whose condition is true."""
    from keras_drystone.src.ops.operands import promoted

    conditions = [convert_to_tensor(c) for c in condlist]
    *choices, found = promoted(*[convert_to_tensor(c) for c in choicelist], default)
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        found = e.where(condition, choice, found)
    return found


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The index of each axis for places in one row."""
    rest = convert_to_tensor(indices)
    if any(d is None for d in shape):
        raise ValueError(f"`shape` argument cannot contain `None`. Received: shape={shape}")
    total = int(np.prod(shape))
    rest = e.where(e.less(rest, 0), e.add(rest, like(total, rest)), rest)
    found = []
    for size in reversed(list(shape)):
        found.append(emit("FloorMod", rest, like(size, rest)))
        rest = emit("FloorDiv", rest, like(size, rest))
    return tuple(reversed(found))
