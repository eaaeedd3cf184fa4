"""Kernels: values beside the reference kernels, errors, threads, leaks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

from drystone_base import Graph, Session, SessionConfig
from drystone_base.core.dtypes import from_numpy
from drystone_base.executor.selection import Candidate, explain, registered
from drystone_base.ops.defs import find
from drystone_conformance.live import grown
from drystone_conformance.plugin import needs
from drystone_conformance.samples import Sample, samples, why_none
from drystone_conformance.subject import Subject

pytestmark = pytest.mark.module("kernels")

_TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}


def kernels_of(subject: Subject) -> list[Candidate]:
    """The kernels that the library registered."""
    path = subject.plugin.path
    return [k for rows in registered().values() for k in rows if k.library == path]


@pytest.fixture(scope="module")
def all_samples(subject: Subject) -> list[tuple[Candidate, Sample]]:
    """Every sample of every kernel that has some."""
    usable = [k for k in kernels_of(subject) if not why_none(k)]
    found = [(kernel, sample) for kernel in usable for sample in samples(kernel)]
    if not found:
        reasons = sorted({why_none(k) for k in kernels_of(subject)} - {""})
        pytest.skip(f"no kernel can be compared: {'; '.join(reasons[:5])}")
    return found


def _graph(sample: Sample) -> tuple[Graph, dict[str, Any], list[str]]:
    graph, feeds, sources = Graph(), {}, []
    for k, value in enumerate(sample.inputs):
        attrs = {"dtype": from_numpy(value.dtype), "shape": value.shape}
        sources.append(graph.add("Placeholder", f"in{k}", attrs=attrs))
        feeds[f"in{k}:0"] = value
    graph.add(sample.op, "node", sources, attrs=sample.attrs)
    return graph, feeds, [f"node:{k}" for k in range(len(sample.expected))]


def _run(sample: Sample) -> list[Any]:
    graph, feeds, fetches = _graph(sample)
    found: list[Any] = Session(graph, SessionConfig(optimizer="off")).run(fetches, feeds)
    return found


def _difference(found: Any, expected: Any) -> float:
    """Largest deviation on |a-b| / (|b| + std b); infinite where shapes or NaN differ."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return float("inf")
    if expected.dtype.kind in "fcV" and expected.dtype != object:
        a, b = found.astype(np.complex128), expected.astype(np.complex128)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        finite = np.isfinite(b)
        if not same[~finite].all():
            return float("inf")
        spread = np.abs(b[finite]).std() if finite.any() else 0.0
        error = np.abs(a - b)[finite & ~same] / (np.abs(b[finite & ~same]) + spread)
        return float(error.max(initial=0.0))
    return 0.0 if np.array_equal(found, expected) else float("inf")


def _wrong(pairs: list[tuple[Candidate, Sample]]) -> list[str]:
    """One line for each sample whose values differ."""
    lines = []
    for kernel, sample in pairs:
        for k, (found, expected) in enumerate(zip(_run(sample), sample.expected, strict=True)):
            allowed = _TOLERANCE.get(str(expected.dtype), 1e-4)
            error = _difference(np.asarray(found), expected)
            if error > allowed:
                dtype = sample.inputs[0].dtype if sample.inputs else expected.dtype
                lines.append(f"{kernel.op} {dtype} {sample.kind}, output {k}: off by {error:.2g}")
    return lines


def _of(pairs: list[tuple[Candidate, Sample]], **wanted: bool) -> list[tuple[Candidate, Sample]]:
    return [p for p in pairs if all(getattr(p[1], name) == v for name, v in wanted.items())]


def test_values_are_those_of_the_reference(all_samples: list[tuple[Candidate, Sample]]) -> None:
    assert _wrong(_of(all_samples, is_empty=False, is_finite=True)) == []


@needs("kernels.non-finite")
def test_nan_and_infinities(all_samples: list[tuple[Candidate, Sample]]) -> None:
    assert _wrong(_of(all_samples, is_empty=False, is_finite=False)) == []


@needs("kernels.empty")
def test_tensors_without_elements(all_samples: list[tuple[Candidate, Sample]]) -> None:
    assert _wrong(_of(all_samples, is_empty=True)) == []


@needs("kernels.concurrent")
def test_several_threads_at_once(all_samples: list[tuple[Candidate, Sample]]) -> None:
    pairs = _of(all_samples, is_empty=False, is_finite=True)[:8]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: _wrong(pairs), range(8)))
    assert [lines for lines in found if lines] == []


def test_inputs_are_left_alone(all_samples: list[tuple[Candidate, Sample]]) -> None:
    for kernel, sample in _of(all_samples, is_empty=False, is_finite=True):
        before = [value.copy() for value in sample.inputs]
        _run(sample)
        for old, now in zip(before, sample.inputs, strict=True):
            assert np.array_equal(old, now), f"{kernel.op} changed its input"


def test_nothing_is_left_behind(all_samples: list[tuple[Candidate, Sample]]) -> None:
    for kernel, sample in all_samples[:16]:
        assert grown(partial(_run, sample)) == {}, kernel.op


def test_every_op_of_a_kernel_is_known(subject: Subject) -> None:
    unknown = sorted({k.op for k in kernels_of(subject) if find(k.op) is None})
    assert unknown == [], "register the op in the same library, or use one of TensorFlow's"


def test_constraints_name_attributes_of_the_op(subject: Subject) -> None:
    for kernel in kernels_of(subject):
        op = find(kernel.op)
        assert op is not None
        for name, dtypes in kernel.constraints:
            assert name in op.attrs, f"{kernel.op} has no attribute {name}"
            allowed = op.attrs[name].allowed
            stray = [d for d in dtypes if allowed is not None and d not in allowed]
            assert not stray, f"{kernel.op} does not allow {stray} for {name}"


def test_why_each_kernel_runs_or_not_can_be_told(subject: Subject) -> None:
    for op in sorted({k.op for k in kernels_of(subject)}):
        assert all(verdict.reason for verdict in explain(op))
