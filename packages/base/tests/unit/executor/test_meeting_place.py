"""Kernels of plugins send and receive in the rendezvous in which the host's own nodes meet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import drystone_base as ds
from drystone_abi.protos import FunctionDef
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.meeting_place import edge_of
from drystone_base.ops.attrs import FunctionRef
from drystone_base.plugins import load_library

FLOAT = ds.as_dtype("float32")
EXAMPLE = Path(__file__).parents[5] / "plugin-abi" / "examples" / "kernels_c"
PLACE = {"send_device": "a", "recv_device": "b", "send_device_incarnation": 0}


@pytest.fixture(scope="module", autouse=True)
def plugin(compile_library: Callable[..., Path]) -> None:
    """The example's two kernels, in a library of their own."""
    own = Path(__file__).with_name("meeting_plugin.c")
    flags = [f"-I{EXAMPLE}", str(EXAMPLE / "meeting.c")]
    load_library(str(compile_library(own, flags=flags)), developer_mode=True)


def sends(graph: ds.Graph, op: str, name: str, value: Any, edge: str) -> ds.Node:
    more = PLACE | {"T": FLOAT} if op == "_Send" else {}
    return graph.add(op, name, [value], attrs={"tensor_name": edge} | more)


def receives(graph: ds.Graph, op: str, name: str, edge: str, **more: Any) -> ds.Node:
    attrs = PLACE | {"tensor_type": FLOAT} if op == "_Recv" else {}
    return graph.add(op, name, attrs={"tensor_name": edge} | attrs, **more)


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize(
    ("send", "receive"),
    [("ExampleSend", "ExampleRecv"), ("ExampleSend", "_Recv"), ("_Send", "ExampleRecv")],
)
def test_a_plugin_and_the_host_meet(executor: Any, send: str, receive: str) -> None:
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT})
    sent = sends(graph, send, "send", x, "edge")
    y = receives(graph, receive, "recv", "edge", controls=[sent])
    graph.add("Neg", "y", [y], attrs={"T": FLOAT})
    with ds.Session(graph, ds.SessionConfig(executor=executor, optimizer="off")) as session:
        for value in (np.float32([1, 2]), np.zeros((0, 3), np.float32)):
            assert np.array_equal(session.run("y:0", {"x:0": value}), -value)


def test_the_receiver_may_be_first() -> None:
    """It waits without a thread, and what it waits for is sent on another one."""
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT})
    y = receives(graph, "ExampleRecv", "recv", "edge")
    graph.add("Neg", "y", [y], attrs={"T": FLOAT})
    sends(graph, "ExampleSend", "send", x, "edge")
    config = ds.SessionConfig(inter_op_threads=2, optimizer="off", deadline=20)
    with ds.Session(graph, config) as session:
        assert session.run(["y:0", "send"], {"x:0": np.float32([3])})[0].tolist() == [-3]


def test_what_is_never_sent_ends_at_the_deadline() -> None:
    graph = ds.Graph()
    receives(graph, "ExampleRecv", "recv", "nowhere")
    before = threading.active_count()
    with (
        ds.Session(graph, ds.SessionConfig(deadline=0.3)) as session,
        pytest.raises(DrystoneError) as caught,
    ):
        session.run("recv:0")
    assert caught.value.code == "deadline-exceeded"
    assert threading.active_count() <= before + 1


def test_runs_do_not_meet_each_other() -> None:
    """What one run left behind is not the next one's."""
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT})
    sends(graph, "ExampleSend", "send", x, "edge")
    receives(graph, "ExampleRecv", "recv", "edge")
    with ds.Session(graph, ds.SessionConfig(deadline=0.5, optimizer="off")) as session:
        session.run("send", {"x:0": np.float32([1])})
        with pytest.raises(DrystoneError) as caught:
            session.run("recv:0")
        assert caught.value.code == "deadline-exceeded"


def test_keys_as_tensorflow_writes_them() -> None:
    device = "/job:localhost/replica:0/task:0/device:CPU:0"
    assert edge_of(f"{device};0000000000000001;{device};edge_7_x;0:0") == "edge_7_x"
    assert edge_of("edge_7_x") == "edge_7_x"


def _has_quick(graph: ds.Graph, fetch: str) -> bool:
    """Whether runs may take the way without what belongs to a run.

    Of ops that the host computes: kernels in Python always ask for what belongs to a run.
    """
    with ds.Session(graph, ds.SessionConfig(optimizer="off")) as session:
        value = np.float32([1, 2])
        assert np.array_equal(session.run(fetch, {"x:0": value}), value)
        return session._prepare([fetch], ["x:0"], session._ends()).quick is not None


def test_graphs_without_such_a_kernel_run_as_before() -> None:
    """That a plugin which meets is loaded costs nothing to who does not use it."""
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT})
    graph.add("Snapshot", "y", [x], attrs={"T": FLOAT})
    assert _has_quick(graph, "y:0")
    sent = sends(graph, "ExampleSend", "send", x, "edge")
    y = receives(graph, "ExampleRecv", "recv", "edge", controls=[sent])
    graph.add("Snapshot", "z", [y], attrs={"T": FLOAT})
    assert not _has_quick(graph, "z:0")
    assert _has_quick(graph, "y:0"), "of a graph the part that is run counts"


FUNCTION = """
signature {
  name: "f" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT }
}
node_def {
  name: "s" op: "ExampleSend" input: "x"
  attr { key: "tensor_name" value { s: "edge" } }
}
node_def {
  name: "r" op: "ExampleRecv" input: "^s"
  attr { key: "tensor_name" value { s: "edge" } }
}
node_def {
  name: "n" op: "Snapshot" input: "r:y:0" attr { key: "T" value { type: DT_FLOAT } }
}
ret { key: "y" value: "n:output:0" }
control_ret { key: "s" value: "s" }
"""


def test_a_function_may_have_such_a_kernel() -> None:
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT})
    graph.functions.add(text_format.Parse(FUNCTION, FunctionDef()))
    attrs = {"Tin": [FLOAT], "Tout": [FLOAT], "f": FunctionRef("f")}
    graph.add("PartitionedCall", "y", [x], attrs=attrs)
    assert not _has_quick(graph, "y:0")
