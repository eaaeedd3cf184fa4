"""If, While, Case, For and calls over plain Python functions, shapes over a fake library."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stateful import Bench, i32, i64

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import ShapeError
from drystone_base.executor.testing import run_op
from drystone_base.inference.shapes._registry import (
    PartialValue,
    Shape,
    ShapeCall,
    find_shape_function,
)
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.truth import truth
from drystone_base.state.variables import Variable

ADD, SUB = FunctionRef("add"), FunctionRef("sub")
BENCH = Bench(
    {
        "add": lambda x: [x + 1],
        "sub": lambda x: [x - 1],
        "below": lambda x: [np.asarray(x < 10)],
        "two": lambda x: [x, x],
        "sum": lambda i, total: [np.asarray(total + i)],
    }
)


@pytest.mark.parametrize(
    ("value", "holds"),
    [(0, False), (-2, True), (0.0, False), (np.nan, True), (b"", False), (b"0", True),
     ([], False), ([0], True), ([[0, 0]], True), (True, True), (np.zeros((0, 3)), False)],
)  # fmt: skip
def test_truth(value: Any, holds: bool) -> None:
    array = np.array(value, dtype=object) if isinstance(value, bytes) else np.asarray(value)
    assert truth(array) is holds
    out = BENCH("If", array, i32(5), then_branch=ADD, else_branch=SUB, Tout=[INT32])
    assert out == (6 if holds else 4)


@pytest.mark.parametrize(("index", "want"), [(0, 6), (1, 4), (2, 4), (-1, 4)])
def test_case_takes_the_last_branch_for_an_index_out_of_range(index: int, want: int) -> None:
    for op in ("Case", "StatelessCase"):
        out = BENCH(op, i32(index), i32(5), branches=[ADD, SUB], Tout=[INT32])
        assert out == want


@settings(max_examples=20, deadline=None)
@given(st.integers(-20, 30))
def test_while_counts(start: int) -> None:
    out = BENCH("While", i32(start), cond=FunctionRef("below"), body=ADD)
    assert out == max(start, 10)


def test_while_refuses_a_body_of_another_arity() -> None:
    BENCH.fails(
        "INVALID_ARGUMENT", "as many values as it takes",
        "While", i32(0), cond=FunctionRef("below"), body=FunctionRef("two"),
    )  # fmt: skip
    BENCH.fails(
        "INVALID_ARGUMENT", "must return one value",
        "While", i32(0), cond=FunctionRef("two"), body=ADD,
    )  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 4))
def test_for_sums_its_counter(start: int, limit: int, size: int) -> None:
    delta = size if limit >= start else -size
    args = [i32(v) for v in (start, limit, delta)]
    out = BENCH("For", *args, i64(0), body=FunctionRef("sum"))
    assert out == sum(range(start, limit, delta))


def test_for_refuses_steps_that_lead_nowhere() -> None:
    for delta in (0, -1):
        args = [i32(v) for v in (0, 3, delta)]
        BENCH.fails("INVALID_ARGUMENT", "step", "For", *args, i64(0), body=FunctionRef("sum"))


def test_calls_pass_everything_on() -> None:
    assert BENCH("PartitionedCall", i32(1), f=ADD, Tout=[INT32]) == 2
    assert BENCH("StatefulPartitionedCall", i32(1), f=SUB, Tout=[INT32]) == 0
    assert BENCH("RemoteCall", "/cpu:0", i32(1), f=ADD, Tout=[INT32]) == 2


def test_fake_param_and_device_index() -> None:
    (fake,) = run_op("FakeParam", dtype="float32", shape=(-1, 2))
    assert fake.shape == (0, 2)
    assert fake.dtype == np.float32
    assert run_op("DeviceIndex", device_names=["GPU", "CPU"])[0] == 1
    assert run_op("DeviceIndex", device_names=["GPU"])[0] == 1


def infer(op: str, given: list[Shape], attrs: dict[str, Any], **known: Any) -> ShapeCall:
    """Runs a shape function with functions given as Python callables over shapes and values."""

    def library(function: Any, shapes: Any, values: Any, handles: Any) -> Any:
        out = function(list(shapes), list(values))
        return out[0], out[1], [None] * len(out[0])

    count = known.pop("count", 1)
    call = ShapeCall(
        "n",
        op,
        attrs,
        given,
        known.get("values", [None] * len(given)),
        [FLOAT32] * len(given),
        output_count=count,
        infer_function=library,
    )
    function = find_shape_function(op)
    assert function is not None
    call.attrs = {**attrs, "result": list(function(call))}
    return call


def test_if_keeps_what_both_branches_share() -> None:
    attrs = {
        "then_branch": lambda _s, _v: ([(2, 3), (1,)], [i32([4]), None]),
        "else_branch": lambda _s, _v: ([(2, 5), (1, 1)], [i32([4]), None]),
    }
    call = infer("If", [(), (2,)], attrs, count=2)
    assert call.attrs["result"] == [(2, -1), None]
    assert call.output_values is not None
    assert call.output_values[0] is not None
    taken = infer("If", [(), (2,)], attrs, count=2, values=[np.array(0), None])
    assert taken.attrs["result"] == [(2, 5), (1, 1)]


def test_declared_shapes_refine_inferred_ones() -> None:
    attrs = {
        "branches": [lambda _s, _v: ([(2, -1)], [None]), lambda _s, _v: ([(-1, -1)], [None])],
        "output_shapes": [(-1, 7)],
    }
    assert infer("Case", [(), ()], attrs).attrs["result"] == [(-1, 7)]


def test_while_widens_until_nothing_changes() -> None:
    def body(s: list[Any], v: list[Any]) -> Any:
        grown = (*s[0][:-1], s[0][-1] + 1 if s[0][-1] >= 0 else -1)
        kept = PartialValue((2,), (3, -1))
        return [grown, s[1], s[2]], [None, v[1], kept]

    same = np.array(3, np.int32)
    first = PartialValue((2,), (3, 4))
    call = infer(
        "While", [(2, 0), (), (2,)], {"body": body}, count=3, values=[np.zeros((2, 0)), same, first]
    )
    assert call.attrs["result"] == [(2, -1), (), (2,)]
    assert call.output_values == [None, same, PartialValue((2,), (3, -1))]


def test_while_gives_up_on_a_rank_that_grows() -> None:
    def body(s: list[Any], v: list[Any]) -> Any:
        return [None if s[0] is None else (1, *s[0])], [None]

    assert infer("While", [()], {"body": body}).attrs["result"] == [None]


def test_for_gives_its_body_a_counter() -> None:
    def body(s: list[Any], v: list[Any]) -> Any:
        assert s[0] == ()
        return [s[1]], [v[1]]

    assert infer("For", [(), (), (), (4,)], {"body": body}).attrs["result"] == [(4,)]


def test_without_a_library_nothing_is_known() -> None:
    function = find_shape_function("PartitionedCall")
    assert function is not None
    call = ShapeCall("n", "PartitionedCall", {"f": ADD}, [(1,)], [None], [FLOAT32], output_count=2)
    assert list(function(call)) == [None, None]


@pytest.mark.parametrize("target", ["", "CPU:0", "/device:GPU:1", "/job:localhost/task:0/cpu:0"])
def test_a_call_goes_to_any_device_of_this_process(target: str) -> None:
    assert BENCH("RemoteCall", target.encode(), i32(4), f=ADD, Tout=[INT32]) == 5


def test_a_call_to_another_process_is_refused() -> None:
    for target in ("/job:worker/replica:0/task:0/device:CPU:0", "/job:localhost/task:1/cpu:0"):
        text = np.array(target.encode(), object)
        BENCH.fails("INTERNAL", "no cluster", "RemoteCall", text, i32(4), f=ADD, Tout=[INT32])
    text = np.array(b"some where", object)
    BENCH.fails("INVALID_ARGUMENT", "one device", "RemoteCall", text, i32(4), f=ADD, Tout=[INT32])


def test_a_function_of_each_row() -> None:
    attrs: dict[str, Any] = {
        "Targuments": [INT32], "output_types": [INT32], "f": ADD, "Tcaptured": [],
    }  # fmt: skip
    out = BENCH("MapDefun", i32([[1, 2], [3, 4]]), **attrs, output_shapes=[None])
    assert out.tolist() == [[2, 3], [4, 5]]
    assert BENCH("MapDefun", i32([[1, 2]])[:0], **attrs, output_shapes=[(2,)]).shape == (0, 2)
    BENCH.fails(
        "INTERNAL", "full shapes", "MapDefun", i32([]), **attrs, output_shapes=[None],
    )  # fmt: skip
    BENCH.fails(
        "INVALID_ARGUMENT", "declared shape", "MapDefun", i32([1]), **attrs, output_shapes=[(2,)],
    )  # fmt: skip
    two = attrs | {"Targuments": [INT32, INT32]}
    BENCH.fails(
        "INVALID_ARGUMENT", "number of rows", "MapDefun", i32([1]), i32(1), **two,
        output_shapes=[()],
    )  # fmt: skip


def test_the_shape_of_rows() -> None:
    attrs: dict[str, Any] = {"Targuments": [INT32, INT32], "output_shapes": [None, (2, -1)]}
    call = ShapeCall("n", "MapDefun", attrs, [(-1, 2), (3,)], [None] * 2, [INT32] * 2)
    function = find_shape_function("MapDefun")
    assert function is not None
    assert function(call) == [None, (3, 2, -1)]
    call = ShapeCall("n", "MapDefun", attrs, [(4, 2), (3,)], [None] * 2, [INT32] * 2)
    with pytest.raises(ShapeError, match="must be equal"):
        function(call)


def test_a_reference_is_chosen() -> None:
    a, b = Variable("a", INT32, ()), Variable("b", INT32, ())
    assert BENCH("RefSelect", i32(1), a, b, N=2, T=INT32) is b
    BENCH.fails("INVALID_ARGUMENT", "choose one", "RefSelect", i32(2), a, b, N=2, T=INT32)
