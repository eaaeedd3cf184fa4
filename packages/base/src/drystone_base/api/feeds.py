"""Values that are fed: converted to what a tensor must be, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np

from drystone_base.core.dtypes import STRING, DType
from drystone_base.core.errors import BadRequest, remedy_for
from drystone_base.core.tensor import as_strings
from drystone_base.core.time_limits import OutOfTime

if TYPE_CHECKING:
    from drystone_base.host.device_array import DeviceArray
    from drystone_base.ops.attrs import Shape

__all__ = ["Feed", "fed_to_host", "to_array"]

_MOST_DIMENSIONS: Final = 64
"""Of NumPy's arrays."""


class Feed(NamedTuple):
    """What is known of a tensor that is fed."""

    name: str
    dtype: DType
    shape: Shape


def to_array(feed: Feed, value: Any, copy: bool) -> np.ndarray[Any, Any]:
    """The value of a feed in the tensor's dtype; refuses what does not convert without loss.

    What lies on a plugin's device stays there, as a ``DeviceArray``.
    """
    if feed.dtype is STRING:
        array = _to_strings(feed, value)
    elif type(value) is np.ndarray and value.dtype == feed.dtype.np:  # nothing to look into
        array = value.copy() if copy else value
    elif (there := _on_device(value)) is not None:
        array = _there(feed, there)
    else:
        array = _to_numbers(feed, value, copy)
    shape = feed.shape
    if (
        shape is not None
        and shape != array.shape  # most are: it spares to compare their dimensions one by one
        and (
            len(shape) != array.ndim
            or any(w >= 0 and w != g for w, g in zip(shape, array.shape, strict=True))
        )
    ):
        needed = "[" + ", ".join("?" if d < 0 else str(d) for d in shape) + "]"
        _bad_feed(feed, "must have the placeholder's shape", list(array.shape), needed)
    return array


def fed_to_host(values: list[Any]) -> list[Any]:
    """Values of :func:`to_array` for what runs on the host alone."""
    return [value.numpy() if hasattr(value, "numpy") else value for value in values]


def _on_device(value: Any) -> DeviceArray | None:
    """What is on a plugin's device, as it is or by DLPack; None for anything else."""
    if not hasattr(type(value), "__dlpack_device__") or isinstance(value, np.ndarray):
        return None
    from drystone_base.host.device_array import DeviceArray, on_known_device

    if isinstance(value, DeviceArray):
        return value
    return DeviceArray.from_dlpack(value) if on_known_device(value) else None


def _there(feed: Feed, value: DeviceArray) -> Any:
    if value.dtype is not feed.dtype:
        _bad_feed(feed, "that lies on a device must have the tensor's dtype", value.dtype,
                  feed.dtype)  # fmt: skip
    return value


def _to_numbers(feed: Feed, value: Any, copy: bool) -> np.ndarray[Any, Any]:
    found = _first(value)
    if isinstance(found, str | bytes):  # NumPy would give all of them the width of the longest
        _bad_feed(feed, "must have the tensor's dtype", "strings", feed.dtype)
    array = _as_array(feed, value)
    if not feed.dtype.is_object and array.dtype != feed.dtype.np:
        return _convert(feed, array, given=value)
    return array.copy() if copy else array


def _as_array(feed: Feed, value: Any) -> np.ndarray[Any, Any]:
    """What NumPy makes of the value; whatever that raises comes from the value, which may do so."""
    try:
        return np.asarray(value)
    except MemoryError as error:
        _too_large(feed, error)
    except ValueError as error:
        check, found = "must be a rectangular array", "nested lists of unequal length"
        if not isinstance(value, list | tuple):
            found = f"a {type(value).__name__} that NumPy refuses"
        _bad_feed(feed, check, found, feed.dtype, error)
    except Exception as error:
        found = f"a {type(value).__name__} that raises {type(error).__name__} when it is asked"
        _bad_feed(feed, "must be something that NumPy can turn into an array", found, feed.dtype,
                  error)  # fmt: skip


def _first(value: Any) -> Any:
    """The first item of nested lists, as deep as arrays go: a list may hold itself."""
    for _ in range(_MOST_DIMENSIONS):
        if not (isinstance(value, list | tuple) and value):
            break
        value = value[0]
    return value


def _convert(feed: Feed, array: np.ndarray[Any, Any], given: Any) -> np.ndarray[Any, Any]:
    source, target = array.dtype, feed.dtype.np
    narrow = (source.kind in "fc" and target.kind in "iub") or source.kind == "c" != target.kind
    plain = array.size == 0 or not isinstance(given, np.ndarray | np.generic)
    is_plain = source.kind not in "SUOMm" and source.type is not np.void
    if not is_plain or (narrow and not (plain and array.size == 0)):
        _bad_feed(feed, "must have the tensor's dtype", source, feed.dtype)
    with np.errstate(over="ignore"):
        try:
            converted = array.astype(target)
        except MemoryError as error:
            _too_large(feed, error)
    if source.kind in "iu" and target.kind in "iu" and not np.array_equal(converted, array):
        _bad_feed(feed, "must fit the tensor's dtype", f"{source} values out of range", feed.dtype)
    return converted


def _to_strings(feed: Feed, value: Any) -> np.ndarray[Any, Any]:
    try:
        return as_strings(value)
    except OutOfTime:
        raise
    except MemoryError as error:
        _too_large(feed, error)
    except (TypeError, ValueError) as error:
        _bad_feed(feed, "must hold text or bytes", error, feed.dtype)
    except Exception as error:
        found = f"a {type(value).__name__} that raises {type(error).__name__} when it is asked"
        _bad_feed(feed, "must hold text or bytes", found, feed.dtype, error)


def _too_large(feed: Feed, error: MemoryError) -> NoReturn:
    raise BadRequest(
        f"the value fed to {feed.name!r} does not fit into memory",
        check="a feed must fit into memory as an array of the tensor's dtype",
        found=error,
        needed="less than what is free",
        remedy=remedy_for("RESOURCE_EXHAUSTED"),
        code="wrong-feed",
        status="RESOURCE_EXHAUSTED",
        inner=error,
    ) from error


def _bad_feed(
    feed: Feed, check: str, found: object, needed: object, inner: Exception | None = None
) -> NoReturn:
    raise BadRequest(
        f"the value fed to {feed.name!r} does not fit",
        check=f"a feed {check}",
        found=found,
        needed=needed,
        remedy="convert the array (.astype, .reshape) before the call",
        code="wrong-feed",
        inner=inner,
    )
