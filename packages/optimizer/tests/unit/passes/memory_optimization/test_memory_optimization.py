"""Row C16, memory_optimization: recompute, schedule, swap, and hints by hand."""

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
    run_pass,
    told,
)

from drystone_abi.protos import RewriterConfig
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_optimizer import OptimizerConfig, optimize_with_report
from drystone_optimizer.core.context import Context
from drystone_optimizer.passes.memory_optimization.peak import peaks

PASS = "memory_optimization"
GPU = "/device:GPU:0"
F = {"T": FLOAT32}
X = {"x:0": np.random.default_rng(0).normal(size=(4, 256)).astype(np.float32)}
CHEAP: dict[str, Any] = {"memory_mode": "recomputation_heuristics"}


def peak(graph: Graph, kind: str = "CPU") -> int:
    return peaks(Context(graph, frozenset(), frozenset(), {}))[kind].size


def network(layers: int = 3, **hints: Any) -> Maker:
    """Layers of Tanh and Square, and gradients that need what Square gives."""
    m = Maker()
    last = m.x(shape=(4, 256))
    for k in range(layers):
        m.op("Tanh", f"t{k}", last, **F)
        last = m.op("Square", f"s{k}", f"t{k}", **F, **hints)
    m.op("OnesLike", "gradients/begin", last, **F)
    back = "gradients/begin"
    for k in reversed(range(layers)):
        m.op("Mul", f"gradients/m{k}", back, f"s{k}", **F)
        back = m.op("TanhGrad", f"gradients/t{k}", f"t{k}", f"gradients/m{k}", **F)[0].name
    m.op("Identity", "y", back, **F)
    return m


def test_c16_cheap_values_are_computed_again_for_gradients() -> None:
    m = network()
    after, report = run_pass(m.graph, PASS, ["y:0"], ["x:0"], **CHEAP)
    lines = as_lines(after)
    assert "Recomputed/s1 = Square(t1, ^gradients/t2)" in lines
    assert "gradients/m1 = Mul(gradients/t2, Recomputed/s1)" in lines
    assert "t1 = Tanh(s0)" in lines, "what is no target reads what it read"
    assert report.steps[-1].rewrites == {"recompute": 3}
    assert report.steps[-1].numeric == "exact"
    assert peak(after) < peak(m.graph)
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)
    assert_same_natively(m.graph, after, ["y:0"], X)
    again, _ = run_pass(after, PASS, ["y:0"], ["x:0"], **CHEAP)
    assert again is after


def there_and_back(seed: int) -> Maker:
    """Random layers of cheap and dear ops, and gradients that read any of their values."""
    rng, m = np.random.default_rng(seed), Maker()
    values = [m.x(shape=(4, 256))]
    for k in range(int(rng.integers(3, 12))):
        op = str(rng.choice(["Square", "Relu", "Neg", "Tanh", "Sigmoid", "AddV2", "Mul"]))
        args = [values[-1]] + [values[int(rng.integers(len(values)))]] * (op in ("AddV2", "Mul"))
        values.append(m.op(op, f"f{k}", *args, **F))
    back = m.op("OnesLike", "gradients/begin", values[-1], **F)
    for k in range(int(rng.integers(2, 12))):
        op = str(rng.choice(["Mul", "AddV2", "Sub", "TanhGrad", "SigmoidGrad"]))
        other = values[int(rng.integers(len(values)))]
        if rng.random() < 0.3:
            m.op("Neg", f"gradients/n{k}", other, **F)
        back = m.op(op, f"gradients/b{k}", *((other, back) if "Grad" in op else (back, other)), **F)
    m.op("Tanh", "y", back, **F)
    return m


@pytest.mark.parametrize("seed", range(40))
def test_c16_random_gradients_keep_every_bit(seed: int) -> None:
    m = there_and_back(seed)
    fetches = ["y:0", *(f"{n.name}:0" for n in m.graph if n.name.startswith("gradients/n"))]
    after, _ = run_pass(m.graph, PASS, fetches, ["x:0"], **CHEAP)
    assert_same_values(m.graph, after, fetches, X, exact=True)
    again, _ = run_pass(after, PASS, fetches, ["x:0"], **CHEAP)
    assert again is after
    if seed % 8 == 0:
        assert_same_natively(m.graph, after, fetches, X)


def test_c16_random_gradients_have_something_to_do() -> None:
    changed = 0
    for seed in range(40):
        m = there_and_back(seed)
        changed += run_pass(m.graph, PASS, ["y:0"], ["x:0"], **CHEAP)[0] is not m.graph
    assert changed > 20


def test_c16_by_hand_only_what_has_a_hint() -> None:
    by_hand: dict[str, Any] = {"memory_mode": "manual"}
    assert_unchanged(network(), PASS, ["y:0"], ["x:0"], **by_hand)
    m = network(_recompute_hint=0)
    after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"], **by_hand)
    assert {f"Recomputed/s{k}" for k in range(3)} <= {node.name for node in after}
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)
    by_default, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert as_lines(by_default) == as_lines(after)
    assert_unchanged(m, PASS, ["y:0"], ["x:0"], memory_mode="swapping_heuristics")


def test_c16_the_scope_of_targets_is_an_option() -> None:
    report = assert_unchanged(network(), PASS, ["y:0"], ["x:0"], **CHEAP,
                       memory_optimizer_target_node_name_scope="backward/")  # fmt: skip
    assert told(report, PASS) == "no node is below backward/"


def test_c16_what_must_not_be_computed_again_stays() -> None:
    m = Maker()
    m.op("RandomUniform", "r", m.const("shape", [4]), T=m.graph["shape"].attrs["dtype"],
         dtype=FLOAT32, _recompute_hint=1)  # fmt: skip
    m.op("Exp", "e", m.x(shape=(4,)), **F)
    m.op("Neg", "gradients/late", "x", **F)
    m.op("Mul", "gradients/a", "gradients/late", "r", **F)
    m.op("Mul", "gradients/b", "gradients/late", "e", **F)
    fetches = ["gradients/a:0", "gradients/b:0"]
    assert_unchanged(m, PASS, fetches, ["x:0"], memory_mode="manual")
    assert_unchanged(m, PASS, fetches, ["x:0"], **CHEAP)
    early = Maker()
    early.op("Neg", "s", early.x(shape=(4,)), **F)
    early.op("Exp", "gradients/a", "s", **F)
    report = assert_unchanged(early, PASS, ["gradients/a:0"], ["x:0"], **CHEAP)
    assert told(report, PASS) == "nothing that comes late to wait for"


def swapping(**attrs: Any) -> Maker:
    """A large value of the GPU that is needed at the beginning and at the end."""
    m = Maker()
    shared = {**F, "device": GPU}
    m.op("Tanh", "big", m.x(shape=(4, 256)), **shared)
    last = "big"
    for k in range(3):
        m.op("Square", f"s{k}", last, **shared)
        last = f"s{k}"
    m.op("AddV2", "end", last, "big", **{**shared, **attrs})
    m.op("Identity", "y", "end", **F)
    return m


def on_gpu(graph: Graph) -> Any:
    config = SessionConfig(optimizer="off", device_count={"CPU": 1, "GPU": 1})
    return Session(graph, config).run("y:0", X)


def test_c16_a_marked_input_waits_on_the_host() -> None:
    m = swapping(_swap_to_host=[1])
    after, report = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    lines = as_lines(after)
    assert "big/swapped_out = Identity(big)" in lines
    assert "end/swapped_in_1 = Identity(big/swapped_out, ^s2)" in lines
    assert "end = AddV2(s2, end/swapped_in_1)" in lines
    assert after["big/swapped_out"].device == "/device:CPU:0"
    assert after["end/swapped_in_1"].device == GPU
    assert report.steps[-1].rewrites == {"swap-to-host": 1}
    np.testing.assert_array_equal(on_gpu(m.graph), on_gpu(after))
    assert_same_natively(m.graph, after, ["y:0"], X)
    again, _ = run_pass(after, PASS, ["y:0"], ["x:0"])
    assert again is after


def test_c16_a_short_device_swaps_by_itself() -> None:
    m = swapping()
    tight: dict[str, Any] = {"device_memory": {"GPU": 3 * 4 * 256 * 4}}
    after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"], **tight)
    assert after["end"].inputs[1][0].name == "end/swapped_in_1"
    np.testing.assert_array_equal(on_gpu(m.graph), on_gpu(after))
    roomy: dict[str, Any] = {"device_memory": {"GPU": 1 << 30}}
    report = assert_unchanged(m, PASS, ["y:0"], ["x:0"], **roomy)
    assert told(report, PASS) == "no device is short of memory"
    assert_unchanged(m, PASS, ["y:0"], ["x:0"])


def test_c16_what_cannot_wait_on_the_host() -> None:
    for attrs, why in (
        ({"_swap_to_host": [5]}, "a hint names an input that is not there"),
        ({"_swap_to_host": [1], "device": ""}, "a value is on the host already"),
    ):
        m = swapping(**attrs)
        after, report = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
        assert told(report, PASS) == why
        assert not {node.name for node in after} - {node.name for node in m.graph}


def total(order: str = "abc") -> Maker:
    m = Maker()
    for name in "abc":
        m.op("Tanh", name, m.x() if name == "a" else ("a", "b")["abc".index(name) - 1], **F)
    m.graph.set_attr(m.graph["x"], "shape", (4, 256))
    m.op("AddN", "sum", *order, N=3, **F)
    m.op("Neg", "y", "sum", **F)
    return m


def test_c16_a_large_sum_is_taken_as_its_parts_come() -> None:
    m = total()
    tight: dict[str, Any] = {"device_memory": {"CPU": 3 * 4 * 256 * 4}}
    after, report = run_pass(m.graph, PASS, ["y:0"], ["x:0"], **tight)
    lines = as_lines(after)
    assert "sum/assign = Assign(sum/accumulator, a)" in lines
    assert "sum/add_1 = AssignAdd(sum/accumulator, b, ^sum/assign)" in lines
    assert "sum = DestroyTemporaryVariable(sum/accumulator, ^sum/add_2)" in lines
    assert report.steps[-1].numeric == "exact"
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)
    assert_same_natively(m.graph, after, ["y:0"], X)
    after, report = run_pass(total("cab").graph, PASS, ["y:0"], ["x:0"], **tight)
    assert report.steps[-1].numeric == "reassociates"
    assert_same_values(m.graph, after, ["y:0"], X, exact=False)
    report = assert_unchanged(total("cab"), PASS, ["y:0"], ["x:0"], numeric="exact", **tight)
    assert "in another order" in told(report, PASS)
    assert_unchanged(total(), PASS, ["y:0"], ["x:0"])


def test_c16_runs_last_and_other_passes_do_not_undo_it() -> None:
    m = network()
    config = OptimizerConfig(memory_mode="HEURISTICS", min_graph_nodes=-1)
    after, report = optimize_with_report(m.graph, ["y:0"], ["x:0"], config)
    assert any(node.name.startswith("Recomputed/") for node in after)
    assert [step.name for step in report.steps][-3:] == [PASS, "layer_fusion", "elementwise_fusion"]
    assert_same_values(m.graph, after, ["y:0"], X, exact=False)


@pytest.mark.parametrize("mode", ["MANUAL", "HEURISTICS", "SWAPPING_HEURISTICS"])
def test_c16_modes_of_a_config_proto(mode: str) -> None:
    proto = RewriterConfig(memory_optimization=mode)  # type: ignore[arg-type]
    config = OptimizerConfig.from_proto(proto)
    assert config.memory_mode == mode.lower()
    assert config.is_on(PASS)


def test_c16_a_mode_that_is_none() -> None:
    with pytest.raises(BadRequest) as caught:
        OptimizerConfig(memory_mode="sometimes")
    assert "OptimizerConfig.memory_mode is not understood" in str(caught.value)
    assert "needed: 'default' or 'manual' or 'heuristics'" in str(caught.value)
