"""Devices: none, one or many; memory, copies, streams, events."""

from __future__ import annotations

import os

import pytest

from drystone_base.host.device import Device, device_count, list_platforms
from drystone_conformance.live import grown
from drystone_conformance.plugin import needs

pytestmark = pytest.mark.module("device")


@pytest.fixture
def device(device_type: str) -> Device:
    """The first device of a type; a machine without one is no failure."""
    if device_count(device_type) == 0:
        pytest.skip(f"this machine has no device of type {device_type}")
    return Device(device_type, 0)


def test_the_platform_is_described(device_type: str) -> None:
    found = [p for p in list_platforms() if p["type"] == device_type]
    assert len(found) == 1
    assert found[0]["platform"]


def test_counting_devices_again_gives_the_same(device_type: str) -> None:
    count = device_count(device_type)
    assert count >= 0
    assert device_count(device_type) == count


def test_a_device_that_is_not_there_is_an_error(device_type: str) -> None:
    with pytest.raises(Exception, match="cannot be had"):
        Device(device_type, device_count(device_type) + 7)


def test_every_device_describes_itself(device_type: str, device: Device) -> None:
    assert device.name
    for ordinal in range(device_count(device_type)):
        facts = Device(device_type, ordinal).describe()
        assert facts["name"] == f"/device:{device_type}:{ordinal}"


@pytest.mark.parametrize("size", [1, 3, 4096, 1 << 20])
def test_bytes_come_back_as_they_went(device: Device, size: int) -> None:
    data = os.urandom(size)
    with device.allocate(size) as memory:
        memory.write(data)
        assert memory.read() == data


def test_parts_can_be_written_and_read(device: Device) -> None:
    with device.allocate(64) as memory:
        memory.write(bytes(64))
        memory.write(b"abc")
        assert memory.read(5) == b"abc\0\0"


def test_copies_on_the_device(device: Device) -> None:
    data = os.urandom(1000)
    with device.allocate(1000) as one, device.allocate(1000) as two:
        one.write(data)
        one.copy_to(two, 1000)
        device.synchronize()
        assert two.read() == data


@needs("device.fill")
def test_memory_is_filled(device: Device) -> None:
    with device.allocate(16) as memory:
        memory.fill(0)
        assert memory.read() == bytes(16)
        memory.fill(0xAB, 8)
        assert memory.read() == b"\xab" * 8 + bytes(8)
        memory.fill32(0x01020304, 16)
        assert memory.read() == bytes([4, 3, 2, 1]) * 4


@needs("device.streams")
def test_a_stream_keeps_its_order(device: Device) -> None:
    first, second = os.urandom(512), os.urandom(512)
    with device.stream() as stream, device.allocate(512) as memory:
        memory.write(first, stream)
        memory.write(second, stream)
        stream.block()
        assert memory.read() == second


@needs("device.events")
def test_one_stream_waits_for_another(device: Device) -> None:
    data = os.urandom(256)
    with (
        device.stream() as ahead,
        device.stream() as behind,
        device.event() as event,
        device.allocate(256) as one,
        device.allocate(256) as two,
    ):
        one.write(data, ahead)
        event.record(ahead)
        behind.wait_for(event)
        one.copy_to(two, 256, behind)
        behind.block()
        assert two.read() == data
        event.block()
        assert event.state == "complete"


def test_nothing_is_left_behind(device: Device) -> None:
    def use() -> None:
        with device.allocate(100) as memory:
            memory.write(bytes(100))
            memory.read()

    assert grown(use) == {}
