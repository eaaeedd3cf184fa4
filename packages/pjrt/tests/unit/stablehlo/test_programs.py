"""Programs as text, without a plugin: what is written, what is known, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from drystone_base.core.dtypes import FLOAT32, INT32, from_numpy
from drystone_base.core.errors import UnsupportedOp
from drystone_base.graph import Body, Graph, Node
from drystone_pjrt.stablehlo.region import Program, emitters, write_program
from drystone_subgraph import CompileInput, CompileRequest

Array = np.ndarray[Any, Any]
F = {"T": FLOAT32}
LAYER = """module @region {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>) -> (tensor<2x4xf32>) {
    %1 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<\
lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = \
[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : \
(tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = "stablehlo.tanh"(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "func.return"(%2) : (tensor<2x4xf32>) -> ()
  }
}
"""


class Region:
    """A region under construction: its inputs, nodes and results."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.args: list[Node] = []
        self.given: list[CompileInput] = []

    def input(self, value: Array, *, known: bool = False, weight: bool = False) -> Node:
        dtype = from_numpy(value.dtype)
        attrs = {"T": dtype, "index": len(self.args)}
        self.args.append(self.graph.add("_Arg", f"a{len(self.args)}", attrs=attrs))
        held = value if known or weight else None
        self.given.append(CompileInput(dtype, value.shape, held, weight))
        return self.args[-1]

    def op(self, op: str, *inputs: Any, **attrs: Any) -> Node:
        return self.graph.add(op, self.graph.unique_name(op), inputs, attrs=attrs)

    def program(self, *results: Node) -> Program:
        ends = [
            self.graph.add("_Retval", f"r{k}", [node], attrs={"T": FLOAT32, "index": k})
            for k, node in enumerate(results)
        ]
        body = Body(self.graph, self.args, ends, [])
        return write_program(CompileRequest("region", body, self.given, [FLOAT32] * len(ends)))


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    return np.zeros(shape, dtype)


def test_a_layer_is_written_as_it_is() -> None:
    region = Region()
    x, w = region.input(zeros(2, 3)), region.input(zeros(3, 4), weight=True)
    program = region.program(region.op("Tanh", region.op("MatMul", x, w, **F), **F))
    assert program.text == LAYER
    assert [argument.number for argument in program.arguments] == [0, 1]
    assert program.results == [((2, 4), np.dtype(np.float32))]
    assert program.checks == []


def test_small_constants_are_text_and_large_ones_are_held_once() -> None:
    region = Region()
    x = region.input(zeros(400))
    small = region.input(np.asarray([1.5], np.float32), known=True)
    large = region.input(np.arange(400, dtype=np.float32), known=True)
    total = region.op("AddV2", region.op("Mul", x, large, **F), large, **F)
    program = region.program(region.op("AddV2", total, small, **F))
    assert 'dense<"0x0000C03F"> : tensor<1xf32>' in program.text
    (first, held) = program.arguments
    assert (first.number, held.number) == (0, -1)
    np.testing.assert_array_equal(held.held, np.arange(400))


def test_shapes_are_known_and_cost_nothing() -> None:
    region = Region()
    x = region.input(zeros(2, 3, 4))
    sizes = region.op("Shape", x, T=FLOAT32, out_type=INT32)
    two = region.input(np.asarray([2], np.int32), known=True)
    doubled = region.op("Mul", sizes, two, T=INT32)
    zero = region.input(np.asarray(0, np.int32), known=True)
    product = region.op("Prod", doubled, zero, T=INT32, Tidx=INT32, keep_dims=True)
    half = region.input(np.asarray([8], np.int32), known=True)
    flat = region.op("FloorDiv", product, half, T=INT32)
    program = region.program(region.op("Reshape", x, flat, T=FLOAT32, Tshape=INT32))
    assert program.text.count(" = ") == 1, program.text
    assert '"stablehlo.reshape"(%arg0) : (tensor<2x3x4xf32>) -> tensor<24xf32>' in program.text


def test_results_that_are_inputs_or_constants() -> None:
    region = Region()
    x, c = region.input(zeros(2)), region.input(np.ones(3, np.float32), known=True)
    program = region.program(x, c, x)
    assert [shape for shape, _ in program.results] == [(2,), (3,), (2,)]
    assert '"func.return"(%arg0, %1, %arg0)' in program.text


def test_a_gather_says_what_must_hold() -> None:
    region = Region()
    table, places = region.input(zeros(5, 2)), region.input(zeros(3, dtype=np.int32))
    axis = region.input(np.asarray(0, np.int32), known=True)
    attrs = {"Tparams": FLOAT32, "Tindices": INT32, "Taxis": INT32}
    program = region.program(region.op("GatherV2", table, places, axis, **attrs))
    assert program.checks == ["indices of GatherV2 (node 'GatherV2') must be from 0 to 4"]
    assert "-> (tensor<3x2xf32>, tensor<i1>)" in program.text


def _unknown_axes(region: Region) -> Node:
    x, axes = region.input(zeros(2, 3)), region.input(zeros(1, dtype=np.int32))
    return region.op("Sum", x, axes, T=FLOAT32, Tidx=INT32)


def _unknown_op(region: Region) -> Node:
    return region.op("Cholesky", region.input(zeros(2, 2)), **F)


def _whole_division(region: Region) -> Node:
    x = region.input(zeros(2, dtype=np.int32))
    return region.op("Div", x, x, T=INT32)


def _training(region: Region) -> Node:
    x, rest = region.input(zeros(1, 2, 2, 3)), [region.input(zeros(3)) for _ in range(4)]
    return region.op("FusedBatchNorm", x, *rest, **F, is_training=True)


def _beyond(region: Region) -> Node:
    x = region.input(zeros(2))
    places = region.input(np.asarray([2], np.int32), known=True)
    return region.op("Gather", x, places, Tparams=FLOAT32, Tindices=INT32)


def _other_count(region: Region) -> Node:
    x, shape = region.input(zeros(2, 3)), region.input(np.asarray([4], np.int32), known=True)
    return region.op("Reshape", x, shape, T=FLOAT32, Tshape=INT32)


def _not_together(region: Region) -> Node:
    return region.op("AddV2", region.input(zeros(2)), region.input(zeros(3)), **F)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_unknown_axes, "Sum (node 'Sum'): its input 1 is not constant"),
        (_unknown_op, "Cholesky (node 'Cholesky'): there is no way to write it"),
        (_whole_division, "Div (node 'Div'): it is of int32"),
        (_training, "FusedBatchNorm (node 'FusedBatchNorm'): it trains"),
        (_beyond, "Gather (node 'Gather'): an index is beyond its bounds"),
        (_other_count, "Reshape (node 'Reshape'): 6 elements in shape [4]"),
        (_not_together, "AddV2 (node 'AddV2'): its shapes do not fit"),
    ],
)
def test_a_refusal_names_the_op_the_node_and_why(make: Any, why: str) -> None:
    region = Region()
    with pytest.raises(UnsupportedOp) as caught:
        region.program(make(region))
    assert caught.value.code == "pjrt-op-not-expressed"
    assert caught.value.found.startswith(why)
    op = why.partition(" ")[0]
    assert f"exclude=({op!r},)" in caught.value.remedy


def test_what_can_be_written_is_in_families_of_files() -> None:
    modules: Sequence[str] = sorted({e.write.__module__ for e in emitters().values()})
    assert [name.rpartition(".")[2] for name in modules] == [
        "casts", "complex_numbers", "convolutions", "elementwise", "gathers", "gradients",
        "normalization", "pooling", "products", "reductions", "resizing", "scans", "scatters",
        "shapes", "softmaxes",
    ]  # fmt: skip
