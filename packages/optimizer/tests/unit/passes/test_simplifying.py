"""Row C6: constant folding, nodes that constants make simple, each rule with its limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_same_values, assert_unchanged, check, run_pass

from drystone_abi.protos import FunctionDef, NodeDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32
from drystone_base.core.errors import DrystoneError
from drystone_base.ops.attrs import FunctionRef, encode_attr
from drystone_optimizer import OptimizerConfig

F = {"T": FLOAT32}
FI = {"T": FLOAT32, "Tidx": INT32}
FOLD = "constant_folding"
X = {"x:0": np.array([[1, -0.0, 3], [0.0, -5, 6]], np.float32)}
PASSED = ["x = Placeholder()", "y = Identity(x)"]

Make = Callable[[Maker], Any]


def one(op: str, *constants: Any, first: bool = False, **attrs: Any) -> Make:
    """``op`` of x and constants; x last where ``first`` constants come first."""

    def make(m: Maker) -> None:
        held = [m.const(f"c{k}", value) for k, value in enumerate(constants)]
        inputs = [*held, "x"] if first else ["x", *held]
        m.op(op, "y", *inputs, **attrs)

    return make


def made(make: Make, shape: Any = (-1, 3), dtype: Any = FLOAT32) -> Maker:
    m = Maker()
    m.x(shape=shape, dtype=dtype)
    make(m)
    return m


# Rules that leave the operand itself: shape of x, then the node.
PASSES_ON = {
    "split": ((-1, 3), one("Split", 1, first=True, num_split=1, **F)),
    "transpose": ((-1, 3), one("Transpose", [0, 1], Tperm=INT32, **F)),
    "transpose of ones": ((1, 1, 3), one("Transpose", [1, 0, 2], Tperm=INT32, **F)),
    "reverse": ((1, 3), one("ReverseV2", [0], **FI)),
    "slice": ((-1, 3), one("Slice", [0, 0], [-1, 3], Index=INT32, **F)),
    "strided slice": (
        (-1, 3),
        one("StridedSlice", [0, 0], [0, 5], [1, 1], end_mask=1, Index=INT32, **F),
    ),
    "tile": ((-1, 3), one("Tile", [1, 1], Tmultiples=INT32, **F)),
    "identity-move: pad": ((-1, 3), one("Pad", [[0, 0], [0, 0]], Tpaddings=INT32, **F)),
    "squeeze": ((2, 3), one("Squeeze", **F)),
    "broadcast": ((2, 3), one("BroadcastTo", [2, 3], **FI)),
    "max": ((1, 3), one("Max", [0], keep_dims=True, **FI)),
    "no axes": ((-1, 3), one("Prod", np.zeros(0, np.int32), **FI)),
    "identity-reshape": ((2, 3), one("Reshape", [2, 3], Tshape=INT32, **F)),
    "reshape -1": ((-1, 3), one("Reshape", [-1, 3], Tshape=INT32, **F)),
    "times 1": ((-1, 3), one("Mul", [1.0, 1.0, 1.0], **F)),
    "1 times": ((-1, 3), one("Mul", 1.0, first=True, **F)),
    "plus -0": ((-1, 3), one("AddV2", -0.0, **F)),
    "minus 0": ((-1, 3), one("Sub", 0.0, **F)),
    "identity-element: by 1": ((-1, 3), one("RealDiv", 1.0, **F)),
}
# What looks alike and must stay as it is.
STAYS = {
    "split of 3": (
        (-1, 3),
        lambda m: m.op(
            "Identity", "y", m.op("Split", "s", m.const("k", 1), "x", num_split=3, **F), **F
        ),
    ),
    "transpose": ((3, 3), one("Transpose", [1, 0], Tperm=INT32, **F)),
    "transpose of an unknown size": ((-1, 1, 3), one("Transpose", [1, 0, 2], Tperm=INT32, **F)),
    "reverse": ((-1, 3), one("ReverseV2", [0], **FI)),
    "slice of a part": ((-1, 3), one("Slice", [0, 1], [-1, 2], Index=INT32, **F)),
    "slice of an unknown size": ((-1, 3), one("Slice", [0, 0], [2, 3], Index=INT32, **F)),
    "strided slice": ((-1, 3), one("StridedSlice", [0, 0], [5, 5], [1, 1], Index=INT32, **F)),
    "strided backwards": (
        (-1, 3),
        one("StridedSlice", [0, 0], [0, 0], [1, -1], begin_mask=3, end_mask=3, Index=INT32, **F),
    ),
    "strided and shrunk": (
        (1, 3),
        one("StridedSlice", [0], [1], [1], shrink_axis_mask=1, Index=INT32, **F),
    ),
    "tile": ((-1, 3), one("Tile", [1, 2], Tmultiples=INT32, **F)),
    "identity-move: pad": ((-1, 3), one("Pad", [[0, 0], [0, 1]], Tpaddings=INT32, **F)),
    "squeeze": ((1, 3), one("Squeeze", **F)),
    "squeeze of an unknown size": ((-1, 3), one("Squeeze", **F)),
    "broadcast": ((1, 3), one("BroadcastTo", [2, 3], **FI)),
    "max of an unknown size": ((-1, 3), one("Max", [0], keep_dims=True, **FI)),
    "norm": ((1, 3), one("EuclideanNorm", [0], keep_dims=True, **FI)),
    "identity-reshape": ((-1, 3), one("Reshape", [3, -1], Tshape=INT32, **F)),
    "reshape with two unknown": ((-1, -1), one("Reshape", [-1, 3], Tshape=INT32, **F)),
    "reshape that tells a size": ((-1, 3), one("Reshape", [1, 3], Tshape=INT32, **F)),
    "times 1 of a larger shape": ((-1, 1), one("Mul", [1.0, 1.0], **F)),
    "times 1 where the shape is unknown": (None, one("Mul", [1.0], **F)),
    "times 0": ((-1, 3), one("Mul", 0.0, **F)),
    "plus 0 exactly": ((-1, 3), one("AddV2", 0.0, **F)),
    "minus -0 exactly": ((-1, 3), one("Sub", -0.0, **F)),
    "0 minus exactly": ((-1, 3), one("Sub", 0.0, first=True, **F)),
    "0 by": ((-1, 3), one("RealDiv", 0.0, first=True, **F)),
    "floor by 1": ((-1, 3), one("FloorDiv", 1.0, **F)),
    "by 3 exactly": ((-1, 3), one("RealDiv", 3.0, **F)),
    "by 0": ((-1, 3), one("RealDiv", 0.0, **F)),
    "by a tiny number": ((-1, 3), one("RealDiv", 1e-39, **F)),
    "by an infinite one": ((-1, 3), one("RealDiv", np.inf, **F)),
    "sum of one exactly": ((1, 3), one("Sum", [0], keep_dims=True, **FI)),
    "concatenation": (
        (-1, 3),
        lambda m: m.op(
            "ConcatV2", "y", "x", m.const("c", [[1.0] * 3]), "x", m.const("k", 0), N=3, **FI
        ),
    ),
}


def test_a_reshape_that_tells_a_size_refuses_others_still() -> None:
    m = made(one("Reshape", [1, 3], Tshape=INT32, **F), (-1, 3))
    for optimizer in ("off", OptimizerConfig(min_graph_nodes=-1)):
        session = Session(m.graph, SessionConfig(optimizer=optimizer))
        assert session.run("y:0", {"x:0": np.ones((1, 3), np.float32)}).shape == (1, 3)
        with pytest.raises(DrystoneError, match="Reshape"):
            session.run("y:0", {"x:0": np.ones((2, 3), np.float32)})


@pytest.mark.parametrize("name", PASSES_ON)
def test_becomes_its_operand(name: str) -> None:
    shape, make = PASSES_ON[name]
    m = made(make, shape)
    value = np.resize(X["x:0"], [2 if d < 0 else d for d in shape])
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"], numeric="exact")
    assert "y = Identity(x)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": value}, exact=True)
    again, _ = run_pass(after, FOLD, ["y:0"], ["x:0"], numeric="exact")
    assert again is after


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str) -> None:
    shape, make = STAYS[name]
    assert_unchanged(made(make, shape), FOLD, ["y:0"], ["x:0"], numeric="exact")


@pytest.mark.parametrize(("make", "line"), [
    (one("AddV2", 0.0, **F), "y = Identity(x)"),
    (one("Sub", 0.0, first=True, **F), "y = Neg(x)"),
    (one("BiasAdd", [0.0] * 3, **F), "y = Identity(x)"),
    pytest.param(one("Sum", np.zeros(0, np.int32), **FI), "y = Identity(x)", id="sum-of-one"),
    (one("RealDiv", 3.0, **F), "y = Mul(x, y/reciprocal)"),
])  # fmt: skip
def test_by_default_roundings_and_signs_of_zeros_may_differ(make: Make, line: str) -> None:
    m = made(make)
    after, report = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert line in as_lines(after)
    assert report.steps[0].numeric == "reassociates"
    assert_same_values(m.graph, after, ["y:0"], X, exact=False)


@pytest.mark.parametrize(("make", "line"), [
    pytest.param(
        one("RealDiv", [2.0, 0.5, -4.0], **F), "y = Mul(x, y/reciprocal)", id="division-by-constant"
    ),
    (one("RealDiv", 1.0, first=True, **F), "y = Reciprocal(x)"),
    pytest.param(one("Pack", N=1, axis=-1, **F), "y = ExpandDims(x, y/axis)", id="pack-of-one"),
])  # fmt: skip
def test_becomes_another_op_exactly(make: Make, line: str) -> None:
    m = made(make)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"], numeric="exact")
    assert line in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)


def test_reduce_size_one_that_drops_axes_becomes_squeeze() -> None:
    m = made(one("Max", [0, -1], **FI), (1, 3, 1))
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert after["y"].op == "Squeeze"
    assert_same_values(m.graph, after, ["y:0"], {"x:0": np.ones((1, 3, 1), np.float32)}, exact=True)


@pytest.mark.parametrize(("op", "value", "line"), [
    ("LogicalAnd", True, "y = Identity(x)"),
    ("LogicalAnd", False, "y = Const([False, False])"),
    ("LogicalOr", False, "y = Identity(x)"),
    ("LogicalOr", True, "y = Const([True, True])"),
])  # fmt: skip
def test_logic(op: str, value: bool, line: str) -> None:
    m = Maker()
    m.op(op, "y", m.x(shape=(2,), dtype=BOOL), m.const("c", np.bool_(value), BOOL))
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert line in as_lines(after)


def test_integers_times_zero() -> None:
    m = made(one("Mul", 0, T=INT32), (2,), INT32)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert "y = Const([0, 0])" in as_lines(after)


def chain(first: str, a: Any, second: str, b: Any, flip: bool = False) -> Make:
    def make(m: Maker) -> None:
        inputs = [m.const("a", a), "x"] if flip else ["x", m.const("a", a)]
        m.op(first, "i", *inputs, **F)
        m.op(second, "y", "i", m.const("b", b), **F)

    return make


@pytest.mark.parametrize(("make", "line"), [
    (chain("AddV2", 1.0, "AddV2", [2.0, 3.0, 4.0]), "y/joined = Const([3.0, 4.0, 5.0])"),
    (chain("Sub", 1.0, "AddV2", 4.0), "y/joined = Const(3.0)"),
    (chain("Mul", 2.0, "Mul", 4.0, flip=True), "y/joined = Const(8.0)"),
])  # fmt: skip
def test_constants_of_a_chain_join(make: Make, line: str) -> None:
    m = made(make)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert line in as_lines(after)
    assert "i" not in after
    assert_same_values(m.graph, after, ["y:0"], X, exact=False)


@pytest.mark.parametrize("make", [
    chain("AddV2", 1.0, "Mul", 2.0),
    chain("Sub", 1.0, "AddV2", 4.0, flip=True),
    chain("Mul", 1e30, "Mul", 1e30),
    chain("Mul", 1e-30, "Mul", 1e-30),
    chain("AddV2", [[1.0], [2.0]], "AddV2", 1.0),
])  # fmt: skip
def test_constants_that_do_not_go_together(make: Make) -> None:
    assert_unchanged(made(make), FOLD, ["y:0"], ["x:0"])


def test_constants_of_a_chain_that_is_read_elsewhere_stay() -> None:
    m = made(chain("AddV2", 1.0, "AddV2", 4.0))
    assert_unchanged(m, FOLD, ["y:0", "i:0"], ["x:0"])
    assert_unchanged(
        made(chain("AddV2", 1.0, "AddV2", 4.0)), FOLD, ["y:0"], ["x:0"], numeric="exact"
    )


def test_merge_constant_terms() -> None:
    m = made(lambda m: m.op("AddN", "y", m.const("a", [[1.0] * 3]), "x", m.const("b", [[2.0] * 3]),
                            N=3, **F), (1, 3))  # fmt: skip
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert "y = AddN(x, y/constants)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": X["x:0"][:1]}, exact=False)


def concat(inner_axis: int, outer_axis: int) -> Maker:
    def make(m: Maker) -> None:
        m.op("ConcatV2", "i", "x", m.const("a", [[1.0] * 3]), m.const("k", inner_axis), N=2, **FI)
        m.op("ConcatV2", "y", m.const("b", [[2.0] * 3]), "i", m.const("b2", [[3.0] * 3]),
             m.const("j", outer_axis), N=3, **FI)  # fmt: skip

    return made(make, (1, 3))


def test_concat_of_concat_and_concat_of_constants() -> None:
    m = concat(0, -2)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert "y = ConcatV2(b, x, y/constants, j)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": X["x:0"][:1]}, exact=True)


def test_concatenations_along_other_axes_stay() -> None:
    def make(m: Maker) -> None:
        m.op("ConcatV2", "i", "x", "x", m.const("k", 1), N=2, **FI)
        m.op("ConcatV2", "y", "i", "i", m.const("j", 0), N=2, **FI)

    assert_unchanged(made(make), FOLD, ["y:0"], ["x:0"])


def negation(m: Maker, name: str, op: str) -> FunctionRef:
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="a", type=1)
    proto.signature.output_arg.add(name="r", type=1)
    inner = NodeDef(name="n", op=op, input=["a"])
    inner.attr["T"].CopyFrom(encode_attr(FLOAT32))
    proto.node_def.append(inner)
    proto.ret["r"] = "n:y:0"
    m.graph.functions.add(proto)
    return FunctionRef(name)


@pytest.mark.parametrize(("value", "op"), [(np.bool_(True), "Neg"), (np.bool_(False), "Square")])
def test_a_constant_condition_calls_its_branch(value: Any, op: str) -> None:
    m = Maker()
    branches = {"then_branch": negation(m, "t", "Neg"), "else_branch": negation(m, "e", "Square")}
    m.op("If", "y", m.const("c", value, BOOL), m.x(), Tcond=BOOL, Tin=[FLOAT32], Tout=[FLOAT32],
         **branches)  # fmt: skip
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert "y = StatefulPartitionedCall(x)" in as_lines(after)
    assert after["y"].attrs["f"].name == ("t" if op == "Neg" else "e")
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)


@pytest.mark.parametrize(("index", "name"), [(0, "a"), (1, "b"), (7, "b"), (-1, "b")])
def test_a_constant_case_calls_its_branch(index: int, name: str) -> None:
    m = Maker()
    branches = [negation(m, "a", "Neg"), negation(m, "b", "Square")]
    m.op("StatelessCase", "y", m.const("c", index), m.x(), Tin=[FLOAT32], Tout=[FLOAT32],
         branches=branches)  # fmt: skip
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert after["y"].attrs["f"].name == name
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)


def choice(condition: Any, a: Any = (2, 3), b: Any = (2, 3)) -> Maker:
    m = Maker()
    m.op("SelectV2", "y", m.const("c", condition, BOOL), m.x("a", a), m.x("b", b), **F)
    return m


def test_a_constant_choice_is_made() -> None:
    after, _ = run_pass(choice([True] * 3).graph, FOLD, ["y:0"], ["a:0", "b:0"])
    assert "y = Identity(a)" in as_lines(after)
    after, _ = run_pass(choice(np.bool_(False)).graph, FOLD, ["y:0"], ["a:0", "b:0"])
    assert "y = Identity(b)" in as_lines(after)


def test_a_mixed_choice_and_one_that_would_change_the_shape_stay() -> None:
    assert_unchanged(choice([True, False, True]), FOLD, ["y:0"], ["a:0", "b:0"])
    assert_unchanged(choice([True] * 3, a=(1, 3)), FOLD, ["y:0"], ["a:0", "b:0"])
    assert_unchanged(choice([True] * 3, a=(-1, 3)), FOLD, ["y:0"], ["a:0", "b:0"])


def test_constant_zeros_like_of_a_known_shape() -> None:
    m = made(lambda m: m.op("ZerosLike", "y", "x", **F), (2,))
    check(m, FOLD, ["y:0"], ["x = Placeholder()", "y = Const([0.0, 0.0])"],
          {"x:0": np.ones(2, np.float32)})  # fmt: skip
    assert_unchanged(made(lambda m: m.op("ZerosLike", "y", "x", **F)), FOLD, ["y:0"], ["x:0"])
    assert_unchanged(
        made(lambda m: m.op("ZerosLike", "y", "x", **F), (99, 999)), FOLD, ["y:0"], ["x:0"]
    )


def test_what_a_branch_decides_is_still_waited_for() -> None:
    m = Maker()
    m.op("Switch", "s", m.x(shape=(2, 3)), m.x("p", (), BOOL), **F)
    m.op("Identity", "yes", "s:1", **F)
    m.op("Mul", "n", "x", m.const("c", 1.0, controls=["yes"]), **F)
    m.op("Merge", "y", "s:0", "n", N=2, **F)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0", "p:0"])
    assert "n = Identity(x, ^c)" in as_lines(after)


def gradient(under: str, other: Any) -> Maker:
    """What is reduced of x and of another tensor for their gradients."""
    m = Maker()
    m.x()
    m.op("Neg", "n", "x", **F)
    m.x("z", other)
    shapes = [m.op("Shape", f"s{name}", name, out_type=INT32, **F) for name in ("x", under)]
    m.op("BroadcastGradientArgs", "g", *shapes, T=INT32)
    m.op("ConcatV2", "y", "g", (m.graph["g"], 1), m.const("axis", 0), N=2, T=INT32, Tidx=INT32)
    return m


def test_broadcast_gradient_of_same_shapes_reduces_nothing() -> None:
    m = gradient("n", (-1, 3))
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0", "z:0"])
    assert after["y"].op == "Const"
    assert "g" not in after
    assert_same_values(m.graph, after, ["y:0"], {**X, "z:0": X["x:0"]}, exact=True)
    again, _ = run_pass(after, FOLD, ["y:0"], ["x:0", "z:0"])
    assert again is after


def test_a_fetched_gradient_of_the_same_shape_stays_under_its_name() -> None:
    m = gradient("n", (-1, 3))
    fetches = ["g:0", "g:1"]
    after, _ = run_pass(m.graph, FOLD, fetches, ["x:0", "z:0"])
    assert "g = IdentityN(g/nothing, g/nothing)" in as_lines(after)
    assert_same_values(m.graph, after, fetches, {**X, "z:0": X["x:0"]}, exact=True)


@pytest.mark.parametrize("other", [(-1, 3), None])
def test_gradients_of_shapes_that_may_differ_stay(other: Any) -> None:
    m = gradient("z", other)
    assert_unchanged(m, FOLD, ["y:0"], ["x:0", "z:0"])


def test_gradients_of_shapes_that_are_fed_stay() -> None:
    assert_unchanged(gradient("n", (-1, 3)), FOLD, ["y:0"], ["x:0", "z:0", "sn:0"])


def reshape(data: Any, *sizes: Any, of: str = "x", op: str = "AddV2") -> Maker:
    """A Reshape of x to sizes, where None is the first size of ``of``."""
    m = Maker()
    m.x(shape=data)
    m.x("z", (-1, 4))
    ends = [m.const(f"e{k}", [k], INT32) for k in range(2)]
    shape = m.op("Shape", "shape", of, out_type=INT32, **F)
    first = m.op("StridedSlice", "first", shape, *ends, ends[1], T=INT32, Index=INT32,
                 shrink_axis_mask=1)  # fmt: skip
    parts = [first if d is None else m.const(f"d{k}", d) for k, d in enumerate(sizes)]
    m.op("Reshape", "y", "x", m.op("Pack", "to", *parts, N=len(sizes), T=INT32), Tshape=INT32, **F)
    return m


@pytest.mark.parametrize(("data", "sizes", "expected"), [
    ((-1, 2, 3), (None, 6), [-1, 6]), ((-1, 6), (2, 3, None), [2, 3, -1]),
    ((-1, -1, 6), (None, 3, 2), [-1, 3, 2]),
])  # fmt: skip
def test_reshape_inferred_size_not_constant(data: Any, sizes: Any, expected: Any) -> None:
    m = reshape(data, *sizes)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    lines = ["x = Placeholder()", f"y/sizes = Const({expected})", "y = Reshape(x, y/sizes)"]
    assert set(lines) <= set(as_lines(after))
    assert not {"to", "first", "shape"} & {node.name for node in after}
    shape = [4 if k == 0 else 1 if d < 0 else d for k, d in enumerate(data)]
    value = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": value}, exact=True)
    again, _ = run_pass(after, FOLD, ["y:0"], ["x:0"])
    assert again is after


@pytest.mark.parametrize("m", [
    reshape((-1, 6), None, None, 6), reshape((-1, 6), None, 0),
    reshape((-1, -1, 6), None, 3, 2, of="z"), reshape(None, None, 6, of="z"),
], ids=["two sizes", "nothing", "another tensor's size", "of an unknown rank"])  # fmt: skip
def test_a_reshape_to_other_sizes_stays(m: Maker) -> None:
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0", "z:0"])
    assert "y = Reshape(x, to)" in as_lines(after)


@pytest.mark.parametrize("fed", ["to", "first", "shape"])
def test_a_reshape_to_sizes_that_are_fed_stays(fed: str) -> None:
    m = reshape((-1, -1, 6), None, 3, 2)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0", f"{fed}:0"])
    assert "y = Reshape(x, to)" in as_lines(after)
