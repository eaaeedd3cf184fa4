"""The arguments of the PJRT functions that are called here: structs, each with its size in front.

Every function takes a pointer to a struct of its own, whose first members are its size and a chain
of extensions. A plugin reads what it knows of a longer struct, and refuses a shorter one that it
needs more of. Source: the PJRT C API, major version 0.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Mapping
from typing import Any, Final

__all__ = [
    "ARGS",
    "FUNCTIONS",
    "HEADER",
    "ApiHeader",
    "Args",
    "ExecuteOptions",
    "MemoryLayout",
    "Program",
    "Tiled",
]

_SIZE, _POINTER = c.c_size_t, c.c_void_p


class Args(c.Structure):
    """A struct that states its size; members that are not given are zero."""

    def __init__(self, **members: Any) -> None:
        super().__init__(struct_size=c.sizeof(self), **members)


def _struct(name: str, **members: Any) -> type[Args]:
    fields = [("struct_size", _SIZE), ("extension_start", _POINTER), *members.items()]
    return type(name, (Args,), {"_fields_": fields})


Version: Final = _struct("Version", major=c.c_int, minor=c.c_int)
ApiHeader: Final = _struct("ApiHeader", version=Version)
HEADER: Final = c.sizeof(ApiHeader)
"""Bytes in front of the first function of a table."""

Program: Final = _struct(
    "Program", code=_POINTER, code_size=_SIZE, format=_POINTER, format_size=_SIZE
)
Tiled: Final = _struct(
    "Tiled",
    minor_to_major=_POINTER,
    minor_to_major_size=_SIZE,
    tile_dims=_POINTER,
    tile_dim_sizes=_POINTER,
    num_tiles=_SIZE,
)
MemoryLayout: Final = _struct("MemoryLayout", tiled=Tiled, type=c.c_int)
"""Of the union only what is tiled is used, its largest member."""

ExecuteOptions: Final = _struct(
    "ExecuteOptions",
    send_callbacks=_POINTER,
    recv_callbacks=_POINTER,
    num_send_ops=_SIZE,
    num_recv_ops=_SIZE,
    launch_id=c.c_int,
    non_donatable_input_indices=_POINTER,
    num_non_donatable_input_indices=_SIZE,
    context=_POINTER,
    call_location=_POINTER,
    num_tasks=_SIZE,
    task_ids=_POINTER,
    incarnation_ids=_POINTER,
    multi_slice_config=_POINTER,
    use_major_to_minor_data_layout_for_callbacks=c.c_bool,
    hlo_output_callbacks=_POINTER,
    num_hlo_output_callbacks=_SIZE,
)

ARGS: Final[Mapping[str, type[Args]]] = {
    "PJRT_Error_Destroy": _struct("ErrorDestroy", error=_POINTER),
    "PJRT_Error_Message": _struct(
        "ErrorMessage", error=_POINTER, message=_POINTER, message_size=_SIZE
    ),
    "PJRT_Error_GetCode": _struct("ErrorGetCode", error=_POINTER, code=c.c_int),
    "PJRT_Plugin_Initialize": _struct("PluginInitialize"),
    "PJRT_Event_Destroy": _struct("EventDestroy", event=_POINTER),
    "PJRT_Event_Await": _struct("EventAwait", event=_POINTER),
    "PJRT_Client_Create": _struct(
        "ClientCreate",
        create_options=_POINTER,
        num_options=_SIZE,
        kv_get_callback=_POINTER,
        kv_get_user_arg=_POINTER,
        kv_put_callback=_POINTER,
        kv_put_user_arg=_POINTER,
        client=_POINTER,
        kv_try_get_callback=_POINTER,
        kv_try_get_user_arg=_POINTER,
    ),
    "PJRT_Client_PlatformName": _struct(
        "ClientPlatformName", client=_POINTER, platform_name=_POINTER, platform_name_size=_SIZE
    ),
    "PJRT_Client_PlatformVersion": _struct(
        "ClientPlatformVersion",
        client=_POINTER,
        platform_version=_POINTER,
        platform_version_size=_SIZE,
    ),
    "PJRT_Client_AddressableDevices": _struct(
        "ClientAddressableDevices",
        client=_POINTER,
        addressable_devices=_POINTER,
        num_addressable_devices=_SIZE,
    ),
    "PJRT_Client_Compile": _struct(
        "ClientCompile",
        client=_POINTER,
        program=_POINTER,
        compile_options=_POINTER,
        compile_options_size=_SIZE,
        executable=_POINTER,
    ),
    "PJRT_Client_BufferFromHostBuffer": _struct(
        "ClientBufferFromHostBuffer",
        client=_POINTER,
        data=_POINTER,
        type=c.c_int,
        dims=_POINTER,
        num_dims=_SIZE,
        byte_strides=_POINTER,
        num_byte_strides=_SIZE,
        host_buffer_semantics=c.c_int,
        device=_POINTER,
        memory=_POINTER,
        device_layout=_POINTER,
        done_with_host_buffer=_POINTER,
        buffer=_POINTER,
    ),
    "PJRT_Executable_Destroy": _struct("ExecutableDestroy", executable=_POINTER),
    "PJRT_Executable_NumOutputs": _struct(
        "ExecutableNumOutputs", executable=_POINTER, num_outputs=_SIZE
    ),
    "PJRT_Executable_Serialize": _struct(
        "ExecutableSerialize",
        executable=_POINTER,
        serialized_bytes=_POINTER,
        serialized_bytes_size=_SIZE,
        serialized_executable=_POINTER,
        serialized_executable_deleter=_POINTER,
    ),
    "PJRT_LoadedExecutable_Destroy": _struct("LoadedExecutableDestroy", executable=_POINTER),
    "PJRT_LoadedExecutable_GetExecutable": _struct(
        "LoadedExecutableGetExecutable", loaded_executable=_POINTER, executable=_POINTER
    ),
    "PJRT_LoadedExecutable_Execute": _struct(
        "LoadedExecutableExecute",
        executable=_POINTER,
        options=_POINTER,
        argument_lists=_POINTER,
        num_devices=_SIZE,
        num_args=_SIZE,
        output_lists=_POINTER,
        device_complete_events=_POINTER,
        execute_device=_POINTER,
    ),
    "PJRT_Executable_DeserializeAndLoad": _struct(
        "ExecutableDeserializeAndLoad",
        client=_POINTER,
        serialized_executable=_POINTER,
        serialized_executable_size=_SIZE,
        loaded_executable=_POINTER,
        overridden_serialized_compile_options=_POINTER,
        overridden_serialized_compile_options_size=_SIZE,
        load_options=_POINTER,
    ),
    "PJRT_Buffer_Destroy": _struct("BufferDestroy", buffer=_POINTER),
    "PJRT_Buffer_ElementType": _struct("BufferElementType", buffer=_POINTER, type=c.c_int),
    "PJRT_Buffer_Dimensions": _struct(
        "BufferDimensions", buffer=_POINTER, dims=_POINTER, num_dims=_SIZE
    ),
    "PJRT_Buffer_ToHostBuffer": _struct(
        "BufferToHostBuffer",
        src=_POINTER,
        host_layout=_POINTER,
        dst=_POINTER,
        dst_size=_SIZE,
        event=_POINTER,
    ),
}
"""By function, what it takes."""

FUNCTIONS: Final = (
    "PJRT_Error_Destroy", "PJRT_Error_Message", "PJRT_Error_GetCode", "PJRT_Plugin_Initialize",
    "PJRT_Plugin_Attributes", "PJRT_Event_Destroy", "PJRT_Event_IsReady", "PJRT_Event_Error",
    "PJRT_Event_Await", "PJRT_Event_OnReady", "PJRT_Client_Create", "PJRT_Client_Destroy",
    "PJRT_Client_PlatformName", "PJRT_Client_ProcessIndex", "PJRT_Client_PlatformVersion",
    "PJRT_Client_Devices", "PJRT_Client_AddressableDevices", "PJRT_Client_LookupDevice",
    "PJRT_Client_LookupAddressableDevice", "PJRT_Client_AddressableMemories",
    "PJRT_Client_Compile", "PJRT_Client_DefaultDeviceAssignment",
    "PJRT_Client_BufferFromHostBuffer", "PJRT_DeviceDescription_Id",
    "PJRT_DeviceDescription_ProcessIndex", "PJRT_DeviceDescription_Attributes",
    "PJRT_DeviceDescription_Kind", "PJRT_DeviceDescription_DebugString",
    "PJRT_DeviceDescription_ToString", "PJRT_Device_GetDescription", "PJRT_Device_IsAddressable",
    "PJRT_Device_LocalHardwareId", "PJRT_Device_AddressableMemories", "PJRT_Device_DefaultMemory",
    "PJRT_Device_MemoryStats", "PJRT_Memory_Id", "PJRT_Memory_Kind", "PJRT_Memory_DebugString",
    "PJRT_Memory_ToString", "PJRT_Memory_AddressableByDevices", "PJRT_Executable_Destroy",
    "PJRT_Executable_Name", "PJRT_Executable_NumReplicas", "PJRT_Executable_NumPartitions",
    "PJRT_Executable_NumOutputs", "PJRT_Executable_SizeOfGeneratedCodeInBytes",
    "PJRT_Executable_GetCostAnalysis", "PJRT_Executable_OutputMemoryKinds",
    "PJRT_Executable_OptimizedProgram", "PJRT_Executable_Serialize",
    "PJRT_LoadedExecutable_Destroy", "PJRT_LoadedExecutable_GetExecutable",
    "PJRT_LoadedExecutable_AddressableDevices", "PJRT_LoadedExecutable_Delete",
    "PJRT_LoadedExecutable_IsDeleted", "PJRT_LoadedExecutable_Execute",
    "PJRT_Executable_DeserializeAndLoad", "PJRT_LoadedExecutable_Fingerprint",
    "PJRT_Buffer_Destroy", "PJRT_Buffer_ElementType", "PJRT_Buffer_Dimensions",
    "PJRT_Buffer_UnpaddedDimensions", "PJRT_Buffer_DynamicDimensionIndices",
    "PJRT_Buffer_GetMemoryLayout", "PJRT_Buffer_OnDeviceSizeInBytes", "PJRT_Buffer_Device",
    "PJRT_Buffer_Memory", "PJRT_Buffer_Delete", "PJRT_Buffer_IsDeleted",
    "PJRT_Buffer_CopyToDevice", "PJRT_Buffer_ToHostBuffer",
)  # fmt: skip
"""The beginning of a function table, in its order, up to the last function that is called here."""
