"""Arrays and the host library's tensors, both ways, without a copy where the memory allows it.

Out: a row-major array of native byte order whose memory begins at a multiple of 64 bytes is lent to
the host as it is; any other is copied once into such memory: kernels may load whole vectors.
NumPy itself aligns to 16 bytes only, so feeds are best made by :func:`empty_aligned`; results in a
session that runs plugin kernels are aligned (:mod:`drystone_base.host.memory`), and constants and
variables are copied once. :func:`counts` says how often which of both happened. Strings are lent as
views of the ``bytes`` objects; only their table of 24 bytes each is written.

In: an array over the tensor's own memory, which is freed with the array. Strings are copied.

Lent arrays are kept alive until the host says that nothing refers to them any more. It never calls
Python for that, since a plugin may drop its last handle on a thread that Python does not know: the
host keeps a list, which is looked through whenever something is lent.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import threading
import weakref
from functools import lru_cache
from typing import Any, Final, NamedTuple, Self

import numpy as np

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType, from_number, from_numpy
from drystone_base.core.errors import HostError
from drystone_base.core.tensor import read_only, string_array
from drystone_base.host._lib import declare

__all__ = [
    "ALIGNMENT",
    "Counts",
    "HostTensor",
    "adopt",
    "adopt_as",
    "aligned",
    "counts",
    "describe",
    "empty_aligned",
    "forget",
    "held",
    "lend",
    "released",
    "same",
    "settle",
    "shape_of",
    "without_array",
]

ALIGNMENT: Final = 64
"""Bytes to whose multiples the memory of lent arrays is aligned."""

_MANY: Final = 64
_STRING_SIZE: Final = 24
_VIEW: Final = 3
_SMALL, _LARGE, _OFFSET = 0, 1, 2
# CPython keeps the characters of bytes in the object, behind its head (PyBytes_AS_STRING).
_BYTES_HEAD: Final = bytes.__basicsize__ - 1

_from_memory = declare(
    "DS_TensorFromMemory", ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p,
)  # fmt: skip
_take_released = declare("DS_TakeReleased", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_share = declare("DS_ShareTensor", ctypes.c_void_p, ctypes.c_void_p)
_delete = declare("TF_DeleteTensor", None, ctypes.c_void_p)
_type = declare("TF_TensorType", ctypes.c_int, ctypes.c_void_p)
_rank = declare("TF_NumDims", ctypes.c_int, ctypes.c_void_p)
_dim = declare("TF_Dim", ctypes.c_int64, ctypes.c_void_p, ctypes.c_int)
_data = declare("TF_TensorData", ctypes.c_void_p, ctypes.c_void_p)


_COPIES: Final[dict[int, tuple[Any, np.ndarray[Any, Any]]]] = {}
"""Aligned copies of constants and variables by the array's id, as long as that array lives."""


class Counts(NamedTuple):
    """Arrays that went to the host since the process began."""

    lent: int
    copied: int


class _Place(NamedTuple):
    """Memory to lend: what a tensor over it is like, and what keeps it alive."""

    number: int
    shape: tuple[int, ...]
    address: int
    size: int
    owner: Any
    copied: bool


class _Lent:
    """What is lent: places by token, and how many tokens lend each address."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a finaliser may run in here and lend something
        self.owners: dict[int, _Place] = {}
        self.addresses: dict[int, int] = {}
        self.tokens = itertools.count(1)
        self.lent = self.copied = 0

    def add(self, place: _Place) -> int:
        """A new token."""
        with self.lock:
            token = next(self.tokens)
            self.owners[token] = place
            self.addresses[place.address] = self.addresses.get(place.address, 0) + 1
            if place.copied:
                self.copied += 1
            else:
                self.lent += 1
        return token

    def remove(self, token: int) -> None:
        """Forget a token; what it kept alive goes after the lock."""
        with self.lock:
            place = self.owners.pop(token)
            left = self.addresses[place.address] - 1
            if left:
                self.addresses[place.address] = left
            else:
                del self.addresses[place.address]


_LENT: Final = _Lent()


def counts() -> Counts:
    """How many arrays were lent as they are, and how many had to be copied first."""
    return Counts(_LENT.lent, _LENT.copied)


def held() -> int:
    """How many arrays the host still uses."""
    settle()
    return len(_LENT.owners)


# ---- arrays to the host ------------------------------------------------------------------------


def empty_aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """An uninitialised array whose memory begins at a multiple of 64 bytes."""
    kind = np.dtype(dtype)
    if kind.hasobject:
        return np.empty(shape, kind)
    size = math.prod(shape) * kind.itemsize
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -_address(raw) % ALIGNMENT
    return np.ndarray(shape, kind, raw, start)


def aligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array itself if it can be lent as it is, else a copy that can."""
    if array.flags.c_contiguous and _address(array) % ALIGNMENT == 0:
        return array
    copy = empty_aligned(array.shape, array.dtype)
    copy[...] = array
    return copy


def _address(array: np.ndarray[Any, Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


@lru_cache(maxsize=4096)
def _dims(shape: tuple[int, ...]) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(shape))(*shape)


def lend(array: np.ndarray[Any, Any], dtype: DType | None = None) -> int:
    """A handle (``TF_Tensor*``) of a tensor over the array's memory; the caller deletes it.

    ``dtype`` settles what NumPy's does not (quantised types). Raises ``HostError``
    (``bad-host-tensor``) for an array that cannot cross.
    """
    if len(_LENT.owners) > _MANY:
        settle()
    place = _place(array, dtype or from_numpy(array.dtype))
    token = _LENT.add(place)
    handle = _from_memory(
        place.number, _dims(place.shape), len(place.shape), place.address, place.size, token, None
    )
    if handle is None:
        _LENT.remove(token)
        raise _refused(from_number(place.number), f"shape {list(place.shape)}", "a tensor")
    made: int = handle
    return made


def describe(
    array: np.ndarray[Any, Any], dtype: DType, words: list[int], *, immutable: bool = False
) -> None:
    """Append what ``DS_RunKernelOnArrays`` reads of one input, which is lent from now on.

    ``immutable``: the array is a constant's or a variable's, and is not changed. If it has to be
    copied, that happens once.
    """
    place = _place(array, dtype, immutable=immutable)
    token = _LENT.add(place)
    words += (place.number, len(place.shape), place.address, place.size, token, *place.shape)


def forget(words: list[int]) -> None:
    """Take descriptions back that were never handed over."""
    at = 0
    while at < len(words):
        _LENT.remove(words[at + 4])
        at += 5 + words[at + 1]


def _place(array: np.ndarray[Any, Any], dtype: DType, *, immutable: bool = False) -> _Place:
    if dtype.is_object or array.dtype.hasobject:
        return _string_table(array, dtype)
    if array.dtype is not dtype.np and array.dtype != dtype.np:
        raise _refused(dtype, f"an array of {array.dtype.str}", f"{dtype.np} in native byte order")
    address = _address(array)
    copied = not array.flags.c_contiguous or bool(address % ALIGNMENT and array.size)
    if copied:
        array, copied = _copy_once(array) if immutable else (aligned(array), True)
        address = _address(array)
    return _Place(dtype.number, array.shape, address, array.nbytes, array, copied)


def _copy_once(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], bool]:
    """The aligned copy of an array that is not changed, and whether it was made just now."""
    if array.flags.writeable:
        return aligned(array), True
    key = id(array)
    found = _COPIES.get(key)
    if found is not None and found[0]() is array:
        return found[1], False
    copy = aligned(array)
    _COPIES[key] = (weakref.ref(array, lambda _: _COPIES.pop(key, None)), copy)
    return copy, True


def _string_table(array: np.ndarray[Any, Any], dtype: DType) -> _Place:
    """A table of views over the strings, which are kept alive along with it."""
    if dtype is not dtypes.STRING:
        raise _refused(dtype, f"an array of {array.dtype}", "numbers or strings")
    values = [_bytes(value, k) for k, value in enumerate(array.ravel().tolist())]
    words: list[int] = []
    for value in values:
        words += (len(value) << 2 | _VIEW, id(value) + _BYTES_HEAD, 0)
    table = empty_aligned((len(words),), np.uint64)
    table[...] = words
    address = _address(table)
    return _Place(dtype.number, array.shape, address, table.nbytes, (table, values), False)


def _bytes(value: object, position: int) -> bytes:
    if type(value) is bytes:
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    found = f"a {type(value).__name__} at flat index {position}"
    raise _refused(dtypes.STRING, found, "bytes or text in every element")


def settle() -> None:
    """Let go of arrays that the host has finished with."""
    if not _LENT.owners:
        return
    tokens = _SPARE.tokens
    while (count := _take_released(tokens, len(tokens))) > 0:
        for token in tokens[:count]:
            _LENT.remove(token)


def released(tokens: list[int]) -> None:
    """Let go of the arrays with these tokens, which the host gave out by itself."""
    for token in tokens:
        _LENT.remove(token)


class _Spare(threading.local):
    """Room for tokens, for each thread."""

    def __init__(self) -> None:
        self.tokens = (ctypes.c_uint64 * 256)()


_SPARE: Final = _Spare()


def _refused(dtype: DType, found: object, needed: object) -> HostError:
    return HostError(
        f"an array cannot become a {dtype} tensor of the host library",
        check="an array must have a dtype and a layout that plugins can read",
        found=found,
        needed=needed,
        remedy="convert the array (.astype, .reshape) before the call",
        code="bad-host-tensor",
        status="INVALID_ARGUMENT",
    )


# ---- tensors to arrays -------------------------------------------------------------------------


def without_array(dtype: DType, shape: tuple[int, ...]) -> HostError:
    """What to raise for a tensor of whose shape NumPy has no arrays."""
    return HostError(
        f"a {dtype} tensor cannot become an array",
        check="NumPy must have arrays of a tensor's shape",
        found=f"shape {list(shape)}",
        needed="at most 64 dimensions, and fewer than 2^63 bytes without the empty ones",
        remedy="check the sizes that the graph is given; native kernels accept such tensors",
        code="bad-host-tensor",
        status="INVALID_ARGUMENT",
    )


class _Memory:
    """The memory of a tensor, as NumPy takes it over: the handle is deleted with the last array."""

    __slots__ = ("__array_interface__", "_handle")

    def __init__(self, handle: int, address: int, shape: tuple[int, ...], kind: str) -> None:
        self._handle = handle
        self.__array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "typestr": kind,
            "version": 3,
        }

    def __del__(self, delete: Any = _delete) -> None:
        delete(self._handle)


def adopt(handle: int, *, writeable: bool = True) -> np.ndarray[Any, Any]:
    """The array of a tensor whose handle is taken over: it is deleted with the array.

    It is read-only where the memory is that of an array which was lent and is still in use.
    Raises ``HostError`` (``bad-host-tensor``) for a tensor that has no array, and deletes it.
    """
    return adopt_as(
        handle, _type(handle), shape_of(handle), _data(handle) or 0, writeable=writeable
    )


def adopt_as(
    handle: int, number: int, shape: tuple[int, ...], address: int, *, writeable: bool = True
) -> np.ndarray[Any, Any]:
    """The same for a tensor of which all is known."""
    try:
        return _adopted(handle, number, shape, address, writeable)
    except ValueError:
        raise without_array(from_number(number), shape) from None


def _adopted(
    handle: int, number: int, shape: tuple[int, ...], address: int, writeable: bool
) -> np.ndarray[Any, Any]:
    if number == dtypes.STRING.number:
        return _adopt_strings(handle, shape, address)
    kind = _numpy_of(handle, number)
    if not address or 0 in shape:
        _delete(handle)
        if 0 not in shape:
            raise _refused(from_number(number), "a tensor without memory", "a value")
        return np.empty(shape, kind)
    if kind.isbuiltin == 1:
        array = np.asarray(_Memory(handle, address, shape, kind.str))
    else:  # NumPy has no code for the types of other packages
        size = math.prod(shape) * kind.itemsize
        array = np.ndarray(shape, kind, np.asarray(_Memory(handle, address, (size,), "|u1")))
    return array if writeable and address not in _LENT.addresses else read_only(array)


def same(a: int, b: int) -> bool:
    """Whether two handles show the same memory in the same shape."""
    return bool(_data(a) == _data(b)) and shape_of(a) == shape_of(b)


def shape_of(handle: int) -> tuple[int, ...]:
    """The dimensions of a tensor."""
    return tuple(_dim(handle, k) for k in range(_rank(handle)))


def _numpy_of(handle: int, number: int) -> np.dtype[Any]:
    try:
        dtype = from_number(number)
        if dtype.is_object:
            raise _refused(dtype, f"a tensor of {dtype}", "numbers or strings")
    except Exception:
        _delete(handle)
        raise
    return dtype.np


def _adopt_strings(handle: int, shape: tuple[int, ...], address: int) -> np.ndarray[Any, Any]:
    count = math.prod(shape)
    try:
        return string_array(_read_strings(address, count) if count else [], shape)
    finally:
        _delete(handle)


def _read_strings(address: int, count: int) -> list[bytes]:
    """Copies of the strings of a table; see ``drystone/tstring.h`` for its four forms."""
    raw = ctypes.string_at(address, count * _STRING_SIZE)
    words = np.frombuffer(raw, np.uint64).reshape(count, 3).tolist()
    found = []
    for k, (first, second, third) in enumerate(words):
        start, form = k * _STRING_SIZE, first & 3
        if form == _SMALL:
            found.append(raw[start + 1 : start + 1 + (first & 0xFF) // 4])
        elif form == _OFFSET:
            place = address + start + (first >> 32)
            found.append(ctypes.string_at(place, (first & 0xFFFFFFFF) >> 2))
        else:
            place = third if form == _LARGE else second
            found.append(ctypes.string_at(place, first >> 2) if first >> 2 else b"")
    return found


# ---- a tensor as an object ---------------------------------------------------------------------


class HostTensor:
    """A tensor of the host library, deleted with this object. It takes part in DLPack.

    Made from an array, or from any object with ``__dlpack__``; its memory is shared, not copied.
    """

    __slots__ = ("__weakref__", "handle", "writeable")

    def __init__(self, handle: int, *, writeable: bool = True) -> None:
        self.handle = handle
        self.writeable = writeable

    def __del__(self, delete: Any = _delete) -> None:
        delete(self.handle)

    @classmethod
    def from_numpy(cls, array: np.ndarray[Any, Any], dtype: DType | None = None) -> Self:
        """A tensor over the array's memory, or over a copy (see the module's rules)."""
        return cls(lend(array, dtype), writeable=bool(array.flags.writeable))

    @classmethod
    def from_dlpack(cls, source: Any) -> Self:
        """A tensor over the memory of an object that offers it by ``__dlpack__``.

        Raises ``DLPackError`` (``dlpack-refused``) for memory that is not the CPU's and for a
        dtype that TensorFlow does not have.
        """
        from drystone_base.host.dlpack import take

        handle, writeable = take(source)
        return cls(handle, writeable=writeable)

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return from_number(_type(self.handle))

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return shape_of(self.handle)

    def numpy(self) -> np.ndarray[Any, Any]:
        """An array over the same memory; read-only where the memory is not ours to change."""
        return adopt(_share(self.handle), writeable=self.writeable)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        from drystone_base.host.dlpack import give

        return give(self, stream, max_version, dl_device, copy)
