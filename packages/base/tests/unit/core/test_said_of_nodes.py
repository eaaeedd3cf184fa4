"""What is said of nodes that cannot run, and of kernels that fail inside."""

from __future__ import annotations

import copy
import pickle
from itertools import islice
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.api.session import Session, SessionConfig
from drystone_base.cli._health_runs import loop_graph, run_checks
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.executor import calling
from drystone_base.executor.calling import unexpected
from drystone_base.executor.plan import can_run
from drystone_base.ops import defs

EXECUTORS = ["native", "reference"]


class Node:
    node, op = "n", "MatMul"


class Stubborn(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("shapes (2,) and (3,) not aligned"), "ValueError: shapes (2,) and (3,) not"),
        (KeyError(), "KeyError"),
        (OSError(28, "No space left on device"), "OSError: [Errno 28] No space left on device"),
        (Stubborn(), "Stubborn: it cannot be told"),
        (ValueError("x" * 5000), "x... (5012 characters)"),
    ],
)
def test_what_a_kernel_raised_is_found_in_the_error(error: Exception, said: str) -> None:
    made = unexpected(Node(), [np.zeros((2, 3), np.float32)], error)  # type: ignore[arg-type]
    assert said in made.found
    assert "inputs: float32[2, 3]" in made.found
    assert said in made.fields()["found"], "also in JSON"
    assert len(str(made)) < 8 * calling._MOST_SAID


@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_op_without_kernel_names_all_that_lack_one(executor: Any) -> None:
    every = (defs.op_def(name) for name in defs.names() if not can_run(name))
    alone = (d.name for d in every if not d.inputs and all(a.has_default for a in d.attrs.values()))
    lacking = list(islice(alone, 3))
    assert len(lacking) == 3
    graph = ds.Graph()
    for name in lacking:
        graph.add(name, name.lower())
    graph.add("NoOp", "n", controls=list(graph))
    with pytest.raises(ds.DrystoneError) as caught:
        Session(graph, SessionConfig(executor=executor, optimizer="off")).run("n")
    error = caught.value
    assert error.code == "op-not-implemented", str(error)
    for name in lacking:
        assert name in error.found
    assert "known ops have one" in error.needed
    assert "docs/" not in str(error)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_name_of_a_frame_may_be_any_bytes(executor: Any) -> None:
    graph = loop_graph(10, "while\udcc4\x00context")
    data = graph.to_bytes()
    assert b"while\xc4\x00context" in data
    again = ds.Graph.from_bytes(data)
    session = Session(again, SessionConfig(executor=executor, optimizer="off"))
    assert int(session.run("result")) == 55


def test_doctor_runs_each_executor() -> None:
    names = {row["name"]: row for row in run_checks()}
    for executor in EXECUTORS:
        row = names[f"a small graph runs on the {executor} executor"]
        assert row["ok"]
        assert row["seconds"] > 0


def test_an_error_is_one_line_per_part() -> None:
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32})
    graph.add("Cast", "y", [(x, 0)], attrs={"SrcT": FLOAT32, "DstT": INT32})
    with pytest.raises(ds.BadRequest) as caught:
        Session(graph).run("y:0", {"x:0": object()})
    lines = str(caught.value).split("\n")
    assert lines[0].endswith(f"[{caught.value.code}]")
    labels = [line.split(":")[0].strip() for line in lines[1:5]]
    assert labels == ["check", "found", "needed", "remedy"]


@pytest.mark.parametrize(
    "error",
    [
        ds.BadRequest("what", check="c", found="f", needed="n", remedy="r", code="bad-argument"),
        ds.PluginError("what", plugin="p", path="/x", version="1", found="f"),
        ds.KernelError("what", status="RESOURCE_EXHAUSTED", inner=ValueError("inner")),
    ],
)
def test_an_error_crosses_to_another_process_whole(error: ds.DrystoneError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), repr(again)) == (str(error), repr(error))
    assert again.fields() == error.fields()
    assert again.code == error.code
    assert str(again.inner) == str(error.inner)
    assert copy.copy(error).fields() == error.fields()
