"""Which graphs compute each example by itself, and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny_models as tiny

from drystone_base.api.session import Session
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, STRING
from drystone_base.core.errors import KernelError
from drystone_base.executor.micro_batches import BatchLayout, NotBatchwise, batch_layout_of
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.own import ATTENTION, FUSED_ELEMENTWISE, LAYER_NORM

FLOATS = {"T": FLOAT32}
DENSE = {**FLOATS, "transpose_a": False, "transpose_b": False}
INTS = {"T": INT32, "Tshape": INT32}


def _examples(
    graph: Graph, *fetches: str, feeds: dict[str, Any]
) -> BatchLayout | NotBatchwise | None:
    found = [(graph[name], 0) for name in fetches]
    described = {(graph[name], 0): fed for name, fed in feeds.items()}
    return batch_layout_of(graph, found, [], described)


def _alone(graph: Graph, fetches: list[str], feeds: dict[str, Any]) -> None:
    """What examples give alone is what the batch gives."""
    session = Session(graph)
    count = len(next(iter(feeds.values())))
    whole = session.run(fetches, feeds)
    parts = [
        session.run(fetches, {name: value[k : k + 1] for name, value in feeds.items()})
        for k in range(count)
    ]
    for value, *each in zip(whole, *parts, strict=True):
        np.testing.assert_allclose(np.concatenate(each), value, rtol=1e-5, atol=1e-6)


def _encoder() -> Graph:
    """Attention over ``x``, [?, 6, 8], in rows of 8, with ``mask``, [?, 6]: as BERT has it."""
    graph, random = Graph(), np.random.default_rng(0)
    x = tiny.placeholder(graph, "x", (-1, 6, 8))
    mask = tiny.placeholder(graph, "mask", (-1, 6))
    rows = tiny.constant(graph, "rows", [-1, 8], np.int32)
    flat = graph.add("Reshape", "flat", [x, rows], attrs={**FLOATS, "Tshape": INT32})
    parts = []
    heads = tiny.constant(graph, "heads", [-1, 6, 2, 4], np.int32)
    for name in "qkv":
        weights = tiny.constant(graph, f"w{name}", random.standard_normal((8, 8)))
        product = graph.add("MatMul", f"{name}0", [flat, weights], attrs=DENSE)
        parts.append(
            graph.add("Reshape", name, [product, heads], attrs={**FLOATS, "Tshape": INT32})
        )
    one = tiny.constant(graph, "one", 1, np.int32)
    wide = graph.add("ExpandDims", "wide1", [mask, one], attrs={**FLOATS, "Tdim": INT32})
    wide = graph.add("ExpandDims", "wide2", [wide, one], attrs={**FLOATS, "Tdim": INT32})
    attrs = {
        **FLOATS, "Targs": [FLOAT32], "layouts": ["BTNH", "BSNH", "BSNH", "BTNH"],
        "masks": ["Add"], "scale": 0.5, "fill": 0.0,
    }  # fmt: skip
    found = graph.add(ATTENTION, "attention", [*parts, wide], attrs=attrs)
    joined = graph.add("Reshape", "joined", [found, rows], attrs={**FLOATS, "Tshape": INT32})
    normal = {**FLOATS, "num_args": 0, "has_scale": False, "has_offset": False, "epsilon": 1e-6}
    total = graph.add("AddV2", "total", [joined, flat], attrs=FLOATS)
    graph.add(LAYER_NORM, "y", [total], attrs=normal)
    return graph


def test_an_encoder_has_rows_of_examples() -> None:
    graph = _encoder()
    feeds = {"x": (FLOAT32, (-1, 6, 8)), "mask": (FLOAT32, (-1, 6))}
    found = _examples(graph, "y", "attention", feeds=feeds)
    assert isinstance(found, BatchLayout)
    assert (found.feeds, found.fetches) == ((1, 1), (6, 1))
    x = np.random.default_rng(1).standard_normal((5, 6, 8)).astype(np.float32)
    mask = np.random.default_rng(2).standard_normal((5, 6)).astype(np.float32)
    _alone(graph, ["y:0", "attention:0"], {"x:0": x, "mask:0": mask})


def test_bytes_are_those_that_are_held_at_once() -> None:
    """x and its product, then the product and the sum, then the sum and what Relu makes of it."""
    found = _examples(tiny.affine(), "y", feeds={"x": (FLOAT32, (-1, 3))})
    assert found == BatchLayout((1,), (1,), 2 * 3 * 4, 1)


def test_examples_that_no_memory_holds_are_an_error_of_the_kernel() -> None:
    graph = Graph()
    x = tiny.placeholder(graph, "x", (-1, 4, 4, 16))
    size = tiny.constant(graph, "size", [2**31 - 1] * 2, np.int32)
    graph.add("ResizeBilinear", "y", [x, size], attrs=FLOATS)
    with pytest.raises(KernelError):
        Session(graph).run("y:0", {"x:0": np.ones((1, 4, 4, 16), np.float32)})


def test_weights_that_take_long_to_read_ask_for_many_examples() -> None:
    graph = Graph()
    x = tiny.placeholder(graph, "x", (-1, 100))
    graph.add("MatMul", "y", [x, tiny.constant(graph, "w", np.ones((100, 100)))], attrs=DENSE)
    found = _examples(graph, "y", feeds={"x": (FLOAT32, (-1, 100))})
    assert found == BatchLayout((1,), (1,), 800, 50)  # 40,000 bytes for 800


def test_rows_of_a_table_are_not_all_read() -> None:
    graph = Graph()
    x = tiny.placeholder(graph, "x", (-1, 2), INT32)
    table = tiny.constant(graph, "table", np.ones((1000, 3)))
    axis = tiny.constant(graph, "axis", 0, np.int32)
    attrs = {"Tparams": FLOAT32, "Tindices": INT32, "Taxis": INT32, "batch_dims": 0}
    graph.add("GatherV2", "y", [table, x, axis], attrs=attrs)
    found = _examples(graph, "y", feeds={"x": (INT32, (-1, 2))})
    assert found == BatchLayout((1,), (1,), 32, 1)


def _sized(graph: Graph, middle: int) -> None:
    """``y``: ``x``, [?, 4, 3], in a shape that begins with the size of the batch."""
    x = tiny.placeholder(graph, "x", (-1, 4, 3))
    shape = graph.add("Shape", "shape", [x], attrs={**FLOATS, "out_type": INT32})
    ends = [tiny.constant(graph, n, [v], np.int32) for n, v in (("zero", 0), ("one", 1))]
    step = tiny.constant(graph, "step", [1], np.int32)
    attrs = {"T": INT32, "Index": INT32, "shrink_axis_mask": 1}
    size = graph.add("StridedSlice", "size", [shape, *ends, step], attrs=attrs)
    other = tiny.constant(graph, "other", middle, np.int32)
    whole = graph.add("Pack", "whole", [size, other], attrs={"T": INT32, "N": 2, "axis": 0})
    graph.add("Reshape", "y", [x, whole], attrs={**FLOATS, "Tshape": INT32})
    graph.add("Cast", "cast", [size], attrs={"SrcT": INT32, "DstT": FLOAT32})
    graph.add("Mul", "scaled", [x, graph["cast"]], attrs=FLOATS)


def test_shapes_may_be_worked_out_from_the_size_of_the_batch() -> None:
    graph, feeds = Graph(), {"x": (FLOAT32, (-1, 4, 3))}
    _sized(graph, 12)
    found = _examples(graph, "y", feeds=feeds)
    assert isinstance(found, BatchLayout)
    assert found.fetches == (1,)
    _alone(graph, ["y:0"], {"x:0": np.arange(60, dtype=np.float32).reshape(5, 4, 3)})


@pytest.mark.parametrize(
    ("fetch", "mixed"),
    [("scaled", ("scaled", "Mul")), ("cast", ("cast", "Cast")), ("size", ("size", "StridedSlice")),
     ("shape", ("shape", "Shape"))],
)  # fmt: skip
def test_values_may_not_follow_from_the_size_of_the_batch(
    fetch: str, mixed: tuple[str, str]
) -> None:
    graph, feeds = Graph(), {"x": (FLOAT32, (-1, 4, 3))}
    _sized(graph, 12)
    assert _examples(graph, fetch, feeds=feeds) == NotBatchwise(*mixed)


def _fused(**attrs: Any) -> Graph:
    graph = Graph()
    x = tiny.placeholder(graph, "x", (-1, 4))
    y = tiny.constant(graph, "c", np.ones(2))
    attrs = {
        "Targs": [FLOAT32, FLOAT32], "T": FLOAT32, "Tout": FLOAT32, "ops": ["Mul"],
        "operands": [0, 1], "joins": [], "slices": [], **attrs,
    }  # fmt: skip
    graph.add(FUSED_ELEMENTWISE, "y", [x, y], attrs=attrs)
    return graph


def test_pieces_of_vectors_are_computed_alone() -> None:
    graph = _fused(slices=[1, 2, 0, -1])
    assert isinstance(_examples(graph, "y", feeds={"x": (FLOAT32, (-1, 4))}), BatchLayout)
    _alone(graph, ["y:0"], {"x:0": np.arange(12, dtype=np.float32).reshape(3, 4)})


@pytest.mark.parametrize(("second", "is_alone"), [(-1, True), (1, False)])
def test_pieces_that_are_joined_have_rows_of_their_own(second: int, is_alone: bool) -> None:
    """``y``: ``x`` and ``z`` joined, [?, 5], times a row of constants, [1, 5]."""
    graph = Graph()
    pieces = [tiny.placeholder(graph, "x", (-1, 4)), tiny.placeholder(graph, "z", (second, 1))]
    factors = tiny.constant(graph, "c", [[1, 2, 3, 4, 5]])
    attrs = {
        "Targs": [FLOAT32] * 3, "T": FLOAT32, "Tout": FLOAT32, "ops": ["Mul"],
        "operands": [0, 1], "joins": [2, 1], "slices": [],
    }  # fmt: skip
    graph.add(FUSED_ELEMENTWISE, "y", [*pieces, factors], attrs=attrs)
    found = _examples(graph, "y", feeds={"x": (FLOAT32, (-1, 4)), "z": (FLOAT32, (second, 1))})
    assert isinstance(found, BatchLayout) == is_alone
    if is_alone:
        z = np.arange(3, dtype=np.float32).reshape(3, 1)
        _alone(graph, ["y:0"], {"x:0": np.tile(z, 4), "z:0": z})


@pytest.mark.parametrize("shape", [None, (), (-1, -1), (3, 4), (-1, 4, -1)])
def test_feeds_must_hold_any_number_of_examples_of_one_size(shape: Any) -> None:
    graph = Graph()
    graph.add("Relu", "y", [tiny.placeholder(graph, "x", shape)], attrs=FLOATS)
    assert _examples(graph, "y", feeds={"x": (FLOAT32, shape)}) is None


def _mixing(graph: Graph, x: Node) -> None:
    """Nodes that are not computed example by example, or are more than a value."""
    zero = tiny.constant(graph, "zero", [0], np.int32)
    every = tiny.constant(graph, "every", [4, -1], np.int32)
    kept = {**FLOATS, "Tidx": INT32, "keep_dims": False}
    graph.add("Sum", "over the batch", [x, zero], attrs=kept)
    graph.add("Softmax", "of a vector", [graph.add("Max", "m", [x, _axis(graph, 1)], attrs=kept)],
              attrs=FLOATS)  # fmt: skip
    graph.add("MatMul", "with itself", [x, x], attrs={**DENSE, "transpose_b": True})
    graph.add("MatMul", "on the right", [_axis(graph, 7, np.ones((2, 4))), x],
              attrs={**DENSE, "transpose_b": True})  # fmt: skip
    graph.add("Reshape", "of four", [x, every], attrs={**FLOATS, "Tshape": INT32})
    order = tiny.constant(graph, "order", [1, 0], np.int32)
    graph.add("Transpose", "turned", [x, order], attrs={**FLOATS, "Tperm": INT32})
    graph.add("RandomStandardNormal", "noise", [every], attrs={"T": INT32, "dtype": FLOAT32})
    shape = graph.add("Shape", "shape", [x], attrs={**FLOATS, "out_type": INT32})
    random = graph.add("RandomStandardNormal", "r", [shape], attrs={"T": INT32, "dtype": FLOAT32})
    graph.add("AddV2", "with noise", [x, random], attrs=FLOATS)
    rest = tiny.constant(graph, "rest", np.ones((5, 4)))
    graph.add("ConcatV2", "longer", [x, rest, _axis(graph, 0)],
              attrs={**FLOATS, "N": 2, "Tidx": INT32})  # fmt: skip
    graph.add("AsString", "text", [x], attrs=FLOATS)


def _axis(graph: Graph, number: int, value: Any = None) -> Node:
    held = (number, np.int32) if value is None else (value, np.float32)
    return tiny.constant(graph, f"constant {number}", *held)


@pytest.mark.parametrize(
    "name",
    [
        "over the batch", "of a vector", "with itself", "on the right", "of four", "turned",
        "noise", "longer", "text",
    ],
)  # fmt: skip
def test_what_mixes_examples_is_run_as_a_whole(name: str) -> None:
    graph = Graph()
    _mixing(graph, tiny.placeholder(graph, "x", (-1, 4)))
    found = _examples(graph, name, feeds={"x": (FLOAT32, (-1, 4))})
    assert found == NotBatchwise(name, graph[name].op)


def test_what_comes_before_may_mix_them_too() -> None:
    graph = Graph()
    _mixing(graph, tiny.placeholder(graph, "x", (-1, 4)))
    found = _examples(graph, "with noise", feeds={"x": (FLOAT32, (-1, 4))})
    assert found == NotBatchwise("r", "RandomStandardNormal")


@pytest.mark.parametrize("name", ["zero", "x"])
def test_nothing_is_said_where_no_examples_are_computed(name: str) -> None:
    graph = Graph()
    _mixing(graph, tiny.placeholder(graph, "x", (-1, 4)))
    assert _examples(graph, name, feeds={"x": (FLOAT32, (-1, 4))}) is None


def _beside(graph: Graph, op: str) -> Node:
    """A node of what no example has a part in, which is more than a value."""
    one = tiny.constant(graph, "one", 1.0)
    yes = tiny.constant(graph, "yes", True, np.bool_)
    if op == "Switch":
        return graph.add(op, op, [one, yes], attrs=FLOATS)
    if op == "Merge":
        return graph.add(op, op, [one, one], attrs={**FLOATS, "N": 2})
    if op == "AssignAdd":
        attrs = {"shape": (), "dtype": FLOAT32, "container": "", "shared_name": ""}
        variable = graph.add("VariableV2", "variable", attrs=attrs)
        return graph.add(op, op, [variable, one], attrs={**FLOATS, "use_locking": False})
    body = FunctionRef("body", {})
    attrs = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": body}
    if op == "StatelessIf":
        del attrs["f"]
        attrs |= {"Tcond": BOOL, "then_branch": body, "else_branch": body, "output_shapes": []}
        return graph.add(op, op, [yes, one], attrs=attrs)
    return graph.add(op, op, [one], attrs=attrs)


@pytest.mark.parametrize("op", ["Switch", "Merge", "AssignAdd", "PartitionedCall", "StatelessIf"])
def test_what_examples_share_is_computed_once_if_it_is_more_than_a_value(op: str) -> None:
    graph = Graph()
    x = tiny.placeholder(graph, "x", (-1, 3))
    graph.add("AddV2", "y", [x, _beside(graph, op)], attrs=FLOATS)
    found = _examples(graph, "y", feeds={"x": (FLOAT32, (-1, 3))})
    assert found == NotBatchwise(op, op)


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_one_row_stands_for_all_only_where_it_is_broadcast(shape: tuple[int, ...]) -> None:
    graph = Graph()
    x = tiny.placeholder(graph, "x", (-1, 3))
    row = tiny.constant(graph, "row", np.ones(shape))
    graph.add("AddV2", "y", [x, row], attrs=FLOATS)
    graph.add("AddN", "z", [x, row], attrs={**FLOATS, "N": 2})
    feeds = {"x": (FLOAT32, (-1, 3))}
    assert isinstance(_examples(graph, "y", feeds=feeds), BatchLayout)
    if len(shape) == 2:  # otherwise neither the batch nor an example fits
        assert _examples(graph, "z", feeds=feeds) == NotBatchwise("z", "AddN")


def test_strings_are_run_as_a_whole() -> None:
    assert _examples(tiny.echo(), "same", feeds={"text": (STRING, (-1,))}) is None


def test_a_target_is_run_as_a_whole() -> None:
    graph = tiny.affine()
    fed = {(graph["x"], 0): (FLOAT32, (-1, 3))}
    assert batch_layout_of(graph, [(graph["y"], 0)], [graph["y"]], fed) is None
    assert isinstance(batch_layout_of(graph, [(graph["y"], 0)], [], fed), BatchLayout)


def test_outputs_of_nodes_that_are_fed_stay_what_is_fed() -> None:
    graph = Graph()
    x = tiny.placeholder(graph, "x", (-1, 4))
    k = tiny.constant(graph, "k", 2, np.int32)
    attrs = {**FLOATS, "sorted": True}
    top = graph.add("TopKV2", "top", [x, k], attrs=attrs)
    graph.add("AddV2", "y", [(top, 0), (top, 0)], attrs=FLOATS)
    feeds = {(top, 0): (FLOAT32, (-1, 2)), (x, 0): (FLOAT32, (-1, 4))}
    found = batch_layout_of(graph, [(graph["y"], 0), (top, 1)], [], feeds)
    assert isinstance(found, BatchLayout)
    assert (found.feeds, found.fetches) == ((1, 1), (1, 1))
