"""Long kernels end with their run, weights are packed once, and little memory or no threads do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import native_ops
import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import KernelError
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr

HERE = Path(__file__).parent
SLACK = 5.0
"""Seconds that others of this machine may take; alone it is half a second."""

WITHOUT_THREADS = """
#include <errno.h>
#include <pthread.h>
int pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*f)(void*), void* p) {
  return EAGAIN;
}
"""

NETWORK = """
import os, resource, sys
import numpy as np
import native_ops
from test_bounds import convolutions
import drystone_base.core.errors as errors

megabytes = int(sys.argv[1])
native_ops.load()
if megabytes:
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
try:
    session = convolutions(int(sys.argv[2]), 2)
    side = int(sys.argv[3])
    y = session.run("y:0", {"x:0": np.ones((1, side, side, 64), np.float32)})
    print("fine", float(y.sum()) > 0)
except errors.DrystoneError as error:
    print("refused", error.code, flush=True)
except MemoryError:  # of NumPy's ones
    print("refused memory", flush=True)
"""


def convolutions(layers: int, threads: int = 1) -> Session:
    """Layers with weights that the optimizer leaves as they are, and three names for the last."""
    native_ops.load()
    graph = Graph()
    random = np.random.default_rng(3)
    last = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    attrs: dict[str, Any] = {"T": FLOAT32, "padding": "SAME", "strides": [1, 1, 1, 1]}
    for k in range(layers):
        weights = np.abs(random.normal(size=(3, 3, 64, 64)).astype(np.float32)) / 600
        w = graph.add(
            "Const", f"w{k}", attrs={"dtype": FLOAT32, "value": TensorAttr(array=weights)}
        )
        last = graph.add("Conv2D", f"c{k}", [last, w], attrs=attrs)
    for name in ("y", "y1", "y2"):
        graph.add("Sqrt", name, [last], attrs={"T": FLOAT32})
    config = SessionConfig(optimizer="off", intra_op_threads=threads, inter_op_threads=1)
    return Session(graph, config)


def in_process(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(HERE), *sys.path])
    variables = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", **environment}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", NETWORK, *map(str, words)],
        env=variables, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize("op", ["TopKV2", "MatMul", "Tanh"])
def test_a_long_kernel_ends_with_its_run(op: str) -> None:
    native_ops.load()
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    if op == "TopKV2":
        k = TensorAttr(array=np.array(20_000_000, np.int32))
        inputs: list[Any] = [x, graph.add("Const", "k", attrs={"dtype": INT32, "value": k})]
        feed = np.random.default_rng(0).random(20_000_000, np.float32)
    else:
        inputs = [x, x] if op == "MatMul" else [x]
        feed = np.ones((6000, 6000) if op == "MatMul" else 30_000_000, np.float32)
    graph.add(op, "y", inputs, attrs={"T": FLOAT32})
    deadline = 0.01 if op == "Tanh" else 0.05  # less than a fast machine needs for the op
    session = Session(graph, SessionConfig(deadline=deadline, optimizer="off"))
    start = time.monotonic()
    with pytest.raises(KernelError) as caught:
        session.run("y:0", {"x:0": feed})
    assert caught.value.code == "deadline-exceeded"
    assert time.monotonic() - start < SLACK


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@native_ops.needs_onednn()
def test_plans_share_packed_weights() -> None:
    session = convolutions(40)  # 5.9 MB of weights
    feeds = {"x:0": np.ones((1, 8, 8, 64), np.float32)}
    wanted = session.run("y:0", feeds)
    before = resident()
    for fetches in (["y1:0"], ["y2:0"], ["y:0", "y1:0"], ["y:0", "y2:0"], ["y2:0", "y1:0"]):
        for found in session.run(fetches, feeds):
            np.testing.assert_array_equal(found, wanted)
    assert resident() - before < 12 << 20  # packed again by each they would be 30 MB


def test_sizes_from_data_are_held_against_the_memory_there_is() -> None:
    native_ops.load()
    graph = Graph()
    i = graph.add("Placeholder", "i", attrs={"dtype": INT32, "shape": None})
    d = graph.add("Placeholder", "d", attrs={"dtype": FLOAT32, "shape": None})
    graph.add("DynamicStitch", "y", [i, d], attrs={"N": 1, "T": FLOAT32})
    feeds = {"i:0": np.array([0x7FFFFFFE], np.int32), "d:0": np.ones((1, 1000), np.float32)}
    texts = []
    for executor in ("native", "reference"):
        with pytest.raises(
            KernelError, match="a tensor must fit in this machine's memory"
        ) as caught:
            Session(graph, SessionConfig(executor=executor)).run("y:0", feeds)
        error = caught.value
        assert error.status == "RESOURCE_EXHAUSTED"
        texts.append((error.what, error.check, error.needed, error.remedy))
    assert texts[0] == texts[1]


AT_NIGHT = [pytest.param(size, marks=pytest.mark.nightly) for size in (500, 900, 1400, 4000)]


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("megabytes", [0, 700, 2500, *AT_NIGHT])
def test_little_address_space(megabytes: int) -> None:
    for layers, side in ((1, 16), (30, 64), (2, 1200)):
        done = in_process(megabytes, layers, side)
        assert done.returncode == 0, (layers, side, done.stdout, done.stderr[-1500:])
        assert done.stdout.startswith(("fine True", "refused "))
        if megabytes == 0:
            assert done.stdout.startswith("fine True")


def test_without_threads(tmp_path: Path) -> None:
    source = tmp_path / "without_threads.c"
    source.write_text(WITHOUT_THREADS)
    library = tmp_path / "without_threads.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = in_process(0, 3, 64, LD_PRELOAD=str(library), DRYSTONE_NUM_THREADS="4")
    assert done.stdout.startswith("fine True"), done.stderr[-1500:]
