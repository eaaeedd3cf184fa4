"""Rules of examples against every golden case: what one claims to be computed alone, is so.

Each choice of inputs of a case is fed as a batch, as long as they agree on how many examples they
hold; the reference kernel then computes the batch, and each example alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import oracle
import pytest

from drystone_base.dtypes import from_numpy
from drystone_base.errors import DrystoneError
from drystone_base.executor.examples import Examples, examples_of
from drystone_base.graph import Graph
from drystone_base.kernels._testing import _infer_attrs, as_array, run_op
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.defs import op_def
from drystone_base.ops.examples._registry import RULES

MOST_INPUTS = 6
ELSEWHERE = {op for op in RULES.index if op.startswith(("Drystone>", "_Fused"))} | {
    "BiasAddV1", "ExpandDims", "IdentityN", "Pack", "Reshape", "Slice", "Split",
    "SplitV", "Squeeze", "Unpack",
}  # fmt: skip
"""Ops with few or no golden cases: ``unit/test_examples.py`` has them."""


@cache
def _claims(family: str) -> tuple[set[str], list[str]]:
    """Ops of a family of which something was claimed, and the claims that do not hold."""
    claimed, wrong = set(), []
    for item in oracle.load(family):
        if item.op not in RULES.index or len(item.inputs) > MOST_INPUTS:
            continue
        for fed in _choices(item):
            found = _claim(item, fed)
            if found is not None:
                claimed.add(item.op)
                if (problem := _problem(item, fed, found)) is not None:
                    wrong.append(f"{item.label()}, inputs {fed} fed: {problem}")
    return claimed, wrong


def _choices(item: oracle.Case) -> Iterator[tuple[int, ...]]:
    inputs = [as_array(v) for v in item.inputs]
    if any(not isinstance(v, np.ndarray) or v.dtype == object for v in inputs):
        return
    could = [k for k, v in enumerate(inputs) if v.ndim and v.shape[0] > 0]
    for count in range(1, len(could) + 1):
        for chosen in itertools.combinations(could, count):
            if len({inputs[k].shape[0] for k in chosen}) == 1:
                yield chosen


def _inputs(item: oracle.Case, fed: tuple[int, ...]) -> list[Any]:
    """The case's inputs; a batch of one example gets a second one, with its elements reversed."""
    inputs = [as_array(v) for v in item.inputs]
    for k in fed:
        if len(inputs[k]) == 1:
            inputs[k] = np.concatenate([inputs[k], np.flip(inputs[k])])
    return inputs


def _claim(item: oracle.Case, fed: tuple[int, ...]) -> Examples | None:
    graph, sources, feeds = Graph(), [], {}
    inputs = _inputs(item, fed)
    for k, value in enumerate(inputs):
        dtype = from_numpy(value.dtype)
        if k in fed:
            node = graph.add("Placeholder", f"in{k}", attrs={"dtype": dtype})
            feeds[(node, 0)] = (dtype, (-1, *value.shape[1:]))
        else:
            attrs = {"dtype": dtype, "value": TensorAttr(array=value)}
            node = graph.add("Const", f"in{k}", attrs=attrs)
        sources.append(node)
    definition = op_def(item.op)
    try:
        attrs = _infer_attrs(definition, inputs, _decoded(item))
        node = graph.add(item.op, "op", sources, attrs=attrs)
        fetches = [(node, k) for k in range(len(definition.output_types(attrs)))]
        found = examples_of(graph, fetches, [], feeds)
    except (DrystoneError, KeyError, AttributeError):  # cases that must be refused
        return None
    return found if isinstance(found, Examples) else None


def _decoded(item: oracle.Case) -> dict[str, Any]:
    from drystone_base.dtypes import as_dtype

    types = {n for n, a in op_def(item.op).attrs.items() if a.type == "type"}
    return {k: as_dtype(v) if k in types else v for k, v in item.attrs.items()}


def _problem(item: oracle.Case, fed: tuple[int, ...], claim: Examples) -> str | None:
    inputs = _inputs(item, fed)
    try:
        whole = run_op(item.op, *inputs, **item.attrs)
    except DrystoneError:
        return None
    alone = []
    for k in range(inputs[fed[0]].shape[0]):
        mine = [v[k : k + 1] if j in fed else v for j, v in enumerate(inputs)]
        alone.append(run_op(item.op, *mine, **item.attrs))
    for j, (rows, want) in enumerate(zip(claim.fetches, whole, strict=True)):
        parts = [outputs[j] for outputs in alone]
        if rows and any(part.shape[0] != rows for part in parts):
            return f"output {j} has {parts[0].shape[0]} rows, not {rows}"
        got = np.concatenate(parts) if rows else parts[0]
        if oracle.difference(got, want) > 1e-4:
            return f"output {j} is not what examples give alone"
    return None


@pytest.mark.parametrize("family", oracle.families())
def test_examples_are_computed_alone_where_a_rule_says_so(family: str) -> None:
    _, wrong = _claims(family)
    assert not wrong, f"{len(wrong)} claims do not hold:\n" + "\n".join(wrong[:20])


def test_each_rule_claims_something() -> None:
    claimed = set().union(*(_claims(family)[0] for family in oracle.families()))
    assert sorted(set(RULES.index) - ELSEWHERE - claimed) == []
