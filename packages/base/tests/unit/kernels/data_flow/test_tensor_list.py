"""Tensor lists: values and refusals as TensorFlow 2.21 gives them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stateful import Bench, f32, i32, i64, shapes

from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.inference.shapes._registry import PartialValue
from drystone_base.kernels._variants import add_variants, zeros_like_variants
from drystone_base.kernels.data_flow._tensor_lists import TensorList, add, zeros_like
from drystone_base.state.variables import handle_array

F = np.float32
B = Bench()
DT: dict[str, Any] = {"element_dtype": "float32"}


def dims(shape: Any) -> Any:
    return i32(shape)


def reserve(n: int, shape: Any = -1) -> Any:
    return B("TensorListReserve", dims(shape), i32(n), **DT)


def of(rows: Any, shape: Any = -1) -> Any:
    return B("TensorListFromTensor", f32(rows), dims(shape))


def stack(h: Any, shape: Any = -1, n: int = -1) -> Any:
    return B("TensorListStack", h, dims(shape), num_elements=n, **DT).tolist()


def item(h: Any, index: int, shape: Any = -1) -> Any:
    return B("TensorListGetItem", h, i32(index), dims(shape), **DT).tolist()


def put(h: Any, index: int, value: Any, **attrs: Any) -> Any:
    return B("TensorListSetItem", h, i32(index), f32(value), **attrs)


def pop(h: Any) -> tuple[Any, Any]:
    rest, last = B.all("TensorListPopBack", h, dims(-1), **DT)
    return rest, last


def test_stack_fills_unset_elements() -> None:
    assert stack(put(reserve(2), 0, [1, 2])) == [[1, 2], [0, 0]]
    assert stack(reserve(0), [3]) == []
    assert stack(reserve(1), [2]) == [[0, 0]]


def test_stack_refusals() -> None:
    args = ("INVALID_ARGUMENT", "fully known", "TensorListStack")
    B.fails(*args, reserve(2), dims(-1), **DT)
    B.fails(*args, reserve(0), dims(-1), **DT)
    mixed = put(put(reserve(2), 0, [1, 2]), 1, [1])
    B.fails("INVALID_ARGUMENT", "must agree", "TensorListStack", mixed, dims(-1), **DT)
    three = reserve(2, [1])
    B.fails(
        "INVALID_ARGUMENT", "number of", "TensorListStack", three, dims(-1), num_elements=3, **DT
    )
    B.fails("INVALID_ARGUMENT", "agree", "TensorListStack", of([[1, 2]], [2]), dims([3]), **DT)
    B.fails("INVALID_ARGUMENT", "dtype", "TensorListStack", three, dims(-1), element_dtype="int32")


def test_get_item() -> None:
    assert item(put(reserve(2), 0, [1, 2]), 1) == [0, 0]
    assert item(reserve(2, [2]), 0) == [0, 0]
    assert item(of([[1, 2]]), 0) == [1, 2]
    for index in (-1, 2):
        B.fails(
            "INVALID_ARGUMENT",
            "must lie",
            "TensorListGetItem",
            reserve(2),
            i32(index),
            dims(-1),
            **DT,
        )
    B.fails(
        "INVALID_ARGUMENT",
        "fully known",
        "TensorListGetItem",
        reserve(2),
        i32(0),
        dims(-1),
        **DT,
    )


def test_set_item_leaves_the_old_list_alone() -> None:
    old = of([[1], [2]])
    new = put(old, 1, [5])
    assert stack(old) == [[1], [2]]
    assert stack(new) == [[1], [5]]
    B.fails("INVALID_ARGUMENT", "must lie", "TensorListSetItem", old, i32(2), f32([1]))
    B.fails(
        "INVALID_ARGUMENT",
        "element shape",
        "TensorListSetItem",
        reserve(1, [2]),
        i32(0),
        f32([1]),
    )
    grown = put(reserve(1, [1]), 3, [7], resize_if_index_out_of_bounds=True)
    assert stack(grown) == [[0], [0], [0], [7]]


def test_push_and_pop() -> None:
    h = B("EmptyTensorList", dims(-1), i32(2), **DT)
    h = B("TensorListPushBack", h, f32([1]))
    h = B("TensorListPushBack", h, f32([2]))
    B.fails("INVALID_ARGUMENT", "limit", "TensorListPushBack", h, f32([3]))
    rest, last = pop(h)
    assert last.tolist() == [2]
    assert B("TensorListLength", rest) == 1
    rest, _ = pop(rest)
    B.fails("INVALID_ARGUMENT", "empty", "TensorListPopBack", rest, dims(-1), **DT)
    assert pop(reserve(1, [1]))[1].tolist() == [0]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30))
def test_histories_that_share_a_store_stay_apart(steps: list[tuple[int, bool]]) -> None:
    """Push to or pop from any earlier list; every list still holds what it held when made."""
    made = [(TensorList(FLOAT32, ()), list[float]())]
    for which, popping in steps:
        source, model = made[which % len(made)]
        if popping and model:
            made.append((source.popped(), model[:-1]))
        else:
            value = float(len(made))
            made.append((source.pushed(np.array(value, F)), [*model, value]))
    for got, model in made:
        assert [None if v is None else v.item() for v in got.items()] == model


def test_pushing_in_a_loop_copies_nothing() -> None:
    first = TensorList(FLOAT32, ())
    last = first
    for k in range(100):
        last = last.pushed(np.array(k, F))
    assert last._store is first._store


def test_shape_and_size() -> None:
    assert B("TensorListElementShape", reserve(1, [-1, 2]), shape_type="int32").tolist() == [-1, 2]
    unknown = B("TensorListElementShape", reserve(1), shape_type="int64")
    assert unknown.tolist() == -1
    assert unknown.dtype == np.int64
    assert B("TensorListLength", B("TensorListResize", reserve(1), i32(4))) == 4
    assert stack(B("TensorListResize", of([[1], [2]]), i32(1))) == [[1]]
    B.fails("INVALID_ARGUMENT", "non-negative", "TensorListResize", reserve(1), i32(-4))
    B.fails("INVALID_ARGUMENT", "non-negative", "TensorListReserve", dims(-1), i32(-1), **DT)
    B.fails("INVALID_ARGUMENT", "have rows", "TensorListFromTensor", f32(1), dims(-1))
    B.fails("INVALID_ARGUMENT", "element shape", "TensorListFromTensor", f32([[1]]), dims([2]))
    B.fails("INVALID_ARGUMENT", "vector of dims", "EmptyTensorList", dims(3), i32(-1), **DT)


def gather(h: Any, at: list[int], shape: Any = -1) -> Any:
    return B("TensorListGather", h, np.array(at, np.int32), dims(shape), **DT).tolist()


def test_gather() -> None:
    assert gather(of([[1], [2]]), [1, 0, 1]) == [[2], [1], [2]]
    assert gather(put(reserve(2), 0, [5]), [1, 0]) == [[0], [5]]
    assert gather(of([[1], [2]]), [], [1]) == []
    none = np.zeros(0, np.int32)
    B.fails("INVALID_ARGUMENT", "fully known", "TensorListGather", of([[1]]), none, dims(-1), **DT)
    B.fails("INVALID_ARGUMENT", "must lie", "TensorListGather", of([[1]]), i32([1]), dims(-1), **DT)


def test_scatter() -> None:
    rows, at = f32([[1], [2]]), i32([2, 0])
    assert stack(B("TensorListScatter", rows, at, dims(-1))) == [[2], [0], [1]]
    five = B("TensorListScatterV2", rows, at, dims(-1), i32(5))
    assert stack(five) == [[2], [0], [1], [0], [0]]
    scatter = ("INVALID_ARGUMENT", "indices", "TensorListScatterV2", rows)
    B.fails(*scatter, at, dims(-1), i32(2))
    B.fails(*scatter, i32([-2, 0]), dims(-1), i32(2))
    B.fails(*scatter, i32([1]), dims(-1), i32(2))
    B.fails("INVALID_ARGUMENT", "size", "TensorListScatterV2", rows, at, dims(-1), i32(-2))
    into = B("TensorListScatterIntoExistingList", of([[9], [8]]), f32([[1]]), i32([3]))
    assert stack(into) == [[9], [8], [0], [1]]


def concat(h: Any, shape: Any = -1, leading: Any = ()) -> Any:
    args = (h, dims(shape), np.array(leading, np.int64))
    return [v.tolist() for v in B.all("TensorListConcatV2", *args, **DT)]


def test_concat() -> None:
    assert concat(of([[1, 2], [3, 4]])) == [[1, 2, 3, 4], [2, 2]]
    assert concat(reserve(0), [-1, 3]) == [[], []]
    partly = put(reserve(2, [-1, 2]), 0, [[1, 2]])
    assert concat(partly, -1, [1, 3]) == [[[1, 2], [0, 0], [0, 0], [0, 0]], [1, 3]]
    assert concat(partly) == [[[1, 2], [0, 0]], [1, 1]]
    assert concat(reserve(2, [3])) == [[0] * 6, [3, 3]]
    out, lengths = B.all("TensorListConcat", of([[1, 2]]), element_shape=None, **DT)
    assert out.tolist() == [1, 2]
    assert lengths.tolist() == [2]
    leading = np.zeros(0, np.int64)
    B.fails(
        "INVALID_ARGUMENT", "scalars", "TensorListConcatV2", of([1, 2]), dims(-1), leading, **DT
    )
    B.fails(
        "INVALID_ARGUMENT", "fully known", "TensorListConcatV2", reserve(0), dims(-1), leading, **DT
    )


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=5))
def test_split_undoes_concat(lengths: list[int]) -> None:
    whole = np.arange(sum(lengths) * 2, dtype=F).reshape(-1, 2)
    h = B("TensorListSplit", whole, dims(-1), np.array(lengths, np.int64))
    assert B("TensorListLength", h) == len(lengths)
    if lengths:
        assert concat(h) == [whole.tolist(), lengths]


def test_split_refusals() -> None:
    for lengths in ([1, 3], [4, -1]):
        B.fails(
            "INVALID_ARGUMENT",
            "lengths",
            "TensorListSplit",
            f32([1, 2, 3]),
            dims(-1),
            i64(lengths),
        )


def test_lists_in_batches() -> None:
    pair = np.empty(2, dtype=object)
    pair[:] = [TensorList(FLOAT32, (1,)), TensorList(FLOAT32, (1,))]
    pushed = B("TensorListPushBackBatch", pair, f32([[1], [2]]))
    joined = B("TensorListConcatLists", pushed, pushed, **DT)
    assert [stack(handle_array(v)) for v in joined] == [[[1], [1]], [[2], [2]]]
    B.fails("INVALID_ARGUMENT", "one element", "TensorListPushBackBatch", pair, f32([[1]]))


def test_sums_and_zeros() -> None:
    a, b = of([[1], [2]]).item(), put(reserve(2), 0, [5]).item()
    total = add(a, b)
    assert stack(handle_array(total)) == [[6], [2]]
    nested = TensorList(FLOAT32, (), [handle_array(a)])
    assert isinstance(zeros_like(nested)[0], np.ndarray)
    assert stack(zeros_like_variants(handle_array(a))) == [[0], [0]]
    assert stack(add_variants(handle_array(a), handle_array(a))) == [[2], [4]]
    assert add_variants(np.array(None), handle_array(a)).item() is a
    with pytest.raises(KernelError, match="same length"):
        add(a, of([[1]]).item())
    with pytest.raises(KernelError, match="has a zero and a sum"):
        zeros_like_variants(handle_array(object()))


def test_a_wrong_handle() -> None:
    B.fails("NOT_FOUND", "TensorList", "TensorListLength", np.array(None))


def test_inference() -> None:
    out, call = shapes("TensorListReserve", [i32([-1, 2]), ()], element_dtype=FLOAT32)
    assert out == [()]
    held = call.output_handles
    assert held == [(FLOAT32, (-1, 2))]
    out, _ = shapes("TensorListStack", [(), i32([3, -1])], [*held, None], num_elements=5)
    assert out == [(5, 3, 2)]
    assert shapes("TensorListGetItem", [(), (), (2,)], [*held, None, None])[0] == [(-1, 2)]
    assert shapes("TensorListGather", [(), (4,), (2,)], [*held, None, None])[0] == [(4, -1, 2)]
    out, call = shapes("TensorListPopBack", [(), ()], [*held, None], count=2)
    assert out == [(), (-1, 2)]
    assert call.output_handles == [*held, None]
    assert shapes("TensorListConcatV2", [(), (2,), (0,)], [*held, None, None])[0] == [
        (-1, 2),
        (-1,),
    ]
    out, call = shapes("TensorListElementShape", [()], held)
    assert out == [(2,)]
    assert call.output_values == [PartialValue.of_shape((-1, 2))]
    assert shapes("TensorListElementShape", [()])[0] == [None]
    with pytest.raises(ShapeError):
        shapes("TensorListPushBack", [(), (3,)], [*held, None])
    _, call = shapes("TensorListFromTensor", [(7, 3), i32([-1])], element_dtype=FLOAT32)
    assert call.output_handles == [(FLOAT32, (-1,))]
    with pytest.raises(ShapeError):
        shapes("TensorListFromTensor", [(7, 3), i32([4])], element_dtype=FLOAT32)
    _, call = shapes("EmptyTensorList", [np.array(-1), ()], element_dtype=FLOAT32)
    assert call.output_handles == [(FLOAT32, None)]
