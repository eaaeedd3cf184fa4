"""Devices and profilers that plugins offer: memory, streams, events, timers.

A library that exports ``SE_InitPlugin`` registers a platform, a kind of device such as ``NPU``.
Devices are made when first asked for and belong to the host. Objects made here (memory, streams,
events, timers) keep their device alive and are deleted with ``close()``, at the end of a ``with``
block, or when Python forgets them.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Final, Self

from drystone_base.core.environment import VISIBLE_DEVICES
from drystone_base.host._lib import declare
from drystone_base.host.buffer import answer
from drystone_base.host.status import Status

__all__ = [
    "EVENT_STATES",
    "Device",
    "DeviceMemory",
    "Event",
    "Stream",
    "Timer",
    "device_count",
    "is_visible",
    "list_platforms",
]

EVENT_STATES: Final = ("unknown", "error", "pending", "complete")
"""Where an event stands, by SE_EventStatus."""

_P: Final = ctypes.c_void_p
_U64: Final = ctypes.c_uint64

_list = declare("DS_ListDevices", None, _P, _P)
_count = declare("DS_DeviceCount", ctypes.c_int, ctypes.c_char_p, _P)
_get = declare("DS_GetDevice", _P, ctypes.c_char_p, ctypes.c_int, _P)
_describe = declare("DS_DescribeDevice", None, _P, _P, _P)
_synchronize = declare("DS_SynchronizeDevice", None, _P, _P)
_allocate = declare("DS_AllocateDeviceMemory", _P, _P, _U64, _P)
_free = declare("DS_FreeDeviceMemory", None, _P)
_to_device = declare("DS_CopyToDevice", None, _P, _P, _P, _U64, _P)
_to_host = declare("DS_CopyToHost", None, _P, _P, _P, _U64, _P)
_on_device = declare("DS_CopyOnDevice", None, _P, _P, _P, _U64, _P)
_fill = declare("DS_FillDevice", None, _P, _P, ctypes.c_uint8, _U64, _P)
_fill32 = declare("DS_FillDevice32", None, _P, _P, ctypes.c_uint32, _U64, _P)
_new_stream = declare("DS_NewStream", _P, _P, _P)
_delete_stream = declare("DS_DeleteStream", None, _P)
_stream_handle = declare("DS_StreamHandle", _P, _P)
_wait_for_stream = declare("DS_StreamWaitForStream", None, _P, _P, _P)
_stream_status = declare("DS_StreamStatus", None, _P, _P)
_block_for_stream = declare("DS_BlockForStream", None, _P, _P)
_new_event = declare("DS_NewEvent", _P, _P, _P)
_delete_event = declare("DS_DeleteEvent", None, _P)
_record = declare("DS_RecordEvent", None, _P, _P, _P)
_wait_for_event = declare("DS_StreamWaitForEvent", None, _P, _P, _P)
_block_for_event = declare("DS_BlockForEvent", None, _P, _P)
_event_state = declare("DS_EventState", ctypes.c_int, _P)
_new_timer = declare("DS_NewTimer", _P, _P, _P)
_delete_timer = declare("DS_DeleteTimer", None, _P)
_start_timer = declare("DS_StartTimer", None, _P, _P, _P)
_stop_timer = declare("DS_StopTimer", None, _P, _P, _P)
_nanoseconds = declare("DS_TimerNanoseconds", _U64, _P)


def list_platforms() -> list[dict[str, Any]]:
    """Every registered platform: its name, type, library, version and number of devices."""
    found: list[dict[str, Any]] = json.loads(answer("devices cannot be listed", _list))
    return found


def is_visible(kind: str, number: int) -> bool:
    """Whether ``$DRYSTONE_VISIBLE_DEVICES`` lets a device be seen.

    Raises ``BadRequest`` (``bad-variable``).
    """
    seen = VISIBLE_DEVICES.value()
    return seen is None or bool({(kind, None), (kind, number)} & {*seen})


def device_count(kind: str) -> int:
    """How many devices of a type there are now; raises ``HostError`` for an unknown type."""
    with Status(f"devices of type {kind} cannot be counted") as status:
        return int(_count(kind.encode(), status.pointer))


class Device:
    """One device, by type and ordinal; raises ``HostError`` where there is none."""

    __slots__ = ("name", "pointer")

    def __init__(self, kind: str, ordinal: int = 0) -> None:
        self.name = f"/device:{kind}:{ordinal}"
        with Status(f"{self.name} cannot be had") as status:
            self.pointer = _get(kind.encode(), ordinal, status.pointer)

    def describe(self) -> dict[str, Any]:
        """Hardware name, vendor, bus, figures of its memory and of its allocator."""
        facts: dict[str, Any] = json.loads(
            answer(
                f"{self.name} cannot be described",
                lambda buffer, status: _describe(self.pointer, buffer, status),
            )
        )
        return facts

    def synchronize(self) -> None:
        """Return when all that the device does is done."""
        with Status(f"waiting for {self.name} failed") as status:
            _synchronize(self.pointer, status.pointer)

    def allocate(self, size: int) -> DeviceMemory:
        """``size`` bytes of its memory."""
        return DeviceMemory(self, size)

    def stream(self) -> Stream:
        """A new stream."""
        return Stream(self)

    def event(self) -> Event:
        """A new event."""
        return Event(self)

    def timer(self) -> Timer:
        """A new timer."""
        return Timer(self)


class _Object:
    """Something of a device that is deleted once."""

    __slots__ = ("__weakref__", "device", "pointer")
    _delete: ClassVar[Callable[..., Any]]

    def __init__(self, device: Device, what: str, make: Callable[[int | None], Any]) -> None:
        self.device = device
        self.pointer: int | None = None
        with Status(f"no {what} on {device.name}") as status:
            self.pointer = make(status.pointer)

    def close(self) -> None:
        """Delete it; the second time does nothing."""
        pointer, self.pointer = self.pointer, None
        if pointer:
            type(self)._delete(pointer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class DeviceMemory(_Object):
    """A block of device memory. Without a stream, calls return when their work is done."""

    __slots__ = ("size",)
    _delete = _free

    def __init__(self, device: Device, size: int) -> None:
        super().__init__(device, "memory", lambda status: _allocate(device.pointer, size, status))
        self.size = size

    def write(self, data: bytes | bytearray | memoryview, stream: Stream | None = None) -> None:
        """Copy ``data`` to the start of the memory; with a stream, done when the stream is."""
        raw = bytes(data)
        with Status(f"copying to {self.device.name} failed") as status:
            _to_device(_pointer(stream), self.pointer, raw, len(raw), status.pointer)
        if stream is not None:
            stream.keep(raw)

    def read(self, size: int | None = None) -> bytes:
        """The first ``size`` bytes, all of them by default."""
        wanted = self.size if size is None else size
        out = ctypes.create_string_buffer(wanted)
        with Status(f"copying from {self.device.name} failed") as status:
            _to_host(None, out, self.pointer, wanted, status.pointer)
        return out.raw

    def copy_to(self, other: DeviceMemory, size: int, stream: Stream | None = None) -> None:
        """Copy the first ``size`` bytes to the start of other memory of the device."""
        with Status(f"copying on {self.device.name} failed") as status:
            _on_device(_pointer(stream), other.pointer, self.pointer, size, status.pointer)

    def fill(self, pattern: int, size: int | None = None, stream: Stream | None = None) -> None:
        """Fill the first ``size`` bytes with one byte."""
        wanted = self.size if size is None else size
        with Status(f"filling memory of {self.device.name} failed") as status:
            _fill(_pointer(stream), self.pointer, pattern, wanted, status.pointer)

    def fill32(self, pattern: int, size: int | None = None, stream: Stream | None = None) -> None:
        """Fill the first ``size`` bytes with a 32-bit pattern."""
        wanted = self.size if size is None else size
        with Status(f"filling memory of {self.device.name} failed") as status:
            _fill32(_pointer(stream), self.pointer, pattern, wanted, status.pointer)


class Stream(_Object):
    """A queue of work; work on one stream runs in order."""

    __slots__ = ("_kept",)
    _delete = _delete_stream

    def __init__(self, device: Device) -> None:
        self._kept: list[bytes] = []
        super().__init__(device, "stream", lambda status: _new_stream(device.pointer, status))

    @property
    def handle(self) -> int | None:
        """The plugin's own stream: what ``TF_GetStream`` gives a kernel."""
        handle: int | None = _stream_handle(self.pointer)
        return handle

    def keep(self, data: bytes) -> None:
        """Keep host memory of an enqueued copy until the stream has been waited for."""
        self._kept.append(data)

    def wait_for(self, other: Stream | Event) -> None:
        """Let later work wait for an event, or for all that is on another stream now."""
        function = _wait_for_event if isinstance(other, Event) else _wait_for_stream
        with Status(f"tying work of {self.device.name} failed") as status:
            function(self.pointer, other.pointer, status.pointer)

    def check(self) -> None:
        """Raise ``HostError`` when work on the stream has failed."""
        with Status(f"work on a stream of {self.device.name} failed") as status:
            _stream_status(self.pointer, status.pointer)

    def block(self) -> None:
        """Return when all that is on the stream is done."""
        with Status(f"waiting for a stream of {self.device.name} failed") as status:
            _block_for_stream(self.pointer, status.pointer)
        self._kept.clear()


class Event(_Object):
    """A mark in a stream."""

    __slots__ = ()
    _delete = _delete_event

    def __init__(self, device: Device) -> None:
        super().__init__(device, "event", lambda status: _new_event(device.pointer, status))

    def record(self, stream: Stream) -> None:
        """Put the mark after all that is on the stream now."""
        with Status(f"recording an event on {self.device.name} failed") as status:
            _record(stream.pointer, self.pointer, status.pointer)

    def block(self) -> None:
        """Return when the work before the mark is done."""
        with Status(f"waiting for an event of {self.device.name} failed") as status:
            _block_for_event(self.pointer, status.pointer)

    @property
    def state(self) -> str:
        """One of ``EVENT_STATES``."""
        number = int(_event_state(self.pointer))
        return EVENT_STATES[number] if 0 <= number < len(EVENT_STATES) else "unknown"


class Timer(_Object):
    """Measures the work between two points of a stream; not every device has timers."""

    __slots__ = ()
    _delete = _delete_timer

    def __init__(self, device: Device) -> None:
        super().__init__(device, "timer", lambda status: _new_timer(device.pointer, status))

    def start(self, stream: Stream) -> None:
        """Begin after all that is on the stream now."""
        with Status(f"starting a timer of {self.device.name} failed") as status:
            _start_timer(stream.pointer, self.pointer, status.pointer)

    def stop(self, stream: Stream) -> None:
        """End after all that is on the stream now."""
        with Status(f"stopping a timer of {self.device.name} failed") as status:
            _stop_timer(stream.pointer, self.pointer, status.pointer)

    @property
    def nanoseconds(self) -> int:
        """The time between start and stop."""
        return int(_nanoseconds(self.pointer))


def _pointer(stream: Stream | None) -> int | None:
    return None if stream is None else stream.pointer
