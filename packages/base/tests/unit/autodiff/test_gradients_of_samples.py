"""Samples move with their parameters so that the chance of less stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from drystone_base.api.session import Session
from drystone_base.autodiff._slices import dense
from drystone_base.autodiff.backward import gradients_of
from drystone_base.graph import Builder, Graph

STEP = 1e-5


@pytest.mark.parametrize("op", ["RandomGamma", "StatelessRandomGammaV2", "StatelessRandomGammaV3"])
def test_a_sample_of_gamma_moves_with_its_chance(op: str) -> None:
    alpha = np.array([0.7, 2.5, 9.0])
    graph = Graph()
    b = Builder(graph)
    given = b("Placeholder", dtype="float64", shape=(3,), name="alpha")
    count = np.array([4] if op == "RandomGamma" else [4, 3], np.int32)
    seeds = {
        "RandomGamma": [],
        "StatelessRandomGammaV2": [b.const(np.array([1, 2], np.int32))],
        "StatelessRandomGammaV3": [b.const(np.array([1], np.uint64)),
                                   b.const(np.array([0, 2], np.uint64)), b.const(np.int32(1))],
    }  # fmt: skip
    sample = b(op, b.const(count), *seeds[op], given)
    (grad,) = gradients_of([sample], [given], [b("OnesLike", sample)])
    assert grad is not None
    node, k = dense(b, grad)
    feeds = {"alpha:0": alpha}
    x, found = Session(graph).run([f"{sample[0].name}:0", f"{node.name}:{k}"], feeds)

    def chance(a: np.ndarray, at: np.ndarray) -> np.ndarray:
        below = Graph()
        c = Builder(below)
        c.node("Igamma", c.const(np.broadcast_to(a, at.shape).copy()), c.const(at), name="below")
        value: np.ndarray = Session(below).run("below:0")
        return value

    by_alpha = (chance(alpha + STEP, x) - chance(alpha - STEP, x)) / (2 * STEP)
    density = (chance(alpha, x + STEP) - chance(alpha, x - STEP)) / (2 * STEP)
    np.testing.assert_allclose(found, (-by_alpha / density).sum(0), rtol=2e-4)
