"""What is known of a call's results before it runs: by what its node states, or is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drystone_base.inference.inference import Shape, ShapeCall

__all__ = ["shapes_of"]


def shapes_of(call: ShapeCall) -> Sequence[Shape]:
    """The shape function of ``TvmRuntime``; what it cannot tell, or the kernel refuses, is unknown.

    It opens nothing: what a library states of itself is in the attributes of the node.
    """
    count, inputs = call.output_count, len(call.attrs.get("Tin") or ())
    stated = call.attrs.get("output_shapes") or ()
    if stated:
        places = iter(call.attrs.get("sizes_of") or ())
        return [_stated(call, shape, places) for shape in stated]
    if call.attrs.get("num_shapes"):
        return [call.value_as_shape(inputs + k) for k in range(count)]
    return [call.shape(0) if inputs else None] * count


def _stated(call: ShapeCall, shape: Shape, places: Iterator[int]) -> Shape:
    """A stated shape; each unknown size is that of an axis of an input."""
    if shape is None:
        return None
    return tuple(size if size >= 0 else _size(call, places) for size in shape)


def _size(call: ShapeCall, places: Iterator[int]) -> int:
    k, axis = next(places, -1), next(places, -1)
    given = call.shape(k) if 0 <= k < len(call.shapes) else None
    return given[axis] if given is not None and 0 <= axis < len(given) else -1
