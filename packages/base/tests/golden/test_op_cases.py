"""Every recorded single-op case of ``shared/op_cases``, where that folder is present."""

import json
from typing import Any, TypeAlias

import numpy as np
import pytest
from oracle import difference
from shared_data import OP_CASES, WHY_NOT

from drystone_base import Graph, Session, infer

Array: TypeAlias = np.ndarray[Any, Any]
Feeds: TypeAlias = dict[str, Array]
INDEX = OP_CASES / "index.json"
SUMS = {"BatchMatMulV2", "Conv2D", "MatMul"}
"""Ops of long sums of products: what cancels leaves rounding of what there was."""
CASES: list[dict[str, Any]] = json.loads(INDEX.read_text()) if INDEX.exists() else []


@pytest.mark.skipif(not CASES, reason=WHY_NOT)
@pytest.mark.parametrize("op", sorted({c["op"] for c in CASES}))
def test_op_case(op: str) -> None:
    wrong = [
        f"{c['case']}: {problem}"
        for c in CASES
        if c["op"] == op and (problem := _problem(c)) is not None
    ]
    assert not wrong, "\n".join(wrong)


def _problem(case: dict[str, Any]) -> str | None:
    graph = Graph.from_bytes((OP_CASES / f"{case['case']}.pb").read_bytes())
    data = np.load(OP_CASES / f"{case['case']}.npz", allow_pickle=False)
    feeds = {name: data[name] for name in case["feeds"]}
    outputs = [f"op:{k}" for k in range(case["outs"])]
    got = Session(graph).run(outputs, {f"{k}:0": v for k, v in feeds.items()})
    given = {(graph[name], 0): tuple(v.shape) for name, v in feeds.items()}
    inferred = infer(graph, given=given, strict=True)
    for k, value in enumerate(got):
        want = data[f"out{k}"]
        worst = difference(_nearer(case, graph, feeds, np.asarray(value), want), want)
        if worst > 1e-4:
            return f"output {k} differs by {worst:.3g}"
        guess = inferred.shape((graph["op"], k))
        if guess is None or len(guess) != want.ndim:
            return f"output {k}: inferred {guess} for {want.shape}"
        if any(g >= 0 and g != w for g, w in zip(guess, want.shape, strict=True)):
            return f"output {k}: inferred {guess} for {want.shape}"
    return None


def _nearer(case: dict[str, Any], graph: Graph, feeds: Feeds, got: Array, want: Array) -> Array:
    """``got`` without the rounding that the order of a sum decides: 8 units of the sum of sizes.

    Libraries of matrix products choose the order by the processor, TensorFlow's as well as NumPy's.
    """
    if case["op"] not in SUMS or got.dtype != np.float32 or len(feeds) != 2:
        return got
    sizes = {f"{name}:0": np.abs(value) for name, value in feeds.items()}
    room = 8 * np.finfo(np.float32).eps * np.asarray(Session(graph).run(["op:0"], sizes)[0])
    apart = got.astype(np.float64) - want
    return np.asarray(want + np.sign(apart) * np.maximum(np.abs(apart) - room, 0), want.dtype)
