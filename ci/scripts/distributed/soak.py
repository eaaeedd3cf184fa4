"""Minutes of random kills: `python -m ci.scripts.distributed.soak [--minutes 30] [--seed 0]`.

Three workers, of which two are killed (SIGKILL) at random moments and started again. A client's
runs over two tasks must end within two seconds of a kill, with an error that names the task, and
give the right values before and after. Another session, on the task that is never killed, must not
notice. Memory, threads and open files of that task and of the client must stay flat; each turn
prints them, and the last lines say how it went, as the status does.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from socket import socket
from typing import Any, Final

import numpy as np

import drystone_base as ds
from ci.scripts.soak import ALLOCATOR
from ci.scripts.soak_report import Bounds, verdict
from drystone_base.core.errors import DrystoneError
from drystone_network import ClusterSpec

__all__ = ["main"]

TASKS: Final = 3
TURNS: Final = 15
MOST_SECONDS: Final = 2.0
_BACK: Final = 60.0
_LOST: Final = frozenset({"task-lost", "task-unreachable", "session-lost"})
_BOUNDS: Final = Bounds(rate=4.0, total=4.0, used=4.0)
"""MiB: for each worker that is started again gRPC makes threads and channels."""


class Cluster:
    """The workers, each a process."""

    def __init__(self, folder: Path) -> None:
        sockets = [socket() for _ in range(TASKS)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = [int(one.getsockname()[1]) for one in sockets]
        for one in sockets:
            one.close()
        self.spec = ClusterSpec({"worker": [f"127.0.0.1:{port}" for port in ports]})
        self.file = folder / "cluster.json"
        self.file.write_text(self.spec.to_json(), encoding="utf-8")
        self.log = folder / "workers.log"
        self.workers = [self.start(k) for k in range(TASKS)]

    def start(self, task: int) -> subprocess.Popen[bytes]:
        """Start a worker."""
        command = [sys.executable, "-m", "drystone_base", "worker", "--task", str(task)]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*command, "--cluster", str(self.file)], stdout=log, stderr=log,
                env=os.environ | {"DRYSTONE_PLUGINS_DISABLE": "cpu"},
            )  # fmt: skip

    def session(self, tasks: Sequence[int]) -> ds.Session:
        """A session whose graph goes through the tasks and back."""
        target = f"grpc://{self.spec.address(self.spec.tasks()[0])}"
        return ds.Session(_graph(tasks), ds.SessionConfig(target=target, deadline=20.0))

    def close(self) -> None:
        """End them all."""
        for one in self.workers:
            one.kill()
            one.wait()


def _graph(tasks: Sequence[int]) -> ds.Graph:
    graph, kind = ds.Graph(), ds.as_dtype("float32")
    value = graph.add("Placeholder", "x", device="/job:worker/task:0", attrs={"dtype": kind})
    for k, task in enumerate([*tasks, 0]):
        name = "y" if k == len(tasks) else f"n{k}"
        device = f"/job:worker/task:{task}"
        value = graph.add("Tanh", name, [value], device=device, attrs={"T": kind})
    return graph


class Client(threading.Thread):
    """Runs a graph until it is told to stop; opens a new session when one has ended."""

    def __init__(self, cluster: Cluster, tasks: Sequence[int], seed: int) -> None:
        super().__init__(name=f"client of {list(tasks)}", daemon=True)
        self.cluster, self.tasks = cluster, tasks
        self.rng = np.random.default_rng(seed)
        self.over = False
        self.runs: Counter[str] = Counter()
        self.failed: list[tuple[float, str, str]] = []  # when, code and text: errors hold frames
        self.wrong: list[str] = []
        self.begun = 0.0

    def run(self) -> None:
        """The thread's work."""
        while not self.over:
            try:
                with self.cluster.session(self.tasks) as session:
                    self._use(session)
            except DrystoneError as error:
                self.failed.append((time.monotonic(), error.code, str(error)))
                self.runs[error.code] += 1
                if error.code not in _LOST:
                    self.wrong.append(f"{error.code}: {error}")
                time.sleep(0.1)

    def _use(self, session: ds.Session) -> None:
        while not self.over:
            x = self.rng.normal(size=int(self.rng.choice([1, 1000, 100_000]))).astype(np.float32)
            want = x
            for _ in range(len(self.tasks) + 1):
                want = np.tanh(want)
            self.begun = time.monotonic()
            found = session.run("y:0", {"x:0": x})
            self.begun = 0.0
            self.runs["ok"] += 1
            if not np.allclose(found, want, atol=1e-5):
                self.wrong.append(f"a value of {x.size} differs by {np.abs(found - want).max()}")


def _facts(pid: int) -> dict[str, float]:
    """Memory (MiB), threads and files of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return {
        "mib": int(found["VmRSS"].split()[0]) / 1024,
        "threads": float(found["Threads"]),
        "files": float(len(os.listdir(f"/proc/{pid}/fd"))),
    }


class Soak:
    """Kills, and what came of them."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster, self.rng = cluster, random.Random(seed)
        self.crossing = Client(cluster, [1, 2], seed)
        self.staying = Client(cluster, [0], seed + 1)
        self.clients = (self.crossing, self.staying)
        self.kills = 0
        self.waits: list[float] = []
        self.wrong: list[str] = []

    def turn(self, seconds: float) -> None:
        """Kill workers for so long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(self.rng.uniform(0.2, 3.0))
            self._kill(self.rng.choice([1, 2]))

    def _kill(self, task: int) -> None:
        client, worker = self.crossing, self.cluster.workers[task]
        runs, was_in_a_run = client.runs["ok"], client.begun > 0
        known = len(client.failed)
        start = time.monotonic()
        worker.kill()
        self.kills += 1
        while len(client.failed) == known and time.monotonic() < start + 10:
            time.sleep(0.005)
        if len(client.failed) == known:
            self.wrong.append(f"nobody was told that task {task} is gone, after {runs} runs")
        else:
            at, code, text = client.failed[known]
            self.waits.append(at - start)
            if was_in_a_run and at - start > MOST_SECONDS:
                self.wrong.append(f"{code} came {at - start:.1f} s after the kill")
            if f"task:{task}" not in text and f"task {task}" not in text:
                self.wrong.append(f"an error does not name task {task}: {text}")
        worker.wait()
        self.cluster.workers[task] = self.cluster.start(task)
        runs, back = client.runs["ok"], time.monotonic() + _BACK
        while client.runs["ok"] == runs and time.monotonic() < back:
            time.sleep(0.02)
        if client.runs["ok"] == runs:
            self.wrong.append(f"no run {_BACK:g} s after task {task} was started again")

    def findings(self) -> list[str]:
        """All that must not be."""
        staying = [f"a session that stays: {code}" for _, code, _ in self.staying.failed]
        return [*self.wrong, *staying, *(text for c in self.clients for text in c.wrong)]


def _sample(soak: Soak, pid: int, seconds: float) -> dict[str, Any]:
    runs = sum(c.runs["ok"] for c in soak.clients)
    common = {"runs": runs, "seconds": seconds, "findings": len(soak.findings())}
    return _facts(pid) | common


def _soak(soak: Soak, seconds: float) -> list[str]:
    """The verdicts over all turns, by whom they are about."""
    watched = {"task 0": soak.cluster.workers[0].pid, "the client": os.getpid()}
    samples: dict[str, list[dict[str, Any]]] = {name: [] for name in watched}
    start = time.monotonic()
    for turn in range(TURNS):
        soak.turn(seconds / TURNS)
        gc.collect()
        passed = time.monotonic() - start
        for name, pid in watched.items():
            samples[name].append(_sample(soak, pid, passed))
        shown = ", ".join(
            f"{name} {s['mib']:.0f} MiB {s['threads']:.0f} threads {s['files']:.0f} files"
            for name, s in ((name, found[-1]) for name, found in samples.items())
        )
        last = samples["task 0"][-1]
        said = f"{soak.kills} kills, {last['runs']} runs, {last['findings']} findings"
        print(f"turn {turn + 1} of {TURNS}: {said}; {shown}", flush=True)
    return [_judged(name, found) for name, found in samples.items()]


def _judged(name: str, samples: list[dict[str, Any]]) -> str:
    """What the samples say; threads and files of gRPC come and go with each kill."""
    memory = [{k: v for k, v in s.items() if k not in ("threads", "files")} for s in samples]
    return "\n  ".join([f"{name}:", *verdict(memory, _BOUNDS)["lines"]])


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak; 1 where something was found, or memory is not flat."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if any(os.environ.get(name) != value for name, value in ALLOCATOR.items()):
        words = ["-m", "ci.scripts.distributed.soak", *(arguments or sys.argv[1:])]
        os.execve(sys.executable, [sys.executable, *words], os.environ | ALLOCATOR)
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder))
        soak = Soak(cluster, given.seed)
        try:
            for client in soak.clients:
                client.start()
            begin = time.monotonic()
            while not all(c.runs["ok"] for c in soak.clients):
                if time.monotonic() > begin + _BACK:
                    raise SystemExit(
                        f"no run within {_BACK:g} s: {cluster.log.read_text()[-2000:]}"
                    )
                time.sleep(0.1)
            soak.staying.failed.clear()  # from before all workers were there
            soak.crossing.failed.clear()
            said = _soak(soak, given.minutes * 60)
        finally:
            for client in soak.clients:
                client.over = True
            for client in soak.clients:
                client.join(30)
            cluster.close()
    for text in (*said, *soak.findings()[:20]):
        print(text)
    waits = sorted(soak.waits) or [0.0]
    print(
        f"{soak.kills} kills; told after {waits[len(waits) // 2]:.2f} s, at most {waits[-1]:.2f} s"
    )
    failed = bool(soak.findings()) or any("NOT FLAT" in text for text in said)
    print(f"soak: {'failed' if failed else 'ok'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
