"""The suite for network transports holds over UCX: everything it has, TCP and shared memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.plugins import ensure_loaded
from drystone_network import Engine, Server


@pytest.fixture(scope="module")
def library() -> Path:
    """The library of the installed wheel."""
    (found,) = [one for one in files("drystone-net-ucx") or [] if one.suffix == ".so"]
    return Path(str(found.locate()))


@pytest.mark.parametrize("scheme", ["ucx", "ucx+tcp", "ucx+shm"])
def test_it_conforms(library: Path, scheme: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        f"[{scheme}] or [{scheme}-",
    ]
    command += ["--pyargs", "drystone_conformance.suites.test_network"]
    command += ["--plugin", str(library), "--plugin-report", str(report)]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=400,
        env=os.environ | {"DRYSTONE_DEVELOPER_MODE": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    counts = json.loads(report.read_text("utf-8"))["counts"]
    assert counts["passed"] >= 18
    assert counts.get("skipped", 0) <= 1  # that of 2 GiB


@pytest.mark.parametrize("scheme", ["ucx", "ucx+tcp", "ucx+shm"])
def test_a_graph_on_two_tasks(scheme: str, free_ports: list[int]) -> None:
    ensure_loaded()
    cluster = {"worker": [f"127.0.0.1:{port}" for port in free_ports]}
    kind = ds.as_dtype("float32")
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", device="/job:worker/task:0", attrs={"dtype": kind})
    there = graph.add("Neg", "there", [x], device="/job:worker/task:1", attrs={"T": kind})
    graph.add("Neg", "back", [there], device="/job:worker/task:0", attrs={"T": kind})
    with (
        Server(cluster, "worker", 0, transport=scheme) as server,
        Server(cluster, "worker", 1, transport=scheme),
        ds.Session(graph, ds.SessionConfig(target=server.target, deadline=30)) as session,
    ):
        for value in (np.array([1, 2], np.float32), np.arange(1 << 20, dtype=np.float32)):
            assert np.array_equal(session.run("back:0", {"x:0": value}), value)


_SIGNALS = """
import ctypes, faulthandler, signal
from drystone_base.plugins import ensure_loaded
from drystone_network import Engine
faulthandler.enable()
for number in (signal.SIGHUP, signal.SIGABRT, signal.SIGUSR1):
    signal.signal(number, lambda *_: None)
def handler(number):
    action = ctypes.create_string_buffer(512)
    ctypes.CDLL(None).sigaction(number, None, action)
    return number, action.raw[:8]
def caught():
    with open("/proc/self/status") as status:
        masks = [line for line in status if line.startswith(("SigBlk", "SigCgt", "SigIgn"))]
    return masks, [handler(k) for k in range(1, 32)]
ensure_loaded()
before = caught()
with Engine("ucx"):
    assert caught() == before, (before, caught())
"""


def test_signals_stay_the_programs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


_PEER = """
import sys
from drystone_base.plugins import ensure_loaded
from drystone_network import Engine
ensure_loaded()
engine = Engine(sys.argv[1])
engine.send(engine.connect(sys.argv[1]), (1, 1), [b"here"])
while True:
    engine.progress(1)
"""


@pytest.mark.parametrize("scheme", ["ucx+tcp", "ucx+shm"])
def test_a_peer_that_stops_keeps_nobody(scheme: str) -> None:
    """One that is stopped and then killed, with a message of 8 MiB on its way to it."""
    ensure_loaded()
    with Engine(scheme) as engine:
        address = engine.listen(f"{scheme}://127.0.0.1:0")
        peer = subprocess.Popen([sys.executable, "-c", _PEER, address])
        try:
            engine.receive(tag=(1, 1))
            events: list[Any] = []
            while not any(e.kind == "received" for e in events):
                events += engine.progress(5)
            (number,) = {e.peer for e in events}
            peer.send_signal(signal.SIGSTOP)
            token = engine.send(number, (2, 2), [np.ones(8 << 20, np.uint8)])
            peer.kill()
            begin, events = time.monotonic(), []
            while not any(e.kind == "lost" for e in events):
                events += engine.progress(5)
            assert time.monotonic() - begin < 2
            assert [(e.kind, e.code) for e in events if e.token == token] == [
                ("sent", "UNAVAILABLE")
            ]
        finally:
            peer.kill()
            peer.wait()
