"""Tasks on hosts with addresses of their own: network namespaces, joined by a pair of veth."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from drystone_network import ClusterSpec

HELPERS = Path(__file__).parents[2]
ADDRESSES: Final = ("10.213.77.1", "10.213.77.2")
PORT: Final = 2222

CLIENT = """
import sys
sys.path[:0] = [{tests!r}]
import numpy as np
from clusters import there_and_back
import drystone_base as ds
from drystone_base.core.errors import DrystoneError
x = np.linspace(-1, 1, 50_000, dtype=np.float32)
want = np.tanh(x) * 3 + np.tanh(x)
sessions = {{
    seconds: ds.Session(there_and_back(), ds.SessionConfig(target={target!r}, deadline=seconds))
    for seconds in (60.0, 2.0)
}}
for line in sys.stdin:
    try:
        found = sessions[float(line)].run("y:0", {{"x:0": x}})
        print("ok" if np.allclose(found, want, atol=1e-5) else "wrong", flush=True)
    except DrystoneError as error:
        print(error.code, repr([error.what, error.found]), flush=True)
"""


def ip(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


class Hosts:
    """Two of them."""

    def __init__(self) -> None:
        self.names = [f"drystone-{os.getpid()}-{k}" for k in range(2)]
        self.begun: list[subprocess.Popen[str]] = []

    def make(self) -> str:
        """Make them; why that cannot be, else nothing."""
        ends = [f"ds{os.getpid()}{k}" for k in "ab"]
        steps = [["netns", "add", name] for name in self.names]
        steps.append(["link", "add", ends[0], "type", "veth", "peer", "name", ends[1]])
        for name, end, address in zip(self.names, ends, ADDRESSES, strict=True):
            steps.append(["link", "set", end, "netns", name])
            inside = ["-n", name]
            steps.append([*inside, "link", "set", end, "name", "eth0"])
            steps.append([*inside, "addr", "add", f"{address}/30", "dev", "eth0"])
            steps += [[*inside, "link", "set", device, "up"] for device in ("lo", "eth0")]
        for step in steps:
            try:
                done = ip(*step)
            except OSError as error:
                return str(error)
            if done.returncode:
                return f"ip {' '.join(step)}: {done.stderr.strip()}"
        return ""

    def start(self, host: int, *command: str, **more: Any) -> subprocess.Popen[str]:
        """A Python program on one of them."""
        whole = ["ip", "netns", "exec", self.names[host], sys.executable, *command]
        settings = {"DRYSTONE_CLUSTER_TOKEN": "secret", "DRYSTONE_PLUGINS_DISABLE": "cpu"}
        started = subprocess.Popen(whole, env=os.environ | settings, text=True, **more)
        self.begun.append(started)
        return started

    def cable(self, state: str) -> None:
        """Plug the second host in (``up``) or out (``down``)."""
        assert ip("-n", self.names[1], "link", "set", "eth0", state).returncode == 0

    def close(self) -> None:
        """End what runs on them, and them."""
        for one in self.begun:
            one.kill()
            one.communicate()
        for name in self.names:
            ip("netns", "del", name)


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    made = Hosts()
    try:
        why = made.make()
        if why:
            pytest.skip(f"no network namespaces can be made here: {why}")
        yield made
    finally:
        made.close()


def test_tasks_on_two_hosts(hosts: Hosts, tmp_path: Path) -> None:
    """Values go between them; without its cable a task is named by the run that ends in time."""
    spec = ClusterSpec({"worker": [f"{address}:{PORT}" for address in ADDRESSES]})
    file = tmp_path / "cluster.json"
    file.write_text(spec.to_json())
    for k, address in enumerate(ADDRESSES):
        worker = ["-m", "drystone_base", "worker", "--cluster", str(file), "--task", str(k)]
        hosts.start(k, *worker, "--bind", address if k else "0.0.0.0")
    program = CLIENT.format(tests=str(HELPERS), target=f"grpc://{ADDRESSES[0]}:{PORT}")
    client = hosts.start(0, "-c", program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(deadline: float) -> str:
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write(f"{deadline}\n")
        client.stdin.flush()
        return client.stdout.readline().strip()

    assert run(60) == "ok"
    run(2)  # so that the tasks have the graph of this session, too
    hosts.cable("down")
    start = time.monotonic()
    said = run(2)
    assert time.monotonic() - start < 8
    assert said.split()[0] in ("deadline-exceeded", "task-lost", "task-unreachable")
    assert "task:1" in said
    hosts.cable("up")
    until = time.monotonic() + 60
    while (said := run(60)) != "ok":
        assert time.monotonic() < until, said
        time.sleep(0.5)
