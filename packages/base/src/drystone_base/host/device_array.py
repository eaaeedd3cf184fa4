"""Arrays in the memory of a plugin's device: what runs give that leave their fetches there.

They are fed as they are, to any session of the process, and go to other libraries and come from
them by DLPack, without a copy. To look at one is to copy it: :meth:`DeviceArray.numpy`.
"""

from __future__ import annotations

import ctypes
import math
from contextlib import suppress
from typing import Any, Final, Self

import numpy as np

from drystone_base.core.dtypes import DType, from_number
from drystone_base.core.errors import HostError
from drystone_base.host import _lib
from drystone_base.host.dlpack import CPU, Exporter, capsule_of, import_from, refused
from drystone_base.host.status import Status
from drystone_base.host.tensors import ALIGNMENT, HostTensor, adopt, shape_of

__all__ = ["DeviceArray", "device_name", "on_known_device"]

_P: Final = ctypes.c_void_p
_name = _lib.declare("DS_TensorDevice", ctypes.c_char_p, _P)
_is_only = _lib.declare("DS_TensorIsOnlyOnDevice", ctypes.c_int, _P)
_to_host = _lib.declare("DS_TensorOnHost", _P, _P, _P)
_copy = _lib.declare("DS_CopyTensorOnDevice", _P, _P, _P)
_dlpack = _lib.declare(
    "DS_DLPackDevice", None, _P, ctypes.POINTER(ctypes.c_int32), ctypes.POINTER(ctypes.c_int32)
)
_export = _lib.declare("DS_DeviceTensorToDLPack", _P, _P, ctypes.c_int, ctypes.c_uint64, _P)
_import = _lib.declare(
    "DS_DeviceTensorFromDLPack", _P,
    _P, _P, ctypes.c_int, ctypes.POINTER(ctypes.c_uint64), _P,
)  # fmt: skip
_type = _lib.declare("TF_TensorType", ctypes.c_int, _P)
_address = _lib.declare("TF_TensorData", _P, _P)
_delete = _lib.declare("TF_DeleteTensor", None, _P)

_CUDA: Final = 2


def device_name(handle: int) -> str | None:
    """The device that a tensor lies on, such as ``/device:NPU:0``; None for host memory."""
    found: bytes | None = _name(handle)
    return None if found is None else found.decode()


class DeviceArray:
    """An array in the memory of a device; it takes part in DLPack.

    ``numpy()`` copies it to the host, as does what asks for a NumPy array. Its memory goes back to
    the device with it.
    """

    __slots__ = ("__weakref__", "_is_shared", "_may_write", "handle")

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self._may_write = bool(_is_only(handle))
        self._is_shared = False  # with others than sessions, who may write to it

    def __del__(self, delete: Any = _delete) -> None:
        delete(self.handle)

    @classmethod
    def from_dlpack(cls, source: Any, device: str | None = None) -> Self:
        """An array over memory that an object offers by ``__dlpack__``, without a copy.

        ``device``: of whose plugin the memory is (None: the device that DLPack calls as the object
        says). Raises ``DLPackError`` (``dlpack-refused``) where there is none or several, and for
        memory that is not in row-major order.
        """
        place = _find(tuple(source.__dlpack_device__()), device)
        handle, writeable = import_from(
            source, lambda *args: _import(place.pointer, *args), "memory of a device"
        )
        out = cls(handle)
        out._may_write, out._is_shared = writeable, True
        return out

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return from_number(_type(self.handle))

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return shape_of(self.handle)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def device(self) -> str:
        """The name of its device, such as ``/device:NPU:0``."""
        found = device_name(self.handle)
        assert found is not None
        return found

    @property
    def is_shared(self) -> bool:
        """Whether another library has the same memory, and may write to it."""
        return self._is_shared

    def __repr__(self) -> str:
        return f"<DeviceArray: {self.dtype} {list(self.shape)} on {self.device}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy in host memory, once the work that makes the array is done."""
        with Status(f"an array cannot be copied from {self.device}") as status:
            handle = _to_host(self.handle, status.pointer)
        return adopt(handle)

    def copy(self) -> DeviceArray:
        """A copy on the same device."""
        with Status(f"an array cannot be copied on {self.device}") as status:
            handle = _copy(self.handle, status.pointer)
        return DeviceArray(handle)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError(f"an array of {self.device} becomes one of NumPy by a copy only")
        found = self.numpy()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __float__(self) -> float:
        return float(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __dlpack_device__(self) -> tuple[int, int]:
        from drystone_base.host.device import Device

        kind, _, number = self.device.removeprefix("/device:").partition(":")
        return _dlpack_device(Device(kind, int(number)))

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule, as in the array API standard; every stream finds the array whole."""
        here = self.__dlpack_device__()
        if dl_device is not None and tuple(dl_device) == CPU and copy is not False:
            return HostTensor.from_numpy(self.numpy()).__dlpack__(max_version=max_version)
        if dl_device is not None and tuple(dl_device) != here:
            raise refused("give", "a device must be the array's, or the CPU",
                          f"device {tuple(dl_device)}, copy={copy}", here)  # fmt: skip
        if here[0] == _CUDA and stream == 0:
            raise refused("give", "stream 0 of CUDA may be either default stream", 0, "1 or 2")
        if copy:
            return capsule_of(_exporter(self.copy()), max_version, copied=True)
        made = capsule_of(_exporter(self), max_version, read_only=not self._may_write)
        self._is_shared = True
        return made

    def feed(self) -> object:
        """What runs take for it: a handle of its own of the tensor.

        Kernels may read many bytes at once: what begins elsewhere than at a multiple of 64, as a
        slice of another library does, is copied on its device.
        """
        from drystone_base.host.extension import extension

        lent = self.copy() if (_address(self.handle) or 0) % ALIGNMENT else self
        found: object = extension().device_tensor(lent.handle)
        return found


def _exporter(array: DeviceArray) -> Exporter:
    return lambda versioned, flags, status: _export(array.handle, versioned, flags, status)


def _dlpack_device(device: Any) -> tuple[int, int]:
    kind, number = ctypes.c_int32(), ctypes.c_int32()
    _dlpack(device.pointer, ctypes.byref(kind), ctypes.byref(number))
    return kind.value, number.value


def _devices(found: tuple[int, ...]) -> list[Any]:
    """The devices of plugins that DLPack calls so, of those that may be seen.

    One that cannot be had has no memory.
    """
    from drystone_base.host.device import Device, is_visible, list_platforms

    there = ((str(p["type"]), int(p.get("device_count", 0))) for p in list_platforms())
    known = []
    for kind in (k for k, count in there if 0 <= found[1] < count and is_visible(k, found[1])):
        with suppress(HostError):
            known.append(Device(kind, found[1]))
    return [device for device in known if _dlpack_device(device) == found]


def on_known_device(value: Any) -> bool:
    """Whether an object offers memory by DLPack that lies on the device of a plugin."""
    ask = getattr(type(value), "__dlpack_device__", None)
    if ask is None or isinstance(value, np.ndarray) or not _lib.available():
        return False
    found = tuple(ask(value))
    return found != CPU and bool(_devices(found))


def _find(found: tuple[int, ...], name: str | None) -> Any:
    """The device for memory that DLPack says is on ``found``."""
    known = [one for one in _devices(found) if name in (None, one.name)]
    if len(known) != 1:
        names = ", ".join(one.name for one in known) or "no device of a plugin"
        raise refused("take", "one device of a plugin must have the memory",
                      f"{names}, for DLPack's device {found}", name or "one")  # fmt: skip
    return known[0]
