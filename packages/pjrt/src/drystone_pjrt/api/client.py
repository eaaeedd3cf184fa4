"""A client of a plugin: its first device, programs compiled for that, arrays on it."""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any, Final

import numpy as np

from drystone_base.core.errors import PluginError
from drystone_pjrt.api.structs import (
    Args,
    ExecuteOptions,
    MemoryLayout,
    Program,
    Tiled,
)
from drystone_pjrt.api.table import Table

__all__ = ["TYPES", "Client", "DeviceArray", "LoadedProgram"]

Array = np.ndarray[Any, Any]
TYPES: Final = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7,
    "uint32": 8, "uint64": 9, "float16": 10, "float32": 11, "float64": 12, "bfloat16": 13,
    "complex64": 14, "complex128": 15,
}  # fmt: skip
"""The interface's numbers of element types, by ours."""

_ONE_REPLICA: Final = bytes([0x1A, 4, 0x20, 1, 0x28, 1])
"""Compile options: a CompileOptionsProto whose build options (3) say one replica (4), one
partition (5)."""
_EXACT: Final = ("xla_cpu_enable_fast_min_max",)
"""Flags of XLA for processors that are off: extremes by this one drop what is no number."""
_LENT: Final = 2
"""An array's memory is read as long as there is a buffer of it."""


def _off(flag: str) -> bytes:
    """A flag's entry among overrides of the environment's (7): its name, and false (2)."""
    name = flag.encode()
    entry = bytes([0x0A, len(name)]) + name + bytes([0x12, 2, 0x10, 0])
    return bytes([0x3A, len(entry)]) + entry


class Client:
    """One client; safe to use from several threads. It lives as long as the process.

    Raises ``PluginError`` where the plugin makes none, or none with a device.
    """

    def __init__(self, table: Table) -> None:
        self.table, self.process = table, os.getpid()
        self._has_no_flags = False
        self.handle = table.made("PJRT_Client_Create", "client")
        found = table.call("PJRT_Client_AddressableDevices", client=self.handle)
        if not (found.num_addressable_devices and found.addressable_devices):
            raise PluginError(
                f"PJRT plugin {table.plugin!r} has no device",
                check="programs run on the first device of a client",
                found="no device that this process can reach",
                needed="a device",
                remedy="look for the device with its vendor's tools, or choose another plugin by "
                "DRYSTONE_PJRT_PLUGIN",
                plugin=table.plugin,
                path=table.path,
                code="pjrt-plugin-unusable",
            )
        self.device = c.c_void_p.from_address(found.addressable_devices).value
        self.platform = table.text("PJRT_Client_PlatformName", "platform_name", client=self.handle)
        self.version = table.text(
            "PJRT_Client_PlatformVersion", "platform_version", client=self.handle
        )

    @property
    def flags(self) -> tuple[str, ...]:
        """The plugin's flags that are off; a compiler other than XLA may have none of them."""
        return _EXACT if self.platform == "cpu" and not self._has_no_flags else ()

    def compile(self, code: bytes) -> LoadedProgram:
        """A program from StableHLO, as text or as a portable artifact."""
        flags = self.flags
        try:
            return self._compile(code, flags)
        except PluginError:
            if not flags:
                raise
            made = self._compile(code, ())
            self._has_no_flags = True
            return made

    def _compile(self, code: bytes, flags: Sequence[str]) -> LoadedProgram:
        held, kind = c.create_string_buffer(code, len(code)), b"mlir"
        program = Program(
            code=c.addressof(held),
            code_size=len(code),
            format=c.cast(c.c_char_p(kind), c.c_void_p),
            format_size=len(kind),
        )
        options = _ONE_REPLICA + b"".join(map(_off, flags))
        made = self.table.made(
            "PJRT_Client_Compile",
            "executable",
            client=self.handle,
            program=c.addressof(program),
            compile_options=c.cast(c.c_char_p(options), c.c_void_p),
            compile_options_size=len(options),
        )
        return LoadedProgram(self, made)

    @property
    def keeps(self) -> bool:
        """Whether compiled programs can be written and read."""
        names = ("PJRT_Executable_Serialize", "PJRT_Executable_DeserializeAndLoad")
        return all(map(self.table.has, names))

    def load(self, data: bytes) -> LoadedProgram:
        """A program that :meth:`LoadedProgram.save` wrote."""
        held = c.create_string_buffer(data, len(data))
        made = self.table.made(
            "PJRT_Executable_DeserializeAndLoad",
            "loaded_executable",
            client=self.handle,
            serialized_executable=c.addressof(held),
            serialized_executable_size=len(data),
        )
        return LoadedProgram(self, made)

    def array(self, value: Array) -> DeviceArray:
        """An array on the device; its memory is lent where the device can read it."""
        return DeviceArray(self, value)


class DeviceArray:
    """A buffer of an array, which must not change while there is one."""

    def __init__(self, client: Client, value: Array) -> None:
        value = np.asarray(value, order="C")
        self.table, self.value = client.table, value
        self.handle: int | None = None
        self._done: int | None = None
        dims = (c.c_int64 * value.ndim)(*value.shape)
        made = client.table.call(
            "PJRT_Client_BufferFromHostBuffer",
            client=client.handle,
            data=value.ctypes.data,
            type=TYPES[value.dtype.name],
            dims=c.addressof(dims),
            num_dims=value.ndim,
            host_buffer_semantics=_LENT,
            device=client.device,
        )
        self.handle, self._done = made.buffer, made.done_with_host_buffer

    def close(self) -> None:
        """Let go of it, and wait until the array's memory is read no more."""
        handle, self.handle = self.handle, None
        done, self._done = self._done, None
        if handle:
            self.table.call("PJRT_Buffer_Destroy", buffer=handle)
        if done:
            await_event(self.table, done)

    def __del__(self) -> None:
        with suppress(PluginError):
            self.close()


def await_event(table: Table, event: int) -> None:
    """Wait for an event, and destroy it; raises ``PluginError`` for what it says went wrong."""
    try:
        table.call("PJRT_Event_Await", event=event)
    finally:
        table.call("PJRT_Event_Destroy", event=event)


class LoadedProgram:
    """A compiled program. Calls of :meth:`run` must not overlap."""

    def __init__(self, client: Client, handle: int) -> None:
        self.client, self.table, self.handle = client, client.table, handle
        self.outputs = self._count()
        self._options = ExecuteOptions()
        self._kinds: list[tuple[int, tuple[int, ...]]] | None = None
        self._layouts: dict[int, Any] = {}

    def __del__(self) -> None:
        if self.handle and self.client.process == os.getpid():
            with suppress(PluginError):
                self.table.call("PJRT_LoadedExecutable_Destroy", executable=self.handle)

    def _unloaded(self) -> int:
        return self.table.made(
            "PJRT_LoadedExecutable_GetExecutable", "executable", loaded_executable=self.handle
        )

    def _count(self) -> int:
        plain = self._unloaded()
        try:
            found: int = self.table.call("PJRT_Executable_NumOutputs", executable=plain).num_outputs
            return found
        finally:
            self.table.call("PJRT_Executable_Destroy", executable=plain)

    def save(self) -> bytes:
        """The compiled program as bytes, for the same plugin on the same kind of device."""
        plain = self._unloaded()
        try:
            made = self.table.call("PJRT_Executable_Serialize", executable=plain)
            data = c.string_at(made.serialized_bytes, made.serialized_bytes_size)
            if made.serialized_executable and made.serialized_executable_deleter:
                delete = c.CFUNCTYPE(None, c.c_void_p)(made.serialized_executable_deleter)
                delete(made.serialized_executable)
            return data
        finally:
            self.table.call("PJRT_Executable_Destroy", executable=plain)

    def run(self, arguments: Sequence[DeviceArray], results: Sequence[Array]) -> None:
        """Compute, and write the outputs into arrays of their shapes and types."""
        if self.client.process != os.getpid():
            raise self._forked()
        buffers = (c.c_void_p * len(arguments))(*[one.handle for one in arguments])
        outputs, done = (c.c_void_p * self.outputs)(), (c.c_void_p * 1)()
        given = (c.c_void_p * 1)(c.addressof(buffers))
        taken = (c.c_void_p * 1)(c.addressof(outputs))
        self.table.call(
            "PJRT_LoadedExecutable_Execute",
            executable=self.handle,
            options=c.addressof(self._options),
            argument_lists=c.addressof(given),
            num_devices=1,
            num_args=len(arguments),
            output_lists=c.addressof(taken),
            device_complete_events=c.addressof(done),
        )
        with ExitStack() as closing:  # what comes last is closed first, whatever goes wrong
            for output in filter(None, outputs):
                closing.callback(self.table.call, "PJRT_Buffer_Destroy", buffer=output)
            if done[0]:
                closing.callback(await_event, self.table, done[0])
            if self._kinds is None:
                self._kinds = [self._kind(output) for output in outputs]
            self._check(self._kinds, results)
            for output, array in zip(outputs, results, strict=True):
                event = self._fetch(output, array)
                if event:
                    closing.callback(await_event, self.table, event)

    def _check(self, made: list[tuple[int, tuple[int, ...]]], results: Sequence[Array]) -> None:
        """Whether the outputs are what is expected: a copy would not notice."""
        wanted = [(TYPES[array.dtype.name], array.shape) for array in results]
        if made != wanted:
            names = {number: name for name, number in TYPES.items()}
            found, needed = (
                ", ".join(f"{names.get(kind, kind)}{list(shape)}" for kind, shape in rows) or "none"
                for rows in (made, wanted)
            )
            raise PluginError(
                f"a program of PJRT plugin {self.table.plugin!r} gives other outputs",
                check="a program's outputs must be those that are expected of it",
                found=found,
                needed=needed,
                remedy="if the program was exported, export it again; else report this",
                plugin=self.table.plugin,
                path=self.table.path,
                code="pjrt-call-failed",
                status="INVALID_ARGUMENT",
            )

    def _kind(self, output: int | None) -> tuple[int, tuple[int, ...]]:
        """Type and shape of an output."""
        kind = self.table.call("PJRT_Buffer_ElementType", buffer=output).type
        found = self.table.call("PJRT_Buffer_Dimensions", buffer=output)
        dims = (c.c_int64 * found.num_dims).from_address(found.dims) if found.num_dims else ()
        return kind, tuple(dims)

    def _forked(self) -> PluginError:
        return PluginError(
            f"PJRT plugin {self.table.plugin!r} cannot be used after a fork",
            check="a client works in the process that made it: a fork takes no threads along",
            found=f"a client of process {self.client.process} in process {os.getpid()}",
            needed="a session that was made in this process",
            remedy="start processes with the method 'spawn', or make the session after the fork",
            plugin=self.table.plugin,
            path=self.table.path,
            code="pjrt-plugin-unusable",
        )

    def _fetch(self, output: int | None, into: Array) -> int | None:
        """Begin to copy an output; an event that says when it is there."""
        found: int | None = self.table.call(
            "PJRT_Buffer_ToHostBuffer",
            src=output,
            host_layout=c.addressof(self._layout(into.ndim)),
            dst=into.ctypes.data,
            dst_size=into.nbytes,
        ).event
        return found

    def _layout(self, rank: int) -> Args:
        """Of arrays in C order."""
        if rank not in self._layouts:
            order = (c.c_int64 * rank)(*reversed(range(rank)))
            tiled = Tiled(minor_to_major=c.addressof(order), minor_to_major_size=rank)
            self._layouts[rank] = MemoryLayout(tiled=tiled), order
        found: Args = self._layouts[rank][0]
        return found
