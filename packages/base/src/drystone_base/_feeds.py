"""Values that are fed: converted to what a tensor must be, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from drystone_base.dtypes import DType, from_numpy
from drystone_base.errors import BadRequest
from drystone_base.late_tuples import NamedTuple
from drystone_base.tensor import string_array

if TYPE_CHECKING:
    from drystone_base.ops.attrs import Shape

__all__ = ["Feed", "to_array"]


class Feed(NamedTuple):
    """What is known of a tensor that is fed."""

    name: str
    dtype: DType
    shape: Shape


def to_array(feed: Feed, value: Any, copy: bool) -> np.ndarray[Any, Any]:
    """The value of a feed in the tensor's dtype; refuses what does not convert without loss."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        _bad_feed(
            feed, "must be a rectangular array", "nested lists of unequal length", feed.dtype, error
        )
    if feed.dtype.label == "string":
        array = _to_strings(feed, array)
    elif not feed.dtype.is_object and array.dtype != feed.dtype.np:
        array = _convert(feed, array, given=value)
    elif copy:
        array = array.copy()
    shape = feed.shape
    if shape is not None and (
        len(shape) != array.ndim
        or any(w >= 0 and w != g for w, g in zip(shape, array.shape, strict=True))
    ):
        needed = "[" + ", ".join("?" if d < 0 else str(d) for d in shape) + "]"
        _bad_feed(feed, "must have the placeholder's shape", list(array.shape), needed)
    return array


def _convert(feed: Feed, array: np.ndarray[Any, Any], given: Any) -> np.ndarray[Any, Any]:
    source, target = array.dtype, feed.dtype.np
    narrow = (source.kind in "fc" and target.kind in "iub") or source.kind == "c" != target.kind
    plain = array.size == 0 or not isinstance(given, np.ndarray | np.generic)
    if source.kind in "SUOMm" or (narrow and not (plain and array.size == 0)):
        _bad_feed(feed, "must have the tensor's dtype", source, feed.dtype)
    with np.errstate(over="ignore"):
        converted = array.astype(target)
    if source.kind in "iu" and target.kind in "iu" and not np.array_equal(converted, array):
        _bad_feed(feed, "must fit the tensor's dtype", f"{source} values out of range", feed.dtype)
    return converted


def _to_strings(feed: Feed, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    flat = array.ravel().tolist()
    if not all(isinstance(v, str | bytes) for v in flat):
        _bad_feed(feed, "must hold text or bytes", from_numpy(array.dtype), feed.dtype)
    return string_array([v.encode() if isinstance(v, str) else v for v in flat], array.shape)


def _bad_feed(
    feed: Feed, check: str, found: object, needed: object, inner: Exception | None = None
) -> Any:
    raise BadRequest(
        f"the value fed to {feed.name!r} does not fit",
        check=f"a feed {check}",
        found=found,
        needed=needed,
        remedy="convert the array (.astype, .reshape) before the call",
        code="wrong-feed",
        inner=inner,
    )
