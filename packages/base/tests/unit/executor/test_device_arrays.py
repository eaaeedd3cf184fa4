"""Fetches that stay on devices, feeds that lie there, and both by DLPack: nothing is copied.

The host cannot touch the memory of the strict device, and the device counts copies.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from typing import Any

import numpy as np
import pytest
from device_graphs import ON, Array, Build, both, x_of
from drystone_conformance.strict_device import StrictDevice

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, FLOAT64
from drystone_base.core.errors import BadRequest
from drystone_base.host import available, device
from drystone_base.host.dlpack import DLPackError

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

from drystone_base.host.device_array import DeviceArray
from drystone_base.host.tensors import HostTensor

STAYS: dict[str, Any] = ON | {"fetches_on_devices": True}
EXTERNAL = 12


class Foreign:
    """Another library's array, which is known by DLPack alone."""

    def __init__(self, array: DeviceArray, *, versioned: bool = True) -> None:
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **asked: Any) -> Any:
        if not self.versioned:
            if asked:
                raise TypeError("it is older than versions")
            return self.array.__dlpack__()
        return self.array.__dlpack__(**asked)


class WithoutFirst(Foreign):
    """The same without its first row, as a slice of another library has it."""

    def __dlpack__(self, **asked: Any) -> Any:
        capsule = self.array.__dlpack__()  # a DLManagedTensor, which begins with a DLTensor
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        fields = DLTensor.from_address(pointer(capsule, b"dltensor"))
        fields.shape[0] -= 1
        fields.byte_offset += 4 * fields.shape[1]
        return capsule


class DLTensor(ctypes.Structure):
    """As dlpack.h has it."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint8 * 4), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


def layer() -> Build:
    """``y``: ``x @ w`` on the device, ``z`` of that."""
    b = Build()
    y = b.op("MatMul", "y", b.feed("x"), b.const("w", np.arange(9).reshape(3, 3) / 4))
    b.op("Tanh", "z", y)
    return b


def copies(strict: StrictDevice) -> tuple[int, int]:
    found = strict.counted()
    return found["copies_in"], found["copies_out"]


def made(rows: int = 5, device: int = 0) -> DeviceArray:
    """``-x`` on a device."""
    b = Build()
    b.op("Neg", "y", b.feed("x"), device=f"/device:STRICT:{device}")
    found = Session(b.graph, SessionConfig(**STAYS)).run("y:0", {"x:0": x_of(rows)})
    assert isinstance(found, DeviceArray)
    return found


def test_a_fetch_stays_and_is_fed_without_a_copy(strict: StrictDevice) -> None:
    session = Session(layer().graph, SessionConfig(**STAYS))
    session.run("y:0", {"x:0": x_of()})  # which copies the weights
    strict.counted()
    x = session.run("y:0", {"x:0": x_of()})
    assert copies(strict) == (1, 0)
    assert isinstance(x, DeviceArray)
    assert (x.device, x.dtype, x.shape) == ("/device:STRICT:0", FLOAT32, (5, 3))
    for _ in range(4):
        x = session.run("y:0", {"x:0": x})
    assert copies(strict) == (0, 0)
    want = x_of()
    w = np.arange(9, dtype=np.float32).reshape(3, 3) / 4
    for _ in range(5):
        want = want @ w
    np.testing.assert_allclose(x.numpy(), want, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(x), want, rtol=1e-5)
    np.testing.assert_allclose(session.make_callable("z:0", ["x:0"])(x).numpy(), np.tanh(want @ w))


def test_a_second_run_asks_the_device_for_no_memory(strict: StrictDevice) -> None:
    """A lane keeps what the run before used."""
    session = Session(layer().graph, SessionConfig(**ON))
    session.run("z:0", {"x:0": x_of()})
    before = strict.figures()["allocations"]
    for _ in range(3):
        session.run("z:0", {"x:0": x_of()})
    assert strict.figures()["allocations"] == before


def test_a_fetch_outlives_its_session(strict: StrictDevice) -> None:
    x = made()
    gc.collect()
    np.testing.assert_array_equal(x.numpy(), -x_of())
    assert "DeviceArray: float32 [5, 3] on /device:STRICT:0" in repr(x)


def test_what_the_host_computes_is_fetched_as_an_array(strict: StrictDevice) -> None:
    b = layer()
    b.op("Neg", "on_host", b.graph["y"], device="/cpu:0")
    found = Session(b.graph, SessionConfig(**STAYS)).run(["on_host:0", "y:0"], {"x:0": x_of()})
    assert [type(one) for one in found] == [np.ndarray, DeviceArray]
    np.testing.assert_array_equal(found[0], -found[1].numpy())


@pytest.mark.parametrize("versioned", [True, False])
def test_memory_of_another_library_is_fed_without_a_copy(
    strict: StrictDevice, versioned: bool
) -> None:
    session = Session(layer().graph, SessionConfig(**STAYS))
    session.run("y:0", {"x:0": x_of()})
    x = made()
    strict.counted()
    y = session.run("y:0", {"x:0": Foreign(x, versioned=versioned)})
    assert copies(strict) == (0, 0)
    want = session.run("y:0", {"x:0": -x_of()}).numpy()
    np.testing.assert_array_equal(y.numpy(), want)
    np.testing.assert_array_equal(x.numpy(), -x_of())


def test_memory_that_begins_anywhere_is_copied_on_its_device(strict: StrictDevice) -> None:
    session = Session(layer().graph, SessionConfig(**STAYS))
    want = session.run("y:0", {"x:0": -x_of()[1:]}).numpy()
    x = made()
    strict.counted()
    y = session.run("y:0", {"x:0": WithoutFirst(x)})
    counted = strict.counted()
    assert (counted["copies_in"], counted["copies_out"], counted["allocations"]) == (0, 0, 1)
    np.testing.assert_array_equal(y.numpy(), want)
    np.testing.assert_array_equal(x.numpy(), -x_of())


def test_by_dlpack_and_back_it_is_the_same_memory(strict: StrictDevice) -> None:
    x = made()
    assert x.__dlpack_device__() == (EXTERNAL, 0)
    assert made(device=1).__dlpack_device__() == (EXTERNAL, 1)
    strict.counted()
    y = DeviceArray.from_dlpack(Foreign(x))
    assert copies(strict) == (0, 0)
    assert strict.figures()["allocations"] > 0
    assert (y.shape, y.dtype, y.device, y.is_shared) == (x.shape, x.dtype, x.device, True)
    del x
    gc.collect()  # the memory stays as long as who has it
    np.testing.assert_array_equal(y.numpy(), -x_of())
    capsule = y.__dlpack__(stream=7)  # nobody takes it
    del capsule, y


def test_on_the_way_to_the_host_it_is_copied_where_that_is_asked_for(strict: StrictDevice) -> None:
    x = made()
    host = np.from_dlpack(Host(x))
    np.testing.assert_array_equal(host, -x_of())
    y = DeviceArray.from_dlpack(Copying(x))
    assert not x.is_shared
    np.testing.assert_array_equal(y.numpy(), -x_of())
    with pytest.raises(DLPackError, match="the CPU"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(DLPackError, match="a device must be"):
        x.__dlpack__(dl_device=(2, 0))


class Host(Foreign):
    """One that is asked for on the host."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **asked: Any) -> Any:
        return self.array.__dlpack__(dl_device=(1, 0), max_version=asked.get("max_version"))


class Copying(Foreign):
    """One that gives a copy."""

    def __dlpack__(self, **asked: Any) -> Any:
        return self.array.__dlpack__(copy=True, **asked)


def test_memory_that_a_session_holds_is_read_only(strict: StrictDevice) -> None:
    b = counter()
    keeps = b.graph["w"], b.op("Neg", "n", b.graph["x"])
    b.graph.add("AssignVariableOp", "keep", list(keeps), attrs={"dtype": FLOAT32})
    session = Session(b.graph, SessionConfig(**STAYS))
    x, _ = session.run(["n:0", "keep"], {"x:0": x_of()})
    with pytest.raises(DLPackError, match=r"needs DLPack 1\.x"):
        x.__dlpack__()
    y = DeviceArray.from_dlpack(Foreign(x))
    with pytest.raises(DLPackError, match=r"needs DLPack 1\.x"):
        y.__dlpack__()
    session.run("add")  # which changes memory of its own
    np.testing.assert_array_equal(y.numpy(), -x_of())
    made().__dlpack__()


def test_a_device_that_cannot_be_had_stands_in_nobodys_way(
    strict: StrictDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = made()
    platforms = [{"type": "NOWHERE", "device_count": 1}, *device.list_platforms()]
    monkeypatch.setattr(device, "list_platforms", lambda: platforms)
    monkeypatch.setenv("DRYSTONE_VISIBLE_DEVICES", "NOWHERE,STRICT")
    assert DeviceArray.from_dlpack(Foreign(x)).device == "/device:STRICT:0"
    monkeypatch.setenv("DRYSTONE_VISIBLE_DEVICES", "NOWHERE")
    with pytest.raises(DLPackError, match="no device of a plugin"):
        DeviceArray.from_dlpack(Foreign(x))


def test_another_device_gets_a_copy_and_so_does_the_host(strict: StrictDevice) -> None:
    x = made()
    b = Build()
    b.op("Neg", "there", b.feed("x"), device="/device:STRICT:1")
    b.op("Neg", "here", b.feed("z"), device="/cpu:0")
    session = Session(b.graph, SessionConfig(**ON))
    found = session.run(["there:0", "here:0"], {"x:0": x, "z:0": x})
    for one in found:
        np.testing.assert_array_equal(one, x_of())
    plain = Session(layer().graph, SessionConfig(executor="reference"))
    np.testing.assert_allclose(
        plain.run("y:0", {"x:0": x}), plain.run("y:0", {"x:0": -x_of()}), rtol=1e-6
    )


def test_behind_nodes_that_hand_it_on_and_beside_the_host(strict: StrictDevice) -> None:
    """One feed goes to the device only, another to both."""
    b = Build()
    handed = b.op("Identity", "i", b.feed("x"))
    y = b.op("Neg", "y", b.op("Identity", "j", handed))
    z = b.feed("z")
    b.op("Add", "sum", y, b.op("Neg", "n", z))
    b.op("Exp", "e", z, device="/cpu:0")
    strict.counted()
    x = made()
    session = Session(b.graph, SessionConfig(**STAYS))
    strict.counted()
    found = session.run(["sum:0", "e:0"], {"x:0": x, "z:0": x})
    assert copies(strict) == (1, 0)  # z comes to the host by a call that waits, and goes back
    np.testing.assert_allclose(found[0].numpy(), x_of() * 2, rtol=1e-6)
    np.testing.assert_allclose(found[1], np.exp(-x_of()), rtol=1e-5)
    back, again = session.run(["x:0", "sum:0"], {"x:0": x, "z:0": x})
    np.testing.assert_array_equal(np.asarray(back), -x_of())
    np.testing.assert_array_equal(again.numpy(), found[0].numpy())


def test_v1_control_flow_takes_it_on_the_host(strict: StrictDevice) -> None:
    b = layer()
    yes = b.graph.add("Placeholder", "yes", attrs={"dtype": BOOL, "shape": None})
    switch = b.op("Switch", "switch", b.graph["z"], yes)
    merged = b.op("Merge", "merged", b.op("Neg", "a", switch), b.op("Exp", "b", (switch, 1)), N=2)
    b.op("Add", "end", merged, b.graph["x"])
    for choice in (True, False):
        there, here = (
            both(b.graph, "end:0", {"x:0": x, "yes:0": choice})[k]
            for k, x in enumerate((made(), -x_of()))
        )
        np.testing.assert_allclose(there, here, rtol=1e-5)


def test_what_does_not_fit_is_refused(strict: StrictDevice) -> None:
    x = made()
    b = Build()
    b.op("Neg", "y", b.feed("x", FLOAT64), T=FLOAT64)
    placeholder = b.graph.add("Placeholder", "s", attrs={"dtype": FLOAT32, "shape": (2, 3)})
    b.op("Neg", "t", placeholder)
    session = Session(b.graph, SessionConfig(**ON))
    with pytest.raises(BadRequest, match="must have the tensor's dtype"):
        session.run("y:0", {"x:0": x})
    with pytest.raises(BadRequest, match="placeholder's shape"):
        session.run("t:0", {"s:0": x})
    with pytest.raises(DLPackError, match="no device of a plugin"):
        DeviceArray.from_dlpack(Elsewhere(x))
    with pytest.raises(DLPackError, match="not on"):
        DeviceArray.from_dlpack(Liar(x))
    with pytest.raises(DLPackError, match="memory must lie on the CPU"):
        HostTensor.from_dlpack(x)
    np.testing.assert_array_equal(x.numpy(), -x_of())


class Elsewhere(Foreign):
    """One on a device that no plugin has."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (EXTERNAL, 77)


class Liar(Foreign):
    """One whose memory is not where it says."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (EXTERNAL, 1)


def counter() -> Build:
    """A variable: ``set`` from ``x``, ``add`` one, ``y`` of it."""
    b = Build()
    attrs = {"dtype": FLOAT32, "shape": None, "container": "", "shared_name": "w"}
    w = b.graph.add("VarHandleOp", "w", attrs=attrs)
    of = {"dtype": FLOAT32}
    b.graph.add("AssignVariableOp", "set", [w, b.op("Identity", "x_", b.feed("x"))], attrs=of)
    b.graph.add("AssignAddVariableOp", "add", [w, b.const("one", np.ones((5, 3)))], attrs=of)
    b.op("Neg", "y", b.graph.add("ReadVariableOp", "read", [w], attrs=of))
    return b


def test_a_variable_that_was_set_by_it_changes_alone(strict: StrictDevice) -> None:
    session = Session(counter().graph, SessionConfig(**STAYS))
    x = made()
    for feed in (x, Foreign(x)):
        session.run("set", {"x:0": feed})
        session.run("add")
        np.testing.assert_allclose(session.run("y:0").numpy(), x_of() - 1, rtol=1e-6)
        np.testing.assert_array_equal(x.numpy(), -x_of())


def test_threads_feed_read_and_give_back_at_once(strict: StrictDevice) -> None:
    """What one run has made is read and used by others, each with streams of its own."""
    session = Session(layer().graph, SessionConfig(**STAYS))
    x = made()
    want = session.run("z:0", {"x:0": -x_of()}).numpy()
    wrong: list[object] = []

    def go() -> None:
        try:
            for _ in range(15):
                y = session.run("z:0", {"x:0": x})
                z: Array = DeviceArray.from_dlpack(Foreign(y)).numpy()
                if not np.array_equal(z, want):
                    wrong.append(z)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
