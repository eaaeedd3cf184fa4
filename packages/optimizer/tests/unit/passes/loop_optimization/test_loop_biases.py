"""A bias that a loop adds to each element of a list is added before the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from list_loops import list_loop, ops_of_body
from pass_checks import (
    Maker,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    node,
    run_pass,
)

from drystone_base.core.dtypes import FLOAT32

LOOP = "loop_optimization"
MOVED = {"hoist-bias": 1}
WIDTH = 4
F: dict[str, Any] = {"T": FLOAT32}


SUM = node("AddV2", "inner", "h", "read:item:0", **F)


def recurrent(
    *more: Any, of_sum: bool = True, rows: Any = (-1, -1, WIDTH), bias: Any = (WIDTH,),
    carried: dict[str, str] | None = None, added: str = "b", **attrs: Any,
) -> Maker:  # fmt: skip
    """A loop of ``h = tanh(h + x[t] + b)``, or without ``h`` in the sum."""
    steps = [
        *([SUM] if of_sum else []),
        node("BiasAdd", "biased", "inner:z:0" if of_sum else "read:item:0", added, **F, **attrs),
        node("Tanh", "state", "biased:output:0", **F),
        *more,
    ]
    ends = {"h": "state:y:0"} | (carried or {})
    return list_loop(steps, ends, "b", rows=rows, depth=WIDTH, shape=bias)


def fed(*, times: int = 5, length: int = 5, batch: int = 2, state: int = 2) -> dict[str, Any]:
    random = np.random.default_rng(length)
    made = {"x:0": (length, batch, WIDTH), "h:0": (state, WIDTH), "b:0": (WIDTH,)}
    arrays = {k: random.standard_normal(s).astype(np.float32) for k, s in made.items()}
    return {**arrays, "times:0": np.int32(times)}


FEEDS = list(fed())


@pytest.mark.parametrize("of_sum", [True, False])
def test_biases_go_before_the_loop(of_sum: bool) -> None:
    m = recurrent(of_sum=of_sum)
    before = m.graph.to_bytes()
    after, report = run_pass(m.graph, LOOP, ["y:0"], FEEDS)
    assert report.steps[0].rewrites == MOVED
    assert m.graph.to_bytes() == before, "the given graph was changed"
    assert "BiasAdd" not in ops_of_body(after)
    assert "held" not in after
    [biased] = [n for n in after if n.op == "BiasAdd"]
    assert [source.name for source, _ in biased.inputs] == ["x", "b"]
    for given in (fed(), fed(times=0), fed(times=2, batch=1), fed(state=1), fed(batch=0, state=1)):
        assert_same_values(m.graph, after, ["y:0"], given, exact=False)
    assert_same_natively(m.graph, after, ["y:0"], fed())


READ = node("Neg", "again", "read:item:0", **F)
READ_SUM = node("Neg", "again", "inner:z:0", **F)
OTHER_BIAS = node("Neg", "changed", "b", **F)


@pytest.mark.parametrize(
    "made",
    [
        {"rows": None},
        {"rows": (-1, -1, -1)},
        {"rows": (-1, WIDTH)},
        {"rows": (-1, -1, 1), "bias": (1,)},
        {"bias": (-1,)},
        {"bias": None},
        {"bias": (1,)},
        {"carried": {"b": "changed:y:0"}, "more": OTHER_BIAS},
        {"added": "changed:y:0", "more": OTHER_BIAS},
        {"more": READ},
        {"more": READ_SUM},
        {"data_format": "NCHW"},
        {"more": node("NoOp", "waits", "^read")},
        {"more": node("NoOp", "waits", "^inner")},
        {"more": node("NoOp", "waits", "^biased")},
    ],
    ids=str,
)
def test_other_bodies_stay(made: dict[str, Any]) -> None:
    more = [made.pop("more")] if "more" in made else []
    assert_unchanged(recurrent(*more, **made), LOOP, ["y:0"], FEEDS)


def test_a_list_that_is_read_after_the_loop_stays() -> None:
    m = recurrent()
    m.op("TensorListLength", "length", "loop:3")
    assert_unchanged(m, LOOP, ["y:0", "length:0"], FEEDS)


def test_exact_sessions_leave_it() -> None:
    assert_unchanged(recurrent(), LOOP, ["y:0"], FEEDS, numeric="exact")
