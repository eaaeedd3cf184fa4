"""Values between the elements of a tensor."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src import backend

from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops import curves, reducing, shaping
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.operands import is_integer, kind_of, like
from keras_drystone.src.ops.products import tensordot

__all__ = ["map_coordinates", "scale_and_translate"]

_FILLS = ("constant", "nearest", "wrap", "mirror", "reflect")


def map_coordinates(
    inputs: Any, coordinates: Any, order: int, fill_mode: str = "constant", fill_value: Any = 0.0
) -> Any:
    """Values at places that are no integers."""
    x, places = convert_to_tensor(inputs), convert_to_tensor(coordinates)
    if places.shape[0] != x.ndim:
        raise ValueError(
            "First dim of `coordinates` must be the same as the rank of `inputs`. "
            f"Received inputs with shape: {x.shape} and coordinate leading dim of "
            f"{places.shape[0]}"
        )
    if places.ndim < 2:
        raise ValueError(
            "Invalid coordinates rank: expected at least rank 2."
            f" Received input with shape: {places.shape}"
        )
    if fill_mode not in _FILLS:
        raise ValueError(
            f"Invalid value for argument `fill_mode`. Expected one of {set(_FILLS)}. Received: "
            f"fill_mode={fill_mode}"
        )
    if order not in (0, 1):
        raise NotImplementedError("map_coordinates currently requires order<=1")
    axes = [
        [(_inside(index, size, fill_mode), weight) for index, weight in _nodes(places[k], order)]
        for k, size in enumerate(shape(x))
    ]
    parts = [_corner(x, corner, fill_mode, fill_value) for corner in itertools.product(*axes)]
    found = functools.reduce(e.add, parts)
    kind = kind_of(x)
    return cast(e.round(found) if is_integer(kind) else found, kind)


def _nodes(place: Any, order: int) -> list[tuple[Any, Any]]:
    """The elements beside a place, and how much each counts."""
    if order == 0:
        index = place if is_integer(kind_of(place)) else e.round(place)
        return [(cast(index, "int32"), like(1, place))]
    place = place if not is_integer(kind_of(place)) else cast(place, "float32")
    low = e.floor(place)
    upper = e.subtract(place, low)
    index = cast(low, "int32")
    return [(index, e.subtract(like(1, place), upper)), (e.add(index, 1), upper)]


def _inside(index: Any, size: Any, mode: str) -> tuple[Any, Any]:
    """An index of an element for each, and whether it was one."""
    last = size - 1
    valid = e.logical_and(e.greater_equal(index, 0), e.less(index, size))
    if mode in ("constant", "nearest"):
        return e.minimum(e.maximum(index, 0), last), valid
    if mode == "wrap":
        return e.mod(index, size), valid
    if mode == "mirror":
        return _mirrored(index, size), valid
    doubled = _mirrored(e.add(e.multiply(index, 2), 1), size * 2 + 1)
    return e.floor_divide(e.subtract(doubled, 1), 2), valid


def _mirrored(index: Any, size: Any) -> Any:
    """Reflected at the outermost elements."""
    half = size - 1
    if isinstance(half, int) and half == 0:
        return emit("ZerosLike", index)
    return e.absolute(e.subtract(e.mod(e.add(index, half), 2 * half), half))


def _corner(x: Any, corner: Any, mode: str, value: Any) -> Any:
    """What one element beside each place adds."""
    index = shaping.stack([place for (place, _), _ in corner], -1)
    weight = functools.reduce(e.multiply, [w for _, w in corner])
    found = cast(
        emit("GatherNd", x, index),
        kind_of(weight) if not is_integer(kind_of(weight)) else kind_of(x),
    )
    if mode == "constant":
        valid = functools.reduce(e.logical_and, [ok for (_, ok), _ in corner])
        found = e.where(valid, found, like(value, found))
    return e.multiply(cast(weight, kind_of(found)), found)


def _triangle(x: Any) -> Any:
    return e.maximum(like(0, x), e.subtract(like(1, x), e.absolute(x)))


def _cubic(x: Any) -> Any:
    """Keys's cubic, of distances."""
    near = e.add(e.multiply(e.multiply(e.subtract(e.multiply(x, 1.5), 2.5), x), x), 1.0)
    far = e.multiply(e.subtract(e.multiply(e.add(e.multiply(x, -0.5), 2.5), x), 4.0), x)
    found = e.where(e.greater_equal(x, 1.0), e.add(far, 2.0), near)
    return e.where(e.greater_equal(x, 2.0), like(0, x), found)


def _lanczos(radius: float, x: Any) -> Any:
    turn = e.multiply(x, np.pi)
    top = e.multiply(e.multiply(curves.sin(turn), curves.sin(e.divide(turn, radius))), radius)
    small = e.less_equal(x, 1e-3)
    under = e.where(small, like(1, x), e.square(turn))
    found = e.where(small, like(1, x), e.divide(top, under))
    return e.where(e.greater(x, radius), like(0, x), found)


_KERNELS: dict[str, Callable[[Any], Any]] = {
    "linear": _triangle, "bilinear": _triangle, "trilinear": _triangle,
    "cubic": _cubic, "bicubic": _cubic, "tricubic": _cubic,
    "lanczos3": functools.partial(_lanczos, 3.0), "lanczos5": functools.partial(_lanczos, 5.0),
}  # fmt: skip


def scale_and_translate(
    images: Any,
    output_shape: Any,
    scale: Any,
    translation: Any,
    spatial_dims: Any,
    method: str,
    antialias: bool = True,
) -> Any:
    """Images scaled and moved along axes, one after another."""
    if method not in _KERNELS:
        raise ValueError(
            f"Invalid value for argument `method`. Expected of one {set(_KERNELS)}. "
            f"Received: method={method}"
        )
    x, scale, translation = map(convert_to_tensor, (images, scale, translation))
    kind = backend.result_type(scale.dtype, translation.dtype)
    scale, translation = cast(scale, kind), cast(translation, kind)
    found = cast(x, "float32") if is_integer(kind_of(x)) else x
    for k, axis in enumerate(spatial_dims):
        axis %= x.ndim
        weights = _weights(shape(x)[axis], output_shape[axis], scale[k], translation[k],
                           _KERNELS[method], antialias)  # fmt: skip
        found = tensordot(found, cast(weights, kind_of(found)), [[axis], [0]])
        found = shaping.moveaxis(found, -1, axis)
    if not is_integer(kind_of(x)):
        return found
    low, high = (cast(v, "float32") for v in (reducing.min(x), reducing.max(x)))
    return cast(e.minimum(e.maximum(e.round(found), low), high), kind_of(x))


def _weights(
    given: Any, wanted: int, scale: Any, moved: Any, kernel: Callable[[Any], Any], smooth: bool
) -> Any:
    """How much each element counts for each new one; new ones outside of the image are 0."""
    from keras_drystone.src.ops.creating import arange

    kind = kind_of(scale)
    inverse = e.divide(like(1, scale), scale)
    width = e.maximum(inverse, like(1, inverse)) if smooth else like(1, inverse)
    place = e.multiply(e.add(arange(wanted, dtype=kind), 0.5), inverse)
    place = e.subtract(e.subtract(place, e.multiply(moved, inverse)), 0.5)
    elements = shaping.expand_dims(arange(given, dtype=kind), 1)
    distance = e.absolute(e.subtract(shaping.expand_dims(place, 0), elements))
    weights = kernel(e.divide(distance, width))
    total = reducing.sum(weights, 0, True)
    enough = e.greater(e.absolute(total), 1000.0 * float(np.finfo(np.float32).eps))
    safe = e.where(e.equal(total, 0), like(1, total), total)
    weights = e.where(enough, e.divide(weights, safe), like(0, weights))
    size = cast(convert_to_tensor(given), kind)
    inside = e.logical_and(e.greater_equal(place, -0.5), e.less_equal(place, e.subtract(size, 0.5)))
    return e.where(shaping.expand_dims(inside, 0), weights, like(0, weights))
