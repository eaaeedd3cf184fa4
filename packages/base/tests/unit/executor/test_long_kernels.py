"""A deadline and Ctrl-C inside one long kernel: while it runs, while a plan is made, at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from drystone_base import Graph, KernelError, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.core.dtypes import from_numpy
from drystone_base.core.time_limits import OutOfTime, until
from drystone_base.kernels import Call, find_kernel
from drystone_base.kernels import evaluate as evaluating
from drystone_base.kernels.evaluate import evaluate
from drystone_base.ops.attrs import TensorAttr
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

SLACK = 8.0
"""Seconds that others of this machine may take; alone it is half a second."""


def words(count: int, length: int) -> Any:
    out = np.empty(count, object)
    out[:] = [(b"ab, c.d " * (length // 8))] * count
    return out


def session_of(op: str, feed: Any, more: list[Any], executor: Any, attrs: Any) -> Session:
    """One node, named y, of a placeholder x and constants."""
    graph = Graph()
    dtype = dtypes.STRING if feed.dtype == object else from_numpy(feed.dtype)
    given = [graph.add("Placeholder", "x", attrs={"dtype": dtype, "shape": None})]
    for k, value in enumerate(more):
        if value is None:
            given.append(given[0])
            continue
        kind = {"dtype": from_numpy(value.dtype), "value": TensorAttr(array=value)}
        given.append(graph.add("Const", f"c{k}", attrs=kind))
    graph.add(op, "y", given, attrs=attrs)
    return Session(graph, SessionConfig(deadline=0.05, executor=executor, optimizer="off"))


FLOAT = {"T": dtypes.FLOAT32}
LONG: dict[str, tuple[Callable[[], Any], list[Any], dict[str, Any]]] = {
    "MatMul": (lambda: np.ones((4000, 4000), np.float32), [None], FLOAT),
    "TopKV2": (lambda: np.random.default_rng(0).random(8_000_000, np.float32),
               [np.array(4_000_000, np.int32)], FLOAT),
    "Cumsum": (lambda: np.ones((12000, 6000), np.float32), [np.array(0, np.int32)], FLOAT),
    "FFT": (lambda: np.ones(5_999_993, np.complex64), [], {}),
    "Unique": (lambda: np.random.default_rng(1).integers(0, 1 << 40, 8_000_000), [],
               {"T": dtypes.INT64, "out_idx": dtypes.INT32}),
    "StaticRegexReplace": (lambda: words(1, 8_000_000), [],
                           {"pattern": "(a|b)+(,| )?", "rewrite": "<\\1>"}),
    "Svd": (lambda: np.random.default_rng(2).random((1800, 1800), np.float32), [], FLOAT),
}  # fmt: skip


@pytest.mark.cases_in_gate(2)
@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize("op", LONG)
def test_a_deadline_ends_a_run_in_a_long_kernel(
    op: str, executor: Literal["native", "reference"]
) -> None:
    feed, more, attrs = LONG[op]
    x = feed()
    session = session_of(op, x, more, executor, attrs)
    begin = time.monotonic()
    with pytest.raises(KernelError) as caught:
        session.run("y:0", {"x:0": x})
    assert caught.value.code == "deadline-exceeded"
    assert time.monotonic() - begin < SLACK


def test_a_large_node_does_not_hold_up_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def slow(call: Call, x: Any) -> Any:
        released.wait(30)
        return x

    monkeypatch.setattr(evaluating, "find_kernel", lambda _op: slow)
    large = np.zeros(1 << 17)
    begin = time.monotonic()
    with until(begin + 0.2), pytest.raises(OutOfTime):
        evaluate("n", "Neg", {"T": dtypes.FLOAT64}, [large], {}, 1)
    assert time.monotonic() - begin < SLACK
    released.set()
    (found,) = evaluate("n", "Neg", {"T": dtypes.FLOAT64}, [large], {}, 1)
    assert found is large


def test_what_a_large_node_raises_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(call: Call, x: Any) -> Any:
        raise ValueError("no such luck")

    monkeypatch.setattr(evaluating, "find_kernel", lambda _op: broken)
    for x in (words(1, 1 << 20), words(2000, 8), np.zeros(3)):  # in another thread, and in this
        with pytest.raises(ValueError, match="no such luck"):
            evaluate("n", "Identity", {"T": dtypes.STRING}, [x], {}, 1)


@pytest.mark.parametrize(
    ("op", "given", "attrs"),
    [
        ("RandomGamma", [0.5], {"S": dtypes.INT32, "T": dtypes.FLOAT32}),
        ("RandomPoissonV2", [9.0], {"dtype": dtypes.FLOAT32}),
        ("RandomPoissonV2", [90.0], {"dtype": dtypes.FLOAT32}),
        ("StatelessRandomBinomial", [np.int32([1, 2]), 9.0, 0.4], {"dtype": dtypes.FLOAT32}),
        ("StatelessRandomBinomial", [np.int32([1, 2]), 1e6, 0.4], {"dtype": dtypes.FLOAT32}),
    ],
)
def test_rejection_looks_at_the_time(op: str, given: list[Any], attrs: dict[str, Any]) -> None:
    """Also where nobody can interrupt it: in programs without Python's interrupts."""
    kernel = find_kernel(op)
    assert kernel is not None

    def call_until(ends: float) -> Any:
        runtime = Runtime(ResourceManager(), lambda *_: [], deadline=ends)
        call = Call("n", op, {"seed": 1, "seed2": 2, **attrs}, runtime, {}, 1)
        inputs = [np.asarray(v, np.float32) if isinstance(v, float) else v for v in given]
        return kernel(call, np.array([5], np.int32), *inputs)

    assert call_until(time.monotonic() + 100).shape == (5,)
    with pytest.raises(KernelError) as caught:
        call_until(time.monotonic() - 1)
    assert caught.value.code == "deadline-exceeded"
    assert f"node 'n' ({op})" in caught.value.what


PROGRAM = """
import signal, sys, threading, time
import numpy as np
from drystone_base import Graph, KernelError, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.kernels import evaluate as evaluating

signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
way = sys.argv[1]
try:
    if way == "prepared":
        evaluating.find_kernel = lambda op: lambda call, x: time.sleep(60)
        print("ready", flush=True)
        evaluating.evaluate("n", "Neg", {"T": dtypes.FLOAT64}, [np.zeros(1 << 17)], {}, 1)
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT64, "shape": None})
    graph.add("MatMul", "y", [x, x], attrs={"T": dtypes.FLOAT64})
    config = {"deadline": 0.1} if way == "late" else {}
    executor = "native" if way == "native" else "reference"
    session = Session(graph, SessionConfig(executor=executor, optimizer="off", **config))
    if way != "late":
        session.run("y:0", {"x:0": np.ones((2, 2))})
    large = np.ones((7000, 7000))
    print("ready", flush=True)
    session.run("y:0", {"x:0": large})
except KernelError as error:
    print("late", error.code, flush=True)
except KeyboardInterrupt as error:
    print("interrupted", *getattr(error, "__notes__", []), flush=True)
print("end", flush=True)
"""


@pytest.mark.cases_in_gate(4)
@pytest.mark.parametrize("way", ["prepared", "late", "reference", "native"])
def test_a_process_ends_though_a_kernel_goes_on(way: str) -> None:
    """In one long call of NumPy's, or of a library's that looks at nothing."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, way],
        stdout=subprocess.PIPE, text=True, env=environment,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        begin = time.monotonic()
        if way != "late":
            time.sleep(0.3)
            child.send_signal(signal.SIGINT)
        said = child.stdout.readline()
        assert time.monotonic() - begin < SLACK
        assert said.startswith("late deadline-exceeded" if way == "late" else "interrupted")
        if way == "reference":
            assert "the kernel of node 'y' (MatMul) has not returned" in said
        assert child.stdout.readline() == "end\n"
        begin = time.monotonic()
        assert child.wait(60) == 0
        assert time.monotonic() - begin < SLACK
