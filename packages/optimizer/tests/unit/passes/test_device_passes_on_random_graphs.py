"""Random graphs give the same with the passes that are off, or idle, by default."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import random_arithmetic
from pass_checks import DEVICES
from random_programs import disagreement, draw

from drystone_optimizer import OptimizerConfig, optimize_with_report

pytestmark = pytest.mark.cases_in_gate(3)

ELEMENTWISE = ("Abs", "Exp", "Identity", "Neg", "Relu", "Sign", "Sqrt", "Square", "Tanh")
TIGHT: dict[str, Any] = {"memory_mode": "heuristics", "device_memory": {"CPU": 16, "GPU": 16}}
CHOICES: dict[str, dict[str, Any]] = {
    "memory": TIGHT,
    "scoped": {"scoped_allocator_optimization": True, "scoped_allocator_ops": ELEMENTWISE},
    "devices": {"pin_to_host_optimization": True, "cpu_layout_conversion": "nhwc_to_nchw"},
}


def config_of(choice: str) -> OptimizerConfig:
    here: dict[str, Any] = {"devices": DEVICES, "fail_on_optimizer_errors": True}
    return OptimizerConfig(**CHOICES[choice], **here, min_graph_nodes=-1)


def prepared(choice: str, seed: int) -> tuple[random_arithmetic.Arithmetic, list[str]]:
    """A graph of which parts are for a GPU, or marked."""
    made, fetches = random_arithmetic.draw(seed)
    graph = made.m.graph
    for k, node in enumerate(graph):
        if choice == "devices":
            graph.set_device(node, ("", "/gpu:0", "/cpu:0")[(seed + k) % 3])
        if choice == "memory" and node.op in ("Mul", "AddV2") and k % 2:
            graph.set_attr(node, "_swap_to_host", [0])
            graph.set_device(node, "/gpu:0")
            graph.set_device(node.inputs[0][0], "/gpu:0")
    return made, fetches


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("seed", range(300, 340))
def test_random_arithmetic(choice: str, seed: int) -> None:
    made, fetches = prepared(choice, seed)
    plain = random_arithmetic.run(made, fetches, "off")
    for name, one, other in zip(
        fetches, plain, random_arithmetic.run(made, fetches, config_of(choice)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(choice: str, seed: int) -> None:
    """Branches, loops, functions, state and errors."""
    assert disagreement(draw(seed), config_of(choice)) is None


@pytest.mark.parametrize(("choice", "seed"), [
    ("memory", 51558), ("memory", 52998), ("scoped", 67242),
])  # fmt: skip
def test_they_come_to_rest(choice: str, seed: int) -> None:
    """What the last passes add leaves nothing for them to do."""
    made, fetches = prepared(choice, seed)
    after, _ = optimize_with_report(made.m.graph, fetches, list(made.feeds), config_of(choice))
    again, _ = optimize_with_report(after, fetches, list(made.feeds), config_of(choice))
    _, report = optimize_with_report(again, fetches, list(made.feeds), config_of(choice))
    last = ("memory_optimization", "scoped_allocator_optimization")
    assert not [s.rewrites for s in report.steps if s.name in last and s.rewrites]


def test_the_passes_have_something_to_do_in_these() -> None:
    done: dict[str, int] = {}
    for choice in CHOICES:
        for seed in range(300, 340):
            made, fetches = prepared(choice, seed)
            feeds = list(made.feeds)
            _, report = optimize_with_report(made.m.graph, fetches, feeds, config_of(choice))
            for step in report.steps:
                for name, count in step.rewrites.items():
                    done[name] = done.get(name, 0) + count
    assert {"pin-to-host", "swap-to-host"} <= done.keys()
