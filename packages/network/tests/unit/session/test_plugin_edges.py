"""Kernels of a plugin send values to another task, to each other's and to the host's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from clusters import A, B, Parts, free_ports

import drystone_abi
import drystone_base as ds
from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import load_library
from drystone_network import Server

EXAMPLE = Path(__file__).parents[5] / "plugin-abi" / "examples" / "kernels_c"
OWN = Path(__file__).parents[5] / "packages/base/tests/unit/executor/meeting_plugin.c"
DEVICES = [f"/job:worker/replica:0/task:{k}/device:CPU:0" for k in (0, 1)]


@pytest.fixture(scope="module", autouse=True)
def plugin(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The example's kernels that send and receive, alone: others would be used by other tests."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler for the example")
    library = tmp_path_factory.mktemp("plugin") / "libexample_kernels.so"
    command = [compiler, "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]
    command += [
        f"-I{drystone_abi.get_include()}",
        f"-I{EXAMPLE}",
        str(OWN),
        str(EXAMPLE / "meeting.c"),
    ]
    subprocess.run([*command, "-o", str(library)], check=True)
    load_library(str(library), developer_mode=True)


def across(send: str, receive: str, receiver: str = DEVICES[1]) -> ds.Graph:
    """``x`` on the first task is sent, received on the second, and comes back negated."""
    g = Parts()
    edge = {"tensor_name": "by hand", "send_device": DEVICES[0], "recv_device": receiver}
    more = {"send_device_incarnation": 0}
    sends = edge | more | {"T": ds.as_dtype("float32")} if send == "_Send" else edge
    receives = edge | more | {"tensor_type": ds.as_dtype("float32")} if receive == "_Recv" else edge
    g.graph.add(send, "send", [g.feed("x", A)], device=A, attrs=sends)
    came = g.graph.add(receive, "came", device=B, attrs=receives)
    g.op("Neg", "y", A, g.op("Tanh", "t", B, came))
    return g.graph


@pytest.mark.parametrize(
    ("send", "receive"),
    [("ExampleSend", "ExampleRecv"), ("ExampleSend", "_Recv"), ("_Send", "ExampleRecv")],
)
def test_they_meet_on_another_task(send: str, receive: str) -> None:
    cluster = {"worker": [f"127.0.0.1:{port}" for port in free_ports(2)]}
    with (
        Server(cluster, "worker", 0) as server,
        Server(cluster, "worker", 1),
        ds.Session(
            across(send, receive),
            ds.SessionConfig(target=server.target, deadline=20, optimizer="off"),
        ) as session,
    ):
        for value in (np.float32([1, 2]), np.linspace(-1, 1, 100_000, dtype=np.float32)):
            found = session.run(["y:0", "send"], {"x:0": value})[0]
            np.testing.assert_allclose(found, -np.tanh(value), rtol=1e-6)


def test_what_is_sent_to_somebody_else_is_not_waited_for() -> None:
    cluster = {"worker": [f"127.0.0.1:{port}" for port in free_ports(2)]}
    with (
        Server(cluster, "worker", 0) as server,
        Server(cluster, "worker", 1),
        ds.Session(
            across("ExampleSend", "ExampleRecv", DEVICES[0]),
            ds.SessionConfig(target=server.target, deadline=20, optimizer="off"),
        ) as session,
        pytest.raises(DrystoneError) as caught,
    ):
        session.run(["y:0", "send"], {"x:0": np.float32([1])})
    assert caught.value.code == "plugin-kernel-failed"
    assert "nothing will be sent" in str(caught.value)
