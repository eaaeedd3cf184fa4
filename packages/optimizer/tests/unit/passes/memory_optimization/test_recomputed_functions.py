"""Functions whose values are computed again for their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from pass_checks import run_pass

import drystone_base as ds
from drystone_base.tracing import operations as ops
from drystone_optimizer.core.context import Context
from drystone_optimizer.passes.memory_optimization.peak import peaks

PASS = "memory_optimization"
X = np.random.default_rng(9).normal(size=(512, 16)).astype(np.float32)


def step_of(again: bool, executor: str = "reference") -> tuple[ds.Function, list[ds.Variable]]:
    """The loss of six blocks and its gradients."""
    rng = np.random.default_rng(1)
    weights = [ds.Variable(rng.normal(size=(16, 16)) / 4, "w", dtype="float32") for _ in range(6)]

    def block(x: Any, w: Any) -> Any:
        return ops.tanh(ops.square(ops.tanh(x @ w)) + ops.sin(x))

    chosen = ds.recompute(block) if again else block

    @ds.function(config=ds.SessionConfig(executor=executor))
    def step(x: Any) -> Any:
        for w in weights:
            x = chosen(x, w)
        loss = (x * x).mean()
        return loss, ds.gradients(loss, weights)

    return step, weights


def peak(graph: ds.Graph) -> int:
    return peaks(Context(graph, frozenset(), frozenset(), {}))["CPU"].size


def test_gradients_are_the_same_and_less_is_held() -> None:
    found = []
    for again in (False, True):
        step, _ = step_of(again)
        found.append(step(X))
    assert found[0][0] == found[1][0]
    for a, b in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_array_equal(a, b)
    traced = step.newest()
    feeds = [f"{name}:0" for name in traced.inputs.values()]
    after, report = run_pass(traced.graph, PASS, list(traced.outputs.values()), feeds)
    assert report.steps[-1].rewrites == {"recompute": 12}
    assert peak(after) < 0.85 * peak(traced.graph)


def test_the_native_executor_gives_the_same() -> None:
    values = [step_of(again, "native")[0](X) for again in (False, True)]
    np.testing.assert_array_equal(values[0][1][0], values[1][1][0])


def test_without_gradients_nothing_is_computed_twice() -> None:
    @ds.function(config=ds.SessionConfig(executor="reference"))
    def forward(x: Any) -> Any:
        return ds.recompute(lambda v: ops.tanh(ops.sin(v)))(x)

    forward(X)
    with forward.newest().session.record() as record:
        forward(X)
    assert [node.op for node in record.nodes].count("Sin") == 1
    np.testing.assert_array_equal(ds.recompute(np.sin)(X), np.sin(X))
