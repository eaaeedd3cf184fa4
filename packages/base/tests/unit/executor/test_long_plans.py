"""Plans that take long to make, in one call that looks at no clock: their callers leave in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from drystone_abi.protos import TensorProto, TensorShapeProto
from drystone_base import Graph, KernelError, Session, SessionConfig
from drystone_base.core import dtypes, tensor
from drystone_base.core.tensor import copy_in_pieces, from_proto
from drystone_base.core.time_limits import OutOfTime, until
from drystone_base.executor.testing import run_op
from drystone_base.ops.attrs import TensorAttr
from drystone_base.passes import Grouping, PassOptions, graph_pass, registry
from drystone_base.state.cancellation import Cancellation

SLACK = 8.0
"""Seconds that others of this machine may take; alone it is half a second."""


def small() -> Graph:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32, "shape": ()})
    graph.add("Neg", "y", [x], attrs={"T": dtypes.FLOAT32})
    return graph


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """A pass waits for it, in one call."""
    event = threading.Event()

    def slow(options: PassOptions) -> None:
        """Takes as long as a comparison of constants may."""
        event.wait(60)

    graph_pass(Grouping.PRE_PLACEMENT, 3, name="slow")(slow)
    yield event
    event.set()
    registry().remove("slow")


def test_a_deadline_ends_a_run_whose_plan_takes_long(released: threading.Event) -> None:
    session = Session(small(), SessionConfig(deadline=0.3, optimizer="off"))
    begin = time.monotonic()
    with pytest.raises(KernelError, match="stopped while its plan was made") as caught:
        session.run("y:0", {"x:0": 3.0})
    assert caught.value.code == "deadline-exceeded"
    assert time.monotonic() - begin < SLACK
    released.set()
    assert session.run("y:0", {"x:0": 3.0}) == -3


def test_a_cancelled_run_ends_whose_plan_takes_long(released: threading.Event) -> None:
    session = Session(small(), SessionConfig(optimizer="off"))
    cancellation = Cancellation()
    threading.Timer(0.3, cancellation.cancel).start()
    begin = time.monotonic()
    with pytest.raises(KernelError, match="cancelled while its plan was made") as caught:
        session.run("y:0", {"x:0": 3.0}, cancellation=cancellation)
    assert caught.value.code == "run-cancelled"
    assert time.monotonic() - begin < SLACK
    released.set()
    assert session.run("y:0", {"x:0": 3.0}) == -3


PROGRAM = """
import signal, time
import numpy as np
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.ops.attrs import TensorAttr
from drystone_base.passes import Grouping, graph_pass

signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
graph_pass(Grouping.PRE_PLACEMENT, 3, name="slow")(lambda options: time.sleep(60))
graph = Graph()
value = TensorAttr(array=np.zeros((1 << 24) + 1, np.float32))
x = graph.add("Const", "x", attrs={"dtype": dtypes.FLOAT32, "value": value})
graph.add("Neg", "y", [x], attrs={"T": dtypes.FLOAT32})
print("ready", flush=True)
try:
    Session(graph, SessionConfig(optimizer="off")).run("y:0")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_run_whose_large_constants_take_long() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        stdout=subprocess.PIPE, text=True, env=environment,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(1)
        begin = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait(60) == 0
        assert time.monotonic() - begin < SLACK


@pytest.mark.parametrize("large", ["rows", "one row", "columns"])
def test_large_constants_are_copied_in_pieces(large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor, "_PIECE_BYTES", 1000)
    shape = {"rows": (700, 9), "one row": (1, 6300), "columns": (3, 2100)}[large]
    array = np.arange(6300, dtype=np.float32).reshape(shape)
    for given in (array, array.T, array[:, ::-1]):
        out = np.empty(given.shape, np.float32)
        copy_in_pieces(out, given)
        np.testing.assert_array_equal(out, given)
        with until(time.monotonic() - 1), pytest.raises(OutOfTime):
            TensorAttr(array=given.astype(np.float64)[::-1, ::-1]).aligned(64)
    turned = TensorAttr(array=array.T).aligned(64)
    assert turned.flags.c_contiguous
    np.testing.assert_array_equal(turned, array.T)


@pytest.mark.parametrize("field", ["float_val", "string_val", "half_val", "int_val"])
def test_lists_of_values_are_read_in_pieces(field: str) -> None:
    number = {"float_val": 1, "string_val": 7, "half_val": 19, "int_val": 3}[field]
    count = (1 << 16) + 3
    value = b"a" if field == "string_val" else 1
    dims = [TensorShapeProto.Dim(size=count)]
    proto = TensorProto(
        dtype=number, tensor_shape=TensorShapeProto(dim=dims), **{field: [value] * count}
    )  # type: ignore[arg-type]
    found = from_proto(proto)
    assert found.shape == (count,)
    assert found[-1] == (np.uint16(1).view(np.float16) if field == "half_val" else value)
    with until(time.monotonic() - 1), pytest.raises(OutOfTime):
        from_proto(proto)


@pytest.mark.parametrize("counts", [(1, 1, 1), (3, 1, 2), (1, 4, 1), (2, 3, 4)])
@pytest.mark.parametrize("dtype", [np.float32, object])
def test_tiles_are_those_of_numpy(
    counts: tuple[int, ...], dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensor, "_PIECE_BYTES", 64)
    x = np.arange(30, dtype=np.float32).reshape(2, 3, 5)
    if dtype is object:
        x = np.vectorize(lambda v: b"%d" % v, otypes=[object])(x)
    (found,) = run_op("Tile", x, np.int32(counts))
    np.testing.assert_array_equal(found, np.tile(x, counts))
