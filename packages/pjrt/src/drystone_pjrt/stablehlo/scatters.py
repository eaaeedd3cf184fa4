"""Elements by vectors of numbers, read or changed."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.graph import Node
from drystone_pjrt.stablehlo.layouts import text_of
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer, integers, tensor

__all__: list[str] = []

_FUNCTIONS: Final = {
    "TensorScatterAdd": "add", "TensorScatterMax": "GT", "TensorScatterMin": "LT",
    "TensorScatterUpdate": "",
}  # fmt: skip


def _ignores(node: Node) -> str:
    policy = text_of(node.attr("bad_indices_policy", b"") or b"")
    return "it ignores bad indices" if policy == "IGNORE" else ""


def _depth(s: Site, places: Value, rank: int) -> int:
    """How many numbers a vector has."""
    if not places.shape or places.shape[-1] > rank:
        raise Refused(f"its indices are {list(places.shape)}, for {rank} dimensions")
    if not places.shape[-1]:
        raise Refused(f"the indices of {s.op} are empty")
    return places.shape[-1]


def _within(w: Writer, s: Site, places: Value, limits: tuple[int, ...]) -> None:
    """Each run must meet this."""
    bounds = w.known(np.asarray(limits).astype(places.dtype))
    if places.known is not None:
        if not np.all((places.known >= 0) & (places.known < np.asarray(limits))):
            raise Refused("an index is beyond its bounds")
        return
    if max(limits, default=0) > np.iinfo(places.dtype).max:
        raise Refused(f"indices of {places.dtype} into {list(limits)}")
    last = [len(places.shape) - 1]
    low = w.compare("GE", places, w.full(0, places.shape, places.dtype))
    high = w.compare("LT", places, w.broadcast(w.named(bounds), places.shape, last))
    text = f"indices of {s.op} (node {s.node.name!r}) must be from 0 to below {list(limits)}"
    w.require(w.same("stablehlo.and", low, high), text)


@emits("GatherNd", check=_ignores)
def gather_nd(w: Writer, s: Site) -> Value:
    """Slices at vectors of numbers."""
    x, places = s.inputs
    depth = _depth(s, places, len(x.shape))
    if not math.prod(x.shape):
        raise Refused("there is nothing to take from")
    _within(w, s, places, x.shape[:depth])
    outer = places.shape[:-1]
    shape = (*outer, *x.shape[depth:])
    apart, first = list(range(len(outer), len(shape))), list(range(depth))
    numbers = (
        f"#stablehlo.gather<offset_dims = {apart}, collapsed_slice_dims = {first}, "
        f"start_index_map = {first}, index_vector_dim = {len(outer)}>"
    )
    attrs = (
        f"dimension_numbers = {numbers}, "
        f"slice_sizes = {integers([1] * depth + list(x.shape[depth:]))}, "
        "indices_are_sorted = false"
    )
    return w.op("stablehlo.gather", [x, places], shape, x.dtype, attrs)


@emits("ScatterNd", static=(2,), check=_ignores)
def scatter_nd(w: Writer, s: Site) -> Value:
    """Zeros with updates added at vectors of numbers."""
    places, updates, shape = s.inputs[0], s.inputs[1], tuple(s.integers(2))
    if min(shape, default=0) < 0:
        raise Refused(f"its shape is {list(shape)}")
    return _scattered(w, s, w.full(0, shape, updates.dtype), places, updates, "add")


@emits(*_FUNCTIONS, check=_ignores)
def tensor_scatter(w: Writer, s: Site) -> Value:
    """A tensor changed at vectors of numbers; the last update of a place counts."""
    x, places, updates = s.inputs
    return _scattered(w, s, x, places, updates, _FUNCTIONS[s.op])


def _scattered(w: Writer, s: Site, x: Value, places: Value, updates: Value, function: str) -> Value:
    depth, outer = _depth(s, places, len(x.shape)), places.shape[:-1]
    if len(places.shape) < 2 or updates.shape != (*outer, *x.shape[depth:]):
        raise Refused(f"its updates are {list(updates.shape)}, for {list(places.shape)} indices")
    if not math.prod(x.shape):
        raise Refused("there is nothing to change")
    _within(w, s, places, x.shape[:depth])
    first = list(range(depth))
    numbers = (
        f"#stablehlo.scatter<update_window_dims = {list(range(len(outer), len(updates.shape)))}, "
        f"inserted_window_dims = {first}, scatter_dims_to_operand_dims = {first}, "
        f"index_vector_dim = {len(outer)}>"
    )
    attrs = (
        f"scatter_dimension_numbers = {numbers}, indices_are_sorted = false, unique_indices = false"
    )
    own = function in ("GT", "LT", "")
    region = _chosen(x.dtype, function) if own else w.region(f"stablehlo.{function}", x.dtype)
    return w.op("stablehlo.scatter", [x, places, updates], x.shape, x.dtype, attrs, region)


def _chosen(dtype: np.dtype[Any], how: str) -> str:
    """A function that gives its second operand, or does if that is ``how`` to the first: an update
    that is no number is no extreme."""
    kind, truth = tensor((), dtype), tensor((), np.dtype(bool))
    head = f"^bb0(%old: {kind}, %new: {kind}): "
    if not how:
        return f'{head}"stablehlo.return"(%new) : ({kind}) -> ()'
    return (
        f'{head}%is = "stablehlo.compare"(%new, %old) {{comparison_direction = '
        f"#stablehlo<comparison_direction {how}>}} : ({kind}, {kind}) -> {truth} "
        f'%got = "stablehlo.select"(%is, %new, %old) : ({truth}, {kind}, {kind}) -> {kind} '
        f'"stablehlo.return"(%got) : ({kind}) -> ()'
    )
