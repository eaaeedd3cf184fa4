"""Every gradient rule against differences of what its op computes, on random shapes."""

from __future__ import annotations

from typing import Any

import gradient_cases_factors as gradient_cases_factors
import gradient_cases_layers as gradient_cases_layers  # which adds to the table
import gradient_cases_special as gradient_cases_special
import numpy as np
import pytest
from gradient_cases import CASES, ELSEWHERE, Case

from drystone_base.api.session import Session, SessionConfig
from drystone_base.autodiff._registry import CONSTANT, RULES
from drystone_base.autodiff._slices import dense
from drystone_base.autodiff.backward import gradients_of
from drystone_base.autodiff.control_flow.custom import CUSTOM
from drystone_base.graph import Builder, Graph, Output
from drystone_base.graph.validate import output_dtypes
from drystone_base.kernels import find_kernel
from drystone_base.ops.defs import find

SYMMETRIC = {"Cholesky", "SelfAdjointEig", "SelfAdjointEigV2"}
"""Ops of symmetric matrices, of which only symmetric differences have a meaning."""

MANY_SHAPES = {"MatrixSolveLs", "Qr", "Svd"}
"""Ops whose rules differ for wide, square and tall matrices."""


class Checked:
    """One node with its gradients, and the values to take differences at."""

    def __init__(self, op: str, case: Case, rng: np.random.Generator) -> None:
        self.case, self.rng = case, rng
        graph = Graph()
        b = Builder(graph)
        kind = np.float32 if case.loose else np.float64
        flat = [v for given in case.inputs for v in (given if isinstance(given, list) else [given])]
        self.values: list[Any] = [
            np.asarray(v).astype(kind) if np.asarray(v).dtype == np.float64 else np.asarray(v)
            for v in flat
        ]
        fed = [b("Placeholder", dtype=v.dtype.name, shape=v.shape) for v in self.values]
        rest = iter(fed)
        args: list[Any] = [
            [next(rest) for _ in given] if isinstance(given, list) else next(rest)
            for given in case.inputs
        ]
        node = b.node(op, *args, **case.attrs)
        types = output_dtypes(node) or []
        of = case.of if case.of is not None else [k for k, t in enumerate(types) if t.is_floating]
        floating = [k for k, v in enumerate(self.values) if v.dtype == kind]
        self.by = list(case.by if case.by is not None else floating)
        ys: list[Output] = [(node, k) for k in of]
        self.feeds = [f"{n.name}:0" for n, _ in fed]
        session = Session(graph, SessionConfig(executor="reference"))
        forward = session.make_callable([f"{n.name}:{k}" for n, k in ys], self.feeds)
        self.weights = [rng.uniform(-1, 1, v.shape).astype(v.dtype) for v in forward(*self.values)]
        self.forward = forward
        grad_ys = [b.const(w) for w in self.weights]
        found = gradients_of(ys, [fed[k] for k in self.by], grad_ys)
        names = []
        for grad in found:
            assert grad is not None
            node, k = dense(b, grad)
            names.append(f"{node.name}:{k}")
        run = Session(graph, SessionConfig(executor="reference"))
        self.found = run.run(names, dict(zip(self.feeds, self.values, strict=True)))

    def loss(self, values: list[Any]) -> float:
        found = self.forward(*values)
        pairs = zip(self.weights, found, strict=True)
        return sum(float(np.vdot(w.astype(float), v.astype(float))) for w, v in pairs)

    def check(self, op: str) -> None:
        step, tolerance = (1e-2, 2e-2) if self.case.loose else (1e-6, 2e-6)
        for k, grad in zip(self.by, self.found, strict=True):
            value: Any = self.values[k]
            assert grad.shape == value.shape, (op, k)
            way = self.rng.uniform(-1, 1, value.shape)
            if op in SYMMETRIC:
                way = way + np.swapaxes(way, -1, -2)
            ends = []
            for sign in (1, -1):
                moved = list(self.values)
                moved[k] = (value + sign * step * way).astype(value.dtype)
                ends.append(self.loss(moved))
            expected = (ends[0] - ends[1]) / (2 * step)
            size = 1 + float(np.sum(np.abs(grad * way)))
            assert abs(np.sum(grad * way) - expected) < tolerance * size, (op, k)


@pytest.mark.cases_in_gate(2)
@pytest.mark.parametrize("op", sorted(CASES))
def test_rule(op: str) -> None:
    for seed in range(6 if op in MANY_SHAPES else 2):
        rng = np.random.default_rng(seed)
        Checked(op, CASES[op](rng), rng).check(op)


def test_every_rule_is_checked() -> None:
    for module in (gradient_cases_factors, gradient_cases_layers, gradient_cases_special):
        assert module.__name__  # it is imported for what it adds
    rules = set(RULES.load_all())
    assert rules == set(RULES.index)
    assert sorted(rules - CASES.keys() - ELSEWHERE.keys()) == []
    assert sorted((CASES.keys() | ELSEWHERE.keys()) - rules) == []


def test_every_rule_is_for_an_op_that_runs() -> None:
    named = set(RULES.index) - {CUSTOM}
    for op in {*named, *CONSTANT}:
        assert find(op) is not None, op
    assert [op for op in named if find_kernel(op) is None] == []
