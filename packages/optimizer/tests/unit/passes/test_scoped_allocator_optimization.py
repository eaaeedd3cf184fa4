"""Row C18, scoped_allocator_optimization: equal element-wise nodes run as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    as_lines,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    check,
    run_pass,
    told,
)

from drystone_abi.protos import RewriterConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_optimizer import OptimizerConfig, optimize_with_report

PASS = "scoped_allocator_optimization"
F = {"T": FLOAT32}
FEEDS = {"x:0": np.array([[1, -2, 3]], np.float32), "z:0": np.array([4, 5], np.float32)}
KEYS = {"group_size": 1, "group_key": 1, "merge_op": "Add", "final_op": "Id", "subdiv_offsets": [0]}


def reduced(op: str = "CollectiveReduce", second: Any = (2,), **more: Any) -> Maker:
    """Two nodes alike, of what is fed."""
    m = Maker()
    shared = KEYS if op == "CollectiveReduce" else {}
    keys = ({"instance_key": 1}, {"instance_key": 2}) if shared else ({}, {})
    m.op(op, "a", m.x(shape=(1, 3)), **shared, **keys[0], **F)
    m.op(op, "b", m.x("z", second), **{**shared, **keys[1], **F, **more})
    m.op("Neg", "y", "a", **F)
    m.op("Neg", "w", "b", **F)
    return m


FETCHES = ["y:0", "w:0"]
LINES = [
    "x = Placeholder()", "z = Placeholder()", "a/buffer = _ScopedAllocator()",
    "a/joined = _ScopedAllocatorConcat(a/buffer, x, z)",
    "a/together = CollectiveReduce(a/joined)",
    "a/apart = _ScopedAllocatorSplit(a/together, x, z)", "y = Neg(a/apart)", "w = Neg(a/apart:1)",
]  # fmt: skip


def test_c18_two_reductions_over_a_group_become_one() -> None:
    m = reduced()
    report = check(m, PASS, FETCHES, LINES, FEEDS)
    assert report.steps[-1].rewrites == {"merge-CollectiveReduce": 2}
    after, _ = run_pass(m.graph, PASS, FETCHES, list(FEEDS))
    assert_same_natively(m.graph, after, FETCHES, FEEDS)


def test_c18_the_list_of_ops_is_an_option() -> None:
    m = reduced("Tanh")
    assert_unchanged(m, PASS, FETCHES, list(FEEDS))
    after, _ = run_pass(m.graph, PASS, FETCHES, list(FEEDS), scoped_allocator_ops=("Tanh",))
    assert "a/together = Tanh(a/joined)" in as_lines(after)
    assert_same_natively(m.graph, after, FETCHES, FEEDS)
    report = assert_unchanged(m, PASS, FETCHES, list(FEEDS), scoped_allocator_ops=("Softmax",))
    assert "Softmax does not work element by element" in told(report, PASS)
    proto = RewriterConfig(scoped_allocator_optimization=RewriterConfig.ON)
    proto.scoped_allocator_opts.enable_op.append("Tanh")
    config = OptimizerConfig.from_proto(proto)
    assert config.is_on(PASS)
    assert config.scoped_allocator_ops == ("Tanh",)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"second": (-1,)}, "a tensor of unknown size"),
        ({"group_key": 7}, ""),
        ({"merge_op": "Max"}, ""),
        ({"device": "/device:CPU:1"}, ""),
    ],
)
def test_c18_nodes_that_differ_stay_apart(more: dict[str, Any], why: str) -> None:
    report = assert_unchanged(reduced(**more), PASS, FETCHES, list(FEEDS))
    assert told(report, PASS) == why


def test_c18_fetched_fed_and_dependent_nodes_stay() -> None:
    report = assert_unchanged(reduced(), PASS, [*FETCHES, "b:0"], list(FEEDS))
    assert told(report, PASS) == "a node must stay"
    assert_unchanged(reduced(), PASS, FETCHES, ["x:0", "b:0"])
    m = Maker()
    m.op("CollectiveReduce", "a", m.x(shape=(3,)), **KEYS, instance_key=1, **F)
    m.op("CollectiveReduce", "b", "a", **KEYS, instance_key=2, **F)
    m.op("Neg", "y", "b", **F)
    assert_unchanged(m, PASS, ["y:0"], ["x:0"])
    m = reduced()
    m.graph.add_control(m.graph["b"], m.graph["a"])
    assert_unchanged(m, PASS, FETCHES, list(FEEDS))


@pytest.mark.parametrize("seed", range(30))
def test_c18_random_rows_of_equal_ops_keep_every_bit(seed: int) -> None:
    rng, m = np.random.default_rng(seed), Maker()
    ops = ("Neg", "Abs", "Square", "Tanh", "Sigmoid", "CollectiveReduce", "Identity")
    feeds, ends = {}, []
    for row in range(int(rng.integers(2, 6))):
        shape = tuple(int(d) for d in rng.integers(0, 4, size=int(rng.integers(0, 3))))
        last = m.x(f"x{row}", shape)
        feeds[f"x{row}:0"] = rng.normal(size=shape).astype(np.float32)
        for k in range(int(rng.integers(1, 6))):
            op = (
                ops[(seed + k * k) % len(ops)]
                if not k or rng.random() < 0.8
                else str(rng.choice(ops))
            )
            more = {**KEYS, "instance_key": 9 * row + k} if op == "CollectiveReduce" else {}
            last = m.op(op, f"r{row}_{k}", last, **more, **F)
        ends.append(f"{m.op('Neg', f'y{row}', last, **F)[0].name}:0")
    after, _ = run_pass(m.graph, PASS, ends, list(feeds), scoped_allocator_ops=ops)
    assert "_ScopedAllocatorSplit" in {node.op for node in after}
    assert_same_values(m.graph, after, ends, feeds, exact=True)
    if seed % 6 == 0:
        assert_same_natively(m.graph, after, ends, feeds)


def test_c18_runs_once_after_the_last_iteration_and_only_when_asked_for() -> None:
    m = reduced()
    _, report = optimize_with_report(m.graph, FETCHES, list(FEEDS), OptimizerConfig())
    assert PASS not in {step.name for step in report.steps}
    config = OptimizerConfig(**{PASS: True}, min_graph_nodes=-1)  # type: ignore[arg-type]
    after, report = optimize_with_report(m.graph, FETCHES, list(FEEDS), config)
    assert "_ScopedAllocatorSplit" in {node.op for node in after}
    assert [step.name for step in report.steps][-3:] == [PASS, "layer_fusion", "elementwise_fusion"]
    assert sum(step.name == PASS for step in report.steps) == 1
