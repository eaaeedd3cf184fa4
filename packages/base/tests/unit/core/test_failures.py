"""Runs that fail, on both executors: the same codes, clear texts, and a session that goes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import FunctionDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.core.errors import DrystoneError, KernelError
from drystone_base.graph import Graph
from drystone_base.host import available
from drystone_base.host.library import open_library
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr
from drystone_base.ops.defs import ArgDef, OpDef, register

EXECUTORS = ["reference", *(["native"] if available() else [])]
both = pytest.mark.parametrize("executor", EXECUTORS)


def session(graph: Graph, executor: Any, **config: Any) -> Session:
    return Session(graph, SessionConfig(executor=executor, optimizer="off", **config))


def failure(running: Session, fetch: str, feeds: dict[str, Any] | None = None) -> DrystoneError:
    """The error of a run, which says what failed, why, what was needed, and what helps."""
    with pytest.raises(DrystoneError) as caught:
        running.run(fetch, feeds)
    error = caught.value
    assert error.what
    assert error.check
    assert error.found
    assert error.needed
    assert error.remedy
    return error


def with_sum(graph: Graph) -> Graph:
    """The graph with x and x + x beside what fails."""
    x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32, "shape": None})
    graph.add("AddV2", "sum", [(x, 0), (x, 0)], attrs={"T": dtypes.FLOAT32})
    return graph


def still_works(running: Session) -> None:
    assert running.run("sum:0", {"x:0": np.float32(2)}) == 4


def constant(graph: Graph, name: str, value: Any, dtype: Any) -> Any:
    array = TensorAttr(array=np.asarray(value, dtype.np))
    return (graph.add("Const", name, attrs={"dtype": dtype, "value": array}), 0)


@both
def test_wrong_shapes(executor: str) -> None:
    graph = with_sum(Graph())
    for name in "ab":
        graph.add("Placeholder", name, attrs={"dtype": dtypes.FLOAT32, "shape": None})
    graph.add("MatMul", "y", [graph["a"], graph["b"]], attrs={"T": dtypes.FLOAT32})
    running = session(graph, executor)
    wrong = np.ones((2, 3), np.float32)
    error = failure(running, "y:0", {"a:0": wrong, "b:0": wrong})
    assert error.what.startswith("node 'y' (MatMul) failed")
    assert error.status == "INVALID_ARGUMENT"
    assert running.run("y:0", {"a:0": wrong, "b:0": wrong.T}).tolist() == [[3, 3], [3, 3]]
    still_works(running)


@both
def test_more_memory_than_there_is(executor: str) -> None:
    graph = with_sum(Graph())
    dims = constant(graph, "dims", [1 << 30, 1 << 20], dtypes.INT64)
    value = constant(graph, "value", 1, dtypes.FLOAT32)
    attrs = {"T": dtypes.FLOAT32, "index_type": dtypes.INT64}
    fill = graph.add("Fill", "big", [dims, value], attrs=attrs)
    graph.add("Neg", "y", [(fill, 0)], attrs={"T": dtypes.FLOAT32})
    running = session(graph, executor)
    error = failure(running, "y:0")
    assert error.status == "RESOURCE_EXHAUSTED"
    assert "node '" in error.what
    still_works(running)


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@both
def test_memory_that_runs_out(executor: str) -> None:
    """A process of little memory: a loop that doubles its tensor ends in an error, and goes on."""
    program = Path(__file__).parents[1] / "data" / "runs_out_of_memory.py"
    done = subprocess.run(
        [sys.executable, str(program), executor],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["RESOURCE_EXHAUSTED True", "[2.0, 4.0]"]


def endless() -> Graph:
    """A While of functions that goes on for ever."""
    graph = with_sum(Graph())
    for name, dtype, node in (("always", dtypes.BOOL, "Const"), ("same", dtypes.FLOAT32, "Neg")):
        proto = FunctionDef()
        proto.signature.name = name
        proto.signature.input_arg.add(name="x", type=dtypes.FLOAT32.number)
        proto.signature.output_arg.add(name="y", type=dtype.number)
        made = proto.node_def.add(name="n", op=node)
        if node == "Const":
            made.attr["dtype"].CopyFrom(encode_attr(dtype))
            made.attr["value"].CopyFrom(encode_attr(TensorAttr(array=np.array(True))))
        else:
            made.input.append("x")
            made.attr["T"].CopyFrom(encode_attr(dtype))
        proto.ret["y"] = "n:output:0" if node == "Const" else "n:y:0"
        graph.functions.add(proto)
    attrs = {"T": [dtypes.FLOAT32], "cond": FunctionRef("always", {})}
    graph.add("While", "loop", [graph["x"]], attrs=attrs | {"body": FunctionRef("same", {})})
    return graph


@both
def test_a_deadline(executor: str) -> None:
    running = session(endless(), executor, deadline=0.2)
    error = failure(running, "loop:0", {"x:0": np.float32(1)})
    assert (error.code, error.status) == ("deadline-exceeded", "DEADLINE_EXCEEDED")
    still_works(session(running.graph, executor))
    again = failure(running, "loop:0", {"x:0": np.float32(1)})
    assert again.code == "deadline-exceeded"


@pytest.mark.skipif(not available(), reason="the host library is not built")
@both
def test_a_kernel_that_throws(executor: str, compile_library: Callable[..., Path]) -> None:
    out = ArgDef("y", dtypes.FLOAT32, "", "", "", False)
    register(OpDef("Throws3", outputs=(out,)))
    path = compile_library("kernels_throws.cc", flags=["-DWHERE=3"])
    open_library(path).initialise("TF_InitKernel")
    graph = with_sum(Graph())
    graph.add("Throws3", "y")
    running = session(graph, executor)
    error = failure(running, "y:0")
    assert isinstance(error, KernelError)
    assert (error.code, error.status) == ("plugin-kernel-failed", "INTERNAL")
    assert error.what == f"node 'y' (Throws3) failed in kernel 'Thrower' of {path}"
    assert "thrown by the plugin" in error.found
    still_works(running)
