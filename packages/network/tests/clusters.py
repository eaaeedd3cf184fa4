"""Workers in processes of their own, and graphs that run on them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

import drystone_base as ds
from drystone_base.core.dtypes import as_dtype
from drystone_base.ops.attrs import TensorAttr
from drystone_network import ClusterSpec

FLOAT = as_dtype("float32")
A, B = "/job:worker/task:0", "/job:worker/task:1"


def free_ports(count: int) -> list[int]:
    """Ports that nobody listened at a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _stands_still(pid: int) -> bool:
    """Whether each thread of a process has stopped: what is running goes on for a moment."""
    states = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(text.rpartition(")")[2].split()[0] == "T" for text in states)


class Cluster:
    """Workers of one job, each a process; ``logs`` is where their output goes.

    ``files``: how many each may have open (0: as here). ``more``: of their environment.
    """

    def __init__(
        self, folder: Path, count: int = 2, *options: str, token: str = "", files: int = 0,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
        self.spec = ClusterSpec({"worker": addresses})
        self.file = folder / "cluster.json"
        self.file.write_text(self.spec.to_json())
        self.logs = folder
        self.options = options
        self.environment = os.environ | {
            "DRYSTONE_CLUSTER_TOKEN": token,
            "DRYSTONE_PLUGINS_DISABLE": "cpu",  # which takes long to load
            **more,
        }
        self.before = ["prlimit", f"--nofile={files}:{files}"] if files else []
        self.workers = [self.start(k) for k in range(count)]

    def start(self, task: int) -> subprocess.Popen[bytes]:
        """Start one of the workers."""
        command = [*self.before, sys.executable, "-m", "drystone_base", "worker"]
        command += ["--cluster", str(self.file)]
        with (self.logs / f"worker-{task}.log").open("ab") as log:
            return subprocess.Popen(
                [*command, "--task", str(task), *self.options],
                stdout=log, stderr=log, env=self.environment,
            )  # fmt: skip

    @property
    def target(self) -> str:
        """What a session's config names."""
        return f"grpc://{self.spec.address(self.spec.tasks()[0])}"

    def session(self, graph: ds.Graph, **settings: Any) -> ds.Session:
        """A session whose graph runs on the workers."""
        config = ds.SessionConfig(target=self.target, **({"deadline": 30.0} | settings))
        return ds.Session(graph, config)

    def kill(self, task: int, how: int = signal.SIGKILL) -> None:
        """Send a signal to a worker; one that is to stand still does so then."""
        worker = self.workers[task]
        worker.send_signal(how)
        until = time.monotonic() + 10
        while how == signal.SIGSTOP and not _stands_still(worker.pid):
            assert time.monotonic() < until, "a worker does not stop"
            time.sleep(0.005)

    def __enter__(self) -> Self:
        try:
            self.session(there_and_back(), deadline=60.0).close()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.workers:
            one.kill()
            one.wait()


class Parts:
    """A graph under construction, with nodes on tasks."""

    def __init__(self) -> None:
        self.graph = ds.Graph()

    def feed(self, name: str, device: str, shape: Any = None) -> ds.Node:
        """A placeholder of float32."""
        attrs = {"dtype": FLOAT, "shape": shape}
        return self.graph.add("Placeholder", name, device=device, attrs=attrs)

    def constant(self, name: str, device: str, value: Any) -> ds.Node:
        """A constant of float32."""
        array = np.asarray(value, np.float32)
        attrs = {"dtype": FLOAT, "value": TensorAttr(array=array)}
        return self.graph.add("Const", name, device=device, attrs=attrs)

    def op(self, op: str, name: str, device: str, *inputs: ds.Node, **attrs: Any) -> ds.Node:
        """A node whose ``T`` is float32."""
        return self.graph.add(op, name, list(inputs), device=device, attrs={"T": FLOAT} | attrs)


def there_and_back() -> ds.Graph:
    """``y = tanh(x) * 3 + tanh(x)``, of which the product is on the second task."""
    g = Parts()
    a = g.op("Tanh", "a", A, g.feed("x", A))
    m = g.op("Mul", "m", B, a, g.constant("three", B, 3.0))
    g.op("Add", "y", A, m, a)
    return g.graph


def endless() -> ds.Graph:
    """``y`` is ``x`` and the end of a loop on the second task that takes as good as for ever."""
    g = Parts()
    x = g.feed("x", A, ())
    begin = g.op("Enter", "enter", B, g.constant("zero", B, 0.0), frame_name="f")
    merge = g.op("Merge", "merge", B, begin, begin, N=2)
    limit = g.op("Enter", "limit", B, g.constant("most", B, 1e30), frame_name="f", is_constant=True)
    less = g.op("Less", "less", B, merge, limit)
    go = g.graph.add("LoopCond", "go", [less], device=B)
    switch = g.op("Switch", "switch", B, merge, go)
    one = g.op("Enter", "one", B, g.constant("step", B, 1e-9), frame_name="f", is_constant=True)
    added = g.graph.add("AddV2", "added", [(switch, 1), one], device=B, attrs={"T": FLOAT})
    following = g.op("NextIteration", "next", B, added)
    g.graph.set_input(merge, 1, (following, 0))
    g.op("AddV2", "y", A, x, g.op("Exit", "exit", B, switch))
    return g.graph


def wait_until(seconds: float, holds: Any) -> bool:
    """Whether something comes to hold within the time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.01)
    return bool(holds())
