"""Devices of plugins: registration, memory, streams, events, and what a host refuses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from drystone_abi.protos import DataType, NodeDef, OpDef
from drystone_base.core.errors import HostError
from drystone_base.executor.plugin_kernels import KernelCall
from drystone_base.host import _lib
from drystone_base.host.buffer import filled
from drystone_base.host.device import Device, device_count, list_platforms
from drystone_base.host.kernels import list_kernels
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.host.status import Status
from drystone_base.host.tensors import adopt

pytestmark = pytest.mark.cases_in_gate(3)

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

EXAMPLE = Path(__file__).resolve().parents[5] / "plugin-abi" / "examples" / "device_c"
Compile = Callable[..., Path]
POINTER = ctypes.c_void_p


@pytest.fixture(scope="module")
def library(compile_library: Compile) -> HostLibrary:
    """The example, registered."""
    file = compile_library(EXAMPLE / "fake_device.c", EXAMPLE / "fake_profiler.c")
    opened = open_library(file)
    opened.initialise("SE_InitPlugin")
    return opened


@pytest.fixture
def device(library: HostLibrary) -> Device:
    return Device("FAKE", 1)


@pytest.fixture(scope="module")
def variant(compile_library: Compile) -> Callable[..., HostLibrary]:
    """``variant(NAME="OLD", AFTER_INIT="...")``: open a changed fake device, not yet registered."""

    def make(**macros: str) -> HostLibrary:
        name = macros.pop("NAME", None)
        flags = [f"-D{macro}={text}" for macro, text in macros.items()]
        flags += [f'-DNAME="{name}"'] if name else []
        return open_library(compile_library("device_variants.c", flags=flags))

    return make


def registered(library: HostLibrary) -> HostLibrary:
    library.initialise("SE_InitPlugin")
    return library


def test_platform_is_listed_with_library_and_count(library: HostLibrary) -> None:
    """S2-accelerators: a device is a module that a library registers at its init function."""
    (fake,) = [item for item in list_platforms() if item["type"] == "FAKE"]
    assert fake["platform"] == "FAKE_PLATFORM"
    assert fake["library"] == library.path
    assert fake["version"] == "0.0.1"
    assert fake["device_count"] == 2
    assert fake["unified_memory"]
    assert library.describe()["devices"] == ["FAKE"]


def test_devices_are_made_when_asked_for_and_once(variant: Callable[..., HostLibrary]) -> None:
    """Of a platform that no other test asks for."""
    registered(variant(NAME="ONCE"))

    def made() -> list[str]:
        return next(i["devices"] for i in list_platforms() if i["type"] == "ONCE")

    assert "/device:ONCE:0" not in made()
    first = Device("ONCE", 0)
    assert "/device:ONCE:0" in made()
    assert Device("ONCE", 0).pointer == first.pointer
    assert Device("ONCE", 1).pointer != first.pointer


def test_description_tells_hardware_and_unknowns(device: Device) -> None:
    facts = device.describe()
    assert facts["hardware_name"] == "Fake 1"
    assert facts["vendor"] == "drystone examples"
    assert facts["pci_bus_id"] == "0000:01:00.0"
    assert facts["numa_node"] == 1
    assert facts["memory_bandwidth"] == -1
    assert facts["gflops"] == -1
    assert facts["total"] == 16 << 20
    assert facts["executor_size"] == 288


def test_memory_round_trip_and_figures(device: Device) -> None:
    """S2-accelerators: data crosses to a device and back through the C interface."""
    before = device.describe()["allocator"]
    data = bytes(range(256)) * 4
    with device.allocate(len(data)) as memory, device.allocate(len(data)) as other:
        memory.write(data)
        assert memory.read() == data
        memory.copy_to(other, 512)
        assert other.read(512) == data[:512]
        now = device.describe()["allocator"]
        assert now["bytes_in_use"] == before["bytes_in_use"] + 2048
        assert now["num_allocs"] == before["num_allocs"] + 2
        assert now["bytes_limit"] == 16 << 20
    assert device.describe()["allocator"]["bytes_in_use"] == before["bytes_in_use"]


def test_fills(device: Device) -> None:
    with device.allocate(16) as memory, device.stream() as stream:
        memory.fill(0xAB)
        assert memory.read() == b"\xab" * 16
        memory.fill32(0x01020304, 8, stream)
        memory.fill(0, 2, stream)
        stream.block()
        assert memory.read(10) == b"\0\0\x02\x01\x04\x03\x02\x01\xab\xab"
        with pytest.raises(HostError, match="multiple of 4") as error:
            memory.fill32(1, 6)
        assert error.value.status == "INVALID_ARGUMENT"


def test_too_much_memory_is_refused(device: Device) -> None:
    with pytest.raises(HostError, match="/device:FAKE:1 gave no memory for 33554432") as error:
        device.allocate(32 << 20)
    assert error.value.status == "RESOURCE_EXHAUSTED"


def test_copies_beyond_the_memory_are_refused(device: Device) -> None:
    with device.allocate(8) as memory:
        with pytest.raises(HostError, match=r"9 bytes asked for.*has 8") as error:
            memory.write(bytes(9))
        assert error.value.status == "OUT_OF_RANGE"
        with pytest.raises(HostError, match="9 bytes asked for"):
            memory.read(9)


def test_streams_events_and_timers(device: Device) -> None:
    with device.stream() as one, device.stream() as two, device.event() as event:
        assert event.state == "unknown"
        with pytest.raises(HostError, match="never recorded"):
            event.block()
        with device.allocate(4) as memory, device.timer() as timer:
            timer.start(one)
            memory.write(b"abcd", one)
            timer.stop(one)
            event.record(one)
            assert event.state == "complete"
            two.wait_for(event)
            two.wait_for(one)
            event.block()
            two.block()
            assert memory.read() == b"abcd"
            assert 0 <= timer.nanoseconds < 10**10
        one.check()
        assert one.handle != two.handle
    device.synchronize()


def test_a_callback_that_fails_fails_its_stream(device: Device) -> None:
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    calls: list[int] = []
    set_status = _lib.declare("TF_SetStatus", None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)

    def callback(argument: int | None, status: int) -> None:
        calls.append(argument or 0)
        set_status(status, 15, b"went wrong")

    enqueue = _lib.declare(
        "DS_StreamCall", None, ctypes.c_void_p, kind, ctypes.c_void_p, ctypes.c_void_p
    )
    with device.stream() as stream:
        enqueue(stream.pointer, kind(callback), 7, None)
        assert calls == [7]
        with pytest.raises(HostError, match="went wrong") as error:
            stream.check()
        assert error.value.status == "DATA_LOSS"


def run_on(stream: int | None, compile_library: Compile) -> int:
    """What the kernel of device_stream.c gives when it runs on a stream."""
    plugin = open_library(compile_library("device_stream.c"))
    plugin.initialise("TF_InitKernel")
    kernel = next(iter(list_kernels("StreamAddress")))
    node = NodeDef(name="n", op="StreamAddress", device="/device:FAKE:1").SerializeToString()
    op = OpDef(name="StreamAddress")
    op.output_arg.add(name="address", type=DataType.DT_INT64)
    new = _lib.declare("DS_NewKernel", POINTER, ctypes.c_int64, *[POINTER] * 4)
    with (
        filled(node) as node_bytes,
        filled(op.SerializeToString()) as op_bytes,
        Status("no kernel") as status,
    ):
        made = new(kernel["id"], node_bytes, op_bytes, None, status.pointer)
    call = KernelCall(struct_size=ctypes.sizeof(KernelCall), stream=stream)
    outputs = (POINTER * 1)()
    run = _lib.declare(
        "DS_RunKernel", None, *[POINTER] * 3, ctypes.c_int, POINTER, ctypes.c_int, POINTER
    )
    try:
        with Status("the kernel failed") as status:
            run(made, ctypes.byref(call), None, 0, outputs, 1, status.pointer)
    finally:
        _lib.declare("DS_DeleteKernel", None, POINTER)(made)
    return int(adopt(outputs[0]))


def test_a_kernel_gets_the_stream_of_its_call(device: Device, compile_library: Compile) -> None:
    """S2-accelerators: a kernel of a device enqueues on the stream that the host chose."""
    with device.stream() as stream:
        assert run_on(stream.handle, compile_library) == stream.handle
    with pytest.raises(HostError, match="has no stream") as error:
        run_on(None, compile_library)
    assert error.value.status == "UNIMPLEMENTED"


def test_objects_of_two_devices_do_not_mix(device: Device) -> None:
    other = Device("FAKE", 0)
    with (
        device.allocate(4) as memory,
        other.stream() as stream,
        pytest.raises(HostError, match=r"of two devices, /device:FAKE:0 and /device:FAKE:1"),
    ):
        memory.write(b"abcd", stream)


def test_unknown_devices_are_named_with_the_known(library: HostLibrary) -> None:
    with pytest.raises(HostError, match=r"no library registered device type 'NPU'.*FAKE") as error:
        Device("NPU")
    assert error.value.status == "NOT_FOUND"
    with pytest.raises(HostError, match=r"no device FAKE:2.*has 2 devices"):
        Device("FAKE", 2)
    with pytest.raises(HostError, match="no device FAKE:-1"):
        Device("FAKE", -1)


def test_no_devices_is_no_error(
    library: HostLibrary, monkeypatch: pytest.MonkeyPatch, variant: Callable[..., HostLibrary]
) -> None:
    registered(variant(NAME="NONE_HERE", COUNT="*count = 0"))
    assert device_count("NONE_HERE") == 0
    with pytest.raises(HostError, match="has 0 devices"):
        Device("NONE_HERE")


def test_same_type_twice_names_both_files(
    library: HostLibrary, variant: Callable[..., HostLibrary]
) -> None:
    """S2-blame: the message says which libraries clash, and about what."""
    second = variant(AFTER_INIT='params->platform->name="OTHER_NAME"')
    with pytest.raises(HostError) as error:
        second.initialise("SE_InitPlugin")
    assert error.value.status == "ALREADY_EXISTS"
    assert "device type 'FAKE' is registered by" in error.value.found
    assert library.path in error.value.found
    assert second.path in error.value.found
    third = variant(AFTER_INIT='params->platform->type="OTHER_TYPE"')
    with pytest.raises(HostError, match="platform 'FAKE_PLATFORM' is registered by"):
        third.initialise("SE_InitPlugin")


REFUSED = {
    'params->platform->name="fake"': r"SP_Platform.name is 'fake'; it must be set and match",
    'params->platform->name="\\33[2JZOO"': r"SP_Platform.name is '\\x1b\[2JZOO'; it must be",
    "params->platform->name=(void*)16": r"SP_Platform.name is at an address where no text is",
    "params->platform->type=NULL": r"SP_Platform.type is NULL; it must be set and match",
    'params->platform->type="GPU2"': r"SP_Platform.type is 'GPU2'",
    'params->platform->type="CPU"': r"device type 'CPU' is registered by the host already",
    "params->major_version=1": r"version 1\.0\.1 of the plugin does not fit.*major version 0",
    "params->struct_size=0": r"SE_PlatformRegistrationParams.struct_size is 0; it must be set to "
    r"SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE, which is 64",
    "params->platform->struct_size=0": r"SP_Platform.struct_size is 0; it must be set to "
    r"SP_PLATFORM_STRUCT_SIZE, which is 35",
    "params->platform_fns->struct_size=0": r"SP_PlatformFns.struct_size is 0",
    "params->platform_fns->struct_size=40": r"SP_PlatformFns lacks required members: "
    r"create_device_fns, destroy_device_fns, create_stream_executor, destroy_stream_executor;",
    "params->platform->struct_size=21": r"SP_Platform.name is NULL",
    "params->platform_fns->struct_size=(size_t)-1": r"which no release can mean",
    "params->platform_fns->create_device=NULL": r"lacks required members: create_device;",
    "params->platform_fns->create_timer_fns=NULL": r"both or none of create_timer_fns",
    "params->destroy_platform=NULL": r"lacks required members: destroy_platform;",
    "params->platform=malloc(64)": r"replaced platform or platform_fns",
    'TF_SetStatus(status, TF_UNAVAILABLE, "no driver")': r"SE_InitPlugin: no driver",
    "memset(params->platform + 1, 1, 300)": r"wrote outside the SP_Platform it was given",
    "memset(params->platform_fns + 1, 1, 8)": r"wrote outside the SP_PlatformFns of 88 bytes",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_platforms_are_refused(statement: str, variant: Callable[..., HostLibrary]) -> None:
    macros = {"AFTER_INIT": statement}
    with pytest.raises(HostError, match=REFUSED[statement]):
        variant(NAME="REFUSED", **macros).initialise("SE_InitPlugin")
    assert "REFUSED" not in [item["type"] for item in list_platforms()]


BAD_DEVICES = {
    "A": ("AFTER_EXECUTOR", "executor->memcpy_dtoh=NULL", r"required members: memcpy_dtoh;"),
    "B": ("AFTER_EXECUTOR", "executor->struct_size=0", r"SP_StreamExecutor.struct_size is 0"),
    "C": ("AFTER_EXECUTOR", "executor->struct_size=280", r"required members: host_callback;"),
    "D": ("AFTER_EXECUTOR", "executor->unified_memory_allocate=NULL", r"unified_memory_allocate;"),
    "E": ("AFTER_EXECUTOR", "executor->stop_timer=NULL", r"all or none of create_timer"),
    "F": ("AFTER_EXECUTOR", "executor->memset=NULL", r"required members: memset;"),
    "G": ("AFTER_DEVICE", "device->struct_size=0", r"SP_Device.struct_size is 0"),
    "H": ("AFTER_DEVICE", 'TF_SetStatus(status,TF_INTERNAL,"broken")', r"create_device: broken"),
    "I": ("COUNT", "*count=-3", r"get_device_count answers -3"),
    "J": ("COUNT", "*count=1000000", r"get_device_count answers 1000000"),
    "K": ("COUNT", 'TF_SetStatus(status,TF_INTERNAL,"gone")', r"get_device_count: gone"),
}


@pytest.mark.parametrize("name", BAD_DEVICES)
def test_devices_are_refused(name: str, variant: Callable[..., HostLibrary]) -> None:
    macro, statement, text = BAD_DEVICES[name]
    registered(variant(**{"NAME": f"BAD_{name}", macro: statement}))
    with pytest.raises(HostError, match=text):
        Device(f"BAD_{name}")


def test_count_that_fails_is_listed(variant: Callable[..., HostLibrary]) -> None:
    registered(variant(NAME="LOST", COUNT='TF_SetStatus(status,TF_INTERNAL,"gone")'))
    (lost,) = [item for item in list_platforms() if item["type"] == "LOST"]
    assert "gone" in lost["error"]
    assert "device_count" not in lost


def use(device: Device) -> None:
    """Copies, fills and a callback on a stream work."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    calls: list[int | None] = []
    enqueue = _lib.declare(
        "DS_StreamCall", None, ctypes.c_void_p, kind, ctypes.c_void_p, ctypes.c_void_p
    )
    with device.allocate(8) as memory, device.stream() as stream:
        memory.fill(3, 8, stream)
        memory.fill32(0x01010101, 4, stream)
        enqueue(stream.pointer, kind(lambda argument, _: calls.append(argument)), 5, None)
        stream.block()
        assert memory.read() == b"\1\1\1\1\3\3\3\3"
    assert calls == [5]


def test_layouts_of_earlier_releases_work(variant: Callable[..., HostLibrary]) -> None:
    """S0-version: layouts that inserted members mid-struct are told apart by size."""
    registered(
        variant(
            NAME="OLD",
            AFTER_INIT="params->platform->force_memory_growth=1;params->platform->struct_size=34",
            AFTER_EXECUTOR="layout_of_264_bytes(executor)",
        )
    )
    (old,) = [item for item in list_platforms() if item["type"] == "OLD"]
    assert not old["force_memory_growth"], "a member beyond the stated size counts as null"
    device = Device("OLD")
    assert device.describe()["executor_size"] == 264
    use(device)


def test_layouts_of_later_releases_work(variant: Callable[..., HostLibrary]) -> None:
    registered(
        variant(
            NAME="NEW",
            AFTER_INIT="layout_of_bytes(params->platform_fns, 88, 160);"
            "layout_of_bytes(params, 64, 80);"
            "params->platform->force_memory_growth=1;layout_of_bytes(params->platform, 35, 64)",
            AFTER_DEVICE="layout_of_bytes(device, 56, 120)",
            AFTER_EXECUTOR="layout_of_bytes(executor, 288, 512)",
        )
    )
    (new,) = [item for item in list_platforms() if item["type"] == "NEW"]
    assert new["force_memory_growth"]
    device = Device("NEW")
    assert device.describe()["executor_size"] == 512
    use(device)


def test_optional_functions_may_be_missing(variant: Callable[..., HostLibrary]) -> None:
    registered(
        variant(
            NAME="SPARE",
            AFTER_INIT="params->platform->supports_unified_memory=0;"
            "params->platform_fns->create_timer_fns=NULL;"
            "params->platform_fns->destroy_timer_fns=NULL",
            AFTER_EXECUTOR="executor->memcpy_dtod=NULL;executor->sync_memcpy_dtod=NULL;"
            "executor->block_host_until_done=NULL;executor->create_timer=NULL;"
            "executor->destroy_timer=NULL;executor->start_timer=NULL;executor->stop_timer=NULL",
        )
    )
    device = Device("SPARE")
    use(device)
    with device.allocate(4) as one, device.allocate(4) as two, device.stream() as stream:
        one.write(b"wall")
        one.copy_to(two, 4, stream)
        stream.block()
        assert two.read() == b"wall"
    with pytest.raises(HostError, match="has no timers") as error:
        device.timer()
    assert error.value.status == "UNIMPLEMENTED"
    unified = _lib.declare(
        "DS_AllocateUnifiedMemory",
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_uint64,
        ctypes.c_void_p,
    )
    assert unified(device.pointer, 8, None) is None


def test_nulls_are_answered(library: HostLibrary) -> None:
    pointer = ctypes.c_void_p
    for name in ("DS_FreeDeviceMemory", "DS_DeleteStream", "DS_DeleteEvent", "DS_DeleteTimer"):
        _lib.declare(name, None, pointer)(None)
    for name in ("DS_StreamHandle", "DS_DeviceMemoryHandle"):
        assert _lib.declare(name, pointer, pointer)(None) is None
    assert _lib.declare("DS_EventState", ctypes.c_int, pointer)(None) == 0
    for name in ("DS_NewStream", "DS_NewEvent", "DS_NewTimer"):
        assert _lib.declare(name, pointer, pointer, pointer)(None, None) is None
    copy = _lib.declare("DS_CopyToHost", None, *[pointer] * 3, ctypes.c_uint64, pointer)
    copy(None, None, None, 8, None)
    _lib.declare("DS_ListDevices", None, pointer, pointer)(None, None)
