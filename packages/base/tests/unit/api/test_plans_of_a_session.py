"""A session keeps so many plans: those used last."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph

X = np.arange(3, dtype=np.float32)
EXECUTORS = ("native", "reference")


def session_of(executor: Any, plans: int = 3) -> Session:
    """`y0` to `y9`: x plus the number."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": [3]})
    for k in range(10):
        added = x if k == 0 else graph[f"y{k - 1}"]
        graph.add("AddV2", f"y{k}", [added, x], attrs={"T": FLOAT32})
    return Session(graph, SessionConfig(executor=executor, plans=plans))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_no_more_than_so_many(executor: str) -> None:
    session = session_of(executor)
    for round_ in range(2):
        for k in range(10):
            found = session.run([f"y{k}:0", "y0:0"], {"x:0": X})
            np.testing.assert_array_equal(found[0], X * (k + 2), err_msg=f"{round_} {k}")
            assert len(session._prepared) <= 3


@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_order_of_fetches_makes_no_plan(executor: str) -> None:
    session = session_of(executor)
    names = ["y1:0", "y2:0", "y3:0"]
    for fetches in (names, names[::-1], [*names, "y2:0"], {"a": "y3:0", "b": ["y1:0", "y2:0"]}):
        session.run(fetches, {"x:0": X})
    assert len(session._prepared) == 1
    back = session.run(["y3:0", "y1:0", "y3:0"], {"x:0": X})
    np.testing.assert_array_equal(back, [X * 5, X * 3, X * 5])
    call = session.make_callable(["y3:0", "y1:0"], ["x:0"])
    np.testing.assert_array_equal(call(X), [X * 5, X * 3])
    assert len(session._prepared) == 2


def test_one_that_is_called_past_the_table_is_not_the_oldest() -> None:
    session = session_of("native")
    session.run("y1:0", {"x:0": X})  # from now on without a look at the table
    for k in range(2, 10):
        session.run("y1:0", {"x:0": X})
        session.run(f"y{k}:0", {"x:0": X})
    kept = [key[0] for key in session._prepared._plans]
    assert ("y1:0",) in kept
    assert len(kept) == 3
    assert set(session._prepared.quick) <= {(*fetches, "x:0") for fetches in kept}


def test_calls_outlive_their_plan_in_the_table() -> None:
    session = session_of("native", plans=1)
    call = session.make_callable("y1:0", ["x:0"])
    session.run("y2:0", {"x:0": X})
    np.testing.assert_array_equal(call(X), X * 3)


@pytest.mark.parametrize("plans", [0, -1, "many", None, 1.5])
def test_numbers_that_mean_nothing_are_refused(plans: Any) -> None:
    with pytest.raises(BadRequest, match="plans"):
        SessionConfig(plans=plans)


def test_operations_among_the_fetches_have_no_value_in_any_call() -> None:
    """Also from the second call on, which takes a shorter way."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    graph.add("Abs", "z", [x], attrs={"T": FLOAT32})
    graph.add("NoOp", "step", controls=[graph["y"]])
    session = Session(graph)
    fetches = ["z:0", "step", "y:0"]
    call = session.make_callable(fetches, ["x:0"])
    alone = session.make_callable("step", ["x:0"])
    for k in range(3):
        given = np.float32([1, -k])
        for z, step, y in (session.run(fetches, {"x:0": given}), call(given)):
            assert (z.tolist(), step, y.tolist()) == ([1, k], None, [-1, k])
        assert session.run("step", {"x:0": given}) is None
        assert alone(given) is None
        assert session.run({"a": "step", "b": ["y:0"]}, {"x:0": given})["a"] is None
        z, step, y = call(given.tolist())  # no array: the longer way
        assert (z.tolist(), step, y.tolist()) == ([1, k], None, [-1, k])
    for wrong in (np.ones(3, np.float32), "text"):
        with pytest.raises(BadRequest, match="fed to 'x'"):
            call(wrong)
