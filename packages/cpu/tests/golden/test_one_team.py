"""Loops between the layers of a network run on the threads that oneDNN's layers run on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import native_ops
import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr

HERE = Path(__file__).parent

pytestmark = [
    native_ops.needs_onednn(),
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc"),
]


def network(threads: int) -> Session:
    """A layer, then loops of ours: maxima, a sum of halves, and a mean."""
    native_ops.load()
    graph = Graph()
    weights = np.random.default_rng(5).normal(size=(3, 3, 16, 64)).astype(np.float32)
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    w = graph.add("Const", "w", attrs={"dtype": FLOAT32, "value": TensorAttr(array=weights)})
    strided: dict[str, Any] = {"T": FLOAT32, "padding": "SAME", "strides": [1, 1, 1, 1]}
    layer = graph.add("Conv2D", "layer", [x, w], attrs=strided)
    pool = graph.add("MaxPool", "pool", [layer], attrs=strided | {"ksize": [1, 3, 3, 1]})
    total = graph.add("AddV2", "total", [pool, layer], attrs={"T": FLOAT32})
    graph.add("Tanh", "y", [total], attrs={"T": FLOAT32})
    config = SessionConfig(optimizer="off", intra_op_threads=threads, inter_op_threads=1)
    return Session(graph, config)


def image() -> Any:
    return np.random.default_rng(6).normal(size=(1, 80, 80, 16)).astype(np.float32)


def count_threads() -> list[int]:
    """Threads of this process: after the layer alone, then after all, on two threads."""
    session, feeds = network(2), {"x:0": image()}
    counts = []
    for fetch in ("layer:0", "y:0"):
        for _ in range(3):
            session.run(fetch, feeds)
        counts.append(len(os.listdir("/proc/self/task")))
    return counts


def test_no_other_threads_are_started() -> None:
    """In one of three processes: beside busy ones a loop may begin a thread of the host's pool."""
    counts = [_counted()]
    while counts[-1][0] != counts[-1][1] and len(counts) < 3:
        counts.append(_counted())
    layer, everything = counts[-1]
    assert layer > 1
    assert everything == layer, counts


def _counted() -> list[int]:
    """What ``count_threads`` gives in a process of its own."""
    program = f"""
import json, sys
sys.path[:0] = {[str(HERE), *sys.path]!r}
import test_one_team as tests
print(json.dumps(tests.count_threads()))
"""
    environment = {**os.environ, "DRYSTONE_NUM_THREADS": "2"}
    environment.pop("OMP_THREAD_LIMIT", None)  # with which there is no team
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, timeout=300,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    counts: list[int] = json.loads(done.stdout)
    return counts


def test_as_on_one_thread() -> None:
    feeds = {"x:0": image()}
    alone, shared = network(1), network(2)
    for _ in range(3):
        np.testing.assert_array_equal(shared.run("y:0", feeds), alone.run("y:0", feeds))
