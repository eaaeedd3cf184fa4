"""Rules of examples against every golden case: what one claims to be computed alone, is so.

Each choice of inputs of a case is fed as a batch, as long as they agree on how many examples they
hold; the reference kernel then computes the batch, and each example alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import oracle
import pytest
from oracle import case

from drystone_base.core.dtypes import FLOAT32, INT8, as_dtype, from_numpy
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.micro_batches import BatchLayout, batch_layout_of
from drystone_base.executor.testing import _infer_attrs, as_array, run_op
from drystone_base.graph import Graph
from drystone_base.inference.batch_rules._registry import RULES
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.defs import op_def
from drystone_base.ops.own import (
    ATTENTION,
    FROM_GRID,
    FUSED_CONVOLUTION,
    FUSED_ELEMENTWISE,
    GELUS,
    LAYER_NORM,
    QUANTIZED_LAYER,
    TO_GRID,
)

MOST_INPUTS = 6
X = np.arange(48, dtype=np.float32).reshape(4, 12) / 7 - 3
PICTURES = np.sin(np.arange(4 * 5 * 5 * 2, dtype=np.float32)).reshape(4, 5, 5, 2)
FILTER = np.cos(np.arange(3 * 3 * 2 * 2, dtype=np.float32)).reshape(3, 3, 2, 2)
HEADS = np.sin(np.arange(4 * 3 * 2 * 5, dtype=np.float32)).reshape(4, 3, 2, 5)
WINDOWS = {"strides": [1, 1, 1, 1], "padding": "SAME"}
GRID = {"scale": 0.1, "zero": 3, "first": -128, "last": 127}


def _ints(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


MORE = (
    case("BiasAddV1", X, X[0]),
    case("ExpandDims", X, np.int32(1)),
    case("ExpandDims", X, np.int32(0)),
    case("IdentityN", X, X[0]),
    case("Pack", X, X + 1, axis=1),
    case("Pack", X, X + 1, axis=0),
    case("Pack", X, X + 1, axis=-1),
    case("Reshape", X, _ints(-1, 3, 4)),
    case("Reshape", X, _ints(-1, 6)),
    case("Reshape", X, _ints(4, -1)),
    case("Slice", X, _ints(0, 2), _ints(-1, 3)),
    case("Slice", X, _ints(1, 2), _ints(-1, 3)),
    case("Split", np.int32(1), X, num_split=3),
    case("Split", np.int32(0), X, num_split=2),
    case("SplitV", X, _ints(5, 7), np.int32(-1), num_split=2),
    case("SplitV", X, _ints(1, 3), np.int32(0), num_split=2),
    case("Squeeze", X.reshape(4, 1, 12, 1), squeeze_dims=[1, -1]),
    case("Squeeze", X.reshape(4, 1, 12, 1), squeeze_dims=[]),
    case("Unpack", X, axis=1, num=12),
    case("Unpack", X, axis=0, num=4),
    case("_FusedConv2D", PICTURES, FILTER, X[0, :2], num_args=1, num_host_args=0,
         fused_ops=["BiasAdd"], **WINDOWS),
    case("_FusedConv2D", PICTURES, FILTER, PICTURES, num_args=1, num_host_args=0,
         fused_ops=["Add"], **WINDOWS),
    case("_FusedDepthwiseConv2dNative", PICTURES, FILTER[..., :1], X[0, :2], num_args=1,
         fused_ops=["BiasAdd"], **WINDOWS),
    case("_FusedMatMul", X, X[:, :3].repeat(3, 0), X[0, :3], num_args=1, fused_ops=["BiasAdd"]),
    case("_FusedBatchNormEx", PICTURES, *X[:4, :2], is_training=False, num_side_inputs=0,
         activation_mode="Relu", U=FLOAT32),
    case(FUSED_CONVOLUTION, PICTURES, FILTER, X[0, :2], num_args=1, layer="Conv2D",
         fused_ops=["BiasAdd", "Swish"], **WINDOWS),
    case(FUSED_CONVOLUTION, PICTURES, FILTER, PICTURES, num_args=1, layer="Conv2D",
         fused_ops=["Mul"], **WINDOWS),
    case(QUANTIZED_LAYER, (X * 20).astype(np.int8), np.ones((12, 2), np.int8), X[0, :2],
         num_args=0, layer="MatMul", x_zero=1, T=FLOAT32, Tx=INT8, Tout=FLOAT32),
    case(TO_GRID, X, T=INT8, **GRID),
    case(FROM_GRID, (X * 20).astype(np.int8), T=INT8, Tfloat=FLOAT32, **GRID),
    *(case(op, X) for op in GELUS),
    case(LAYER_NORM, X, X[0], X[1], num_args=2, has_scale=True, has_offset=True, epsilon=1e-3),
    case(LAYER_NORM, X[0], num_args=0, has_scale=False, has_offset=False, epsilon=1e-3),
    case(ATTENTION, HEADS, HEADS, HEADS, HEADS[:, :1, :1, :3], Targs=[FLOAT32], masks=["Add"],
         layouts=["BTNH", "BSNH", "BSNH", "BTNH"], scale=0.5, fill=0.0),
    case(ATTENTION, HEADS, HEADS, HEADS, layouts=["TBNH", "BSNH", "BSNH", "BTNH"], Targs=[],
         masks=[], scale=0.5, fill=0.0),
    case(FUSED_ELEMENTWISE, X, X[0], Targs=[FLOAT32] * 2, T=FLOAT32, Tout=FLOAT32,
         ops=["Mul", "Relu"], operands=[0, 1, 2], joins=[], slices=[]),
    case(FUSED_ELEMENTWISE, X, X, X[:1].repeat(2, 1), Targs=[FLOAT32] * 3, T=FLOAT32,
         Tout=FLOAT32, ops=["Mul"], operands=[0, 1], joins=[2, 1], slices=[]),
)  # fmt: skip
"""Cases of ops of which TensorFlow has recorded none: our own, and some that only move elements."""


def _cases(family: str) -> Sequence[oracle.Case]:
    return MORE if family == "more" else oracle.load(family)


FAMILIES = [*oracle.families(), "more"]


@cache
def _claims(family: str) -> tuple[set[str], list[str]]:
    """Ops of a family of which something was claimed, and the claims that do not hold."""
    claimed, wrong = set(), []
    for item in _cases(family):
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


def _claim(item: oracle.Case, fed: tuple[int, ...]) -> BatchLayout | None:
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
        found = batch_layout_of(graph, fetches, [], feeds)
    except (DrystoneError, KeyError, AttributeError):  # cases that must be refused
        return None
    return found if isinstance(found, BatchLayout) else None


def _decoded(item: oracle.Case) -> dict[str, Any]:
    types = {n for n, a in op_def(item.op).attrs.items() if a.type == "type"}
    return {k: as_dtype(v) if k in types else v for k, v in item.attrs.items()}


def _problem(item: oracle.Case, fed: tuple[int, ...], claim: BatchLayout) -> str | None:
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


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_examples_are_computed_alone_where_a_rule_says_so(family: str) -> None:
    _, wrong = _claims(family)
    assert not wrong, f"{len(wrong)} claims do not hold:\n" + "\n".join(wrong[:20])


def test_each_rule_claims_something() -> None:
    claimed = set().union(*(_claims(family)[0] for family in FAMILIES))
    assert sorted(set(RULES.index) - claimed) == []
