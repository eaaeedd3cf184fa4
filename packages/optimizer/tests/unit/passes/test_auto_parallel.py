"""Row C17, auto_parallel: several replicas of one training step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_unchanged, run_pass, told

from drystone_abi.protos import RewriterConfig
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_optimizer import OptimizerConfig

PASS = "auto_parallel"
F = {"T": FLOAT32}
X = {"x:0": np.array([3.0, -1.0, 2.0], np.float32)}
TWO: dict[str, Any] = {"auto_parallel_replicas": 2}


def step(rule: str = "ApplyGradientDescent", **more: Any) -> Maker:
    """``v -= 0.5 * (v - x)``, and a train op that waits for it."""
    m = Maker()
    m.op("VariableV2", "v", shape=(3,), dtype=FLOAT32, shared_name="", container="")
    m.op("Assign", "init", "v", m.const("begin", [1.0, 1.0, 1.0]), **F)
    m.op("Identity", "read", "v", **F)
    m.op("Sub", "grad", "read", m.x(shape=(3,)), **F, **more)
    rate = m.const("rate", 0.5)
    m.op(rule, "update", "v", rate, "grad", use_locking=False, **F)
    m.op("NoOp", "train", controls=["update"])
    return m


def trained(graph: Graph, steps: int, executor: str, **more: Any) -> Any:
    config = SessionConfig(executor=executor, optimizer="off", **more)  # type: ignore[arg-type]
    session = Session(graph, config)
    session.run(["init"], {})
    for _ in range(steps):
        session.run(["train"], X)
    return session.run("read:0", {})


@pytest.mark.parametrize("executor", ["reference", "native"])
def test_c17_two_replicas_make_the_same_step(executor: str) -> None:
    m = step()
    keep = ("init", "read")
    after, report = run_pass(m.graph, PASS, ["train"], ["x:0"], keep=keep, **TWO)
    lines = as_lines(after)
    twin = "AutoParallel-Replica-1/update"
    assert f"{twin} = ApplyGradientDescent(v, rate, {twin}/part, ^update/all_gradients)" in lines
    assert f"update = ApplyGradientDescent(v, rate, update/part, ^{twin})" in lines
    assert "update/all_gradients = NoOp(^AutoParallel-Replica-1/update/part, ^update/part)" in lines
    assert report.steps[-1].numeric == "approximate"
    want = trained(m.graph, 3, executor)
    np.testing.assert_allclose(trained(after, 3, executor), want, rtol=1e-6)
    again, report = run_pass(after, PASS, ["train"], ["x:0"], keep=keep, **TWO)
    assert again is after
    assert told(report, PASS) == "the graph has replicas already"


def test_c17_replicas_run_on_the_gpu_of_their_number() -> None:
    m = step(device="/job:a/device:GPU:0")
    after, _ = run_pass(m.graph, PASS, ["train"], ["x:0"], keep=("init",), auto_parallel_replicas=3)
    devices = [after[f"AutoParallel-Replica-{k}/grad"].device for k in (1, 2)]
    assert devices == ["/job:a/device:GPU:1", "/job:a/device:GPU:2"]
    assert after["grad"].device == "/job:a/device:GPU:0"


def test_c17_each_replica_reads_on_in_a_queue() -> None:
    m = Maker()
    m.op("VariableV2", "v", shape=(), dtype=FLOAT32, shared_name="", container="")
    m.op("Assign", "init", "v", m.const("begin", 0.0), **F)
    m.op("Identity", "read", "v", **F)
    common = {"container": "", "shared_name": "q", "capacity": 9}
    m.op("FIFOQueueV2", "q", component_types=[FLOAT32], shapes=[()], **common)
    m.op("QueueEnqueueManyV2", "fill", "q", m.const("items", [1.0, 2.0, 3.0, 4.0]),
         Tcomponents=[FLOAT32])  # fmt: skip
    m.op("QueueDequeueV2", "next", "q", component_types=[FLOAT32])
    m.op("ApplyGradientDescent", "update", "v", m.const("rate", 1.0), "next", **F)
    m.op("NoOp", "train", controls=["update"])
    keep = ("init", "fill", "read")
    after, _ = run_pass(m.graph, PASS, ["train"], [], keep=keep, **TWO)
    for executor in ("reference", "native"):
        session = Session(after, SessionConfig(executor=executor, optimizer="off"))  # type: ignore[arg-type]
        session.run(["init", "fill"], {})
        session.run(["train"], {})
        assert session.run("read:0", {}) == -1.5, "the mean of 1 and 2"


@pytest.mark.parametrize(
    ("more", "why"),
    [({}, "there is one replica"), ({"numeric": "exact"} | TWO, "the session is to be exact")],
)
def test_c17_why_not(more: dict[str, Any], why: str) -> None:
    report = assert_unchanged(step(), PASS, ["train"], ["x:0"], **more)
    assert why in told(report, PASS)


def test_c17_steps_that_cannot_be_repeated_stay() -> None:
    plain = Maker()
    plain.op("Neg", "train", plain.x(), **F)
    report = assert_unchanged(plain, PASS, ["train"], ["x:0"], **TWO)
    assert told(report, PASS) == "no op that applies a gradient"
    m = step()
    m.op("Identity", "seen", "update", **F)
    report = assert_unchanged(m, PASS, ["train", "seen"], ["x:0"], **TWO)
    assert told(report, PASS) == "the value of an update is read"
    m = step()
    m.op("AssignAdd", "counted", "v", m.const("one", [1.0] * 3), **F)
    m.graph.add_control(m.graph["grad"], m.graph["counted"])
    report = assert_unchanged(m, PASS, ["train"], ["x:0"], **TWO)
    assert told(report, PASS) == "counted (AssignAdd) has an effect that would be repeated"
    m = step()
    m.op("ApplyGradientDescent", "second", "v", "rate", "grad", controls=["update"], **F)
    report = assert_unchanged(m, PASS, ["train", "second"], ["x:0"], **TWO)
    assert told(report, PASS) == "an update waits for another one"


def test_c17_another_write_of_the_step_must_come_after_all_updates() -> None:
    m = step()
    m.op("AssignAdd", "decay", "v", m.const("less", [-0.1] * 3), **F)
    m.graph.add_control(m.graph["train"], m.graph["decay"])
    report = assert_unchanged(m, PASS, ["train"], ["x:0"], **TWO)
    assert told(report, PASS) == "decay (AssignAdd) writes what a replica may not have read yet"
    m.graph.add_control(m.graph["decay"], m.graph["update"])
    after, _ = run_pass(m.graph, PASS, ["train"], ["x:0"], **TWO)
    assert "AutoParallel-Replica-1/update" in after
    assert "AutoParallel-Replica-1/decay" not in after


def test_c17_is_off_unless_asked_for() -> None:
    assert not OptimizerConfig().is_on(PASS)
    proto = RewriterConfig()
    proto.auto_parallel.enable, proto.auto_parallel.num_replicas = True, 4
    config = OptimizerConfig.from_proto(proto)
    assert config.is_on(PASS)
    assert config.auto_parallel_replicas == 4
