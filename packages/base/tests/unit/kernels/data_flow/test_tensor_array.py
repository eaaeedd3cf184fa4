"""TensorArrays and stacks: values and refusals as TensorFlow 2.21 gives them."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from stateful import Bench, f32, i32, i64, shapes

from drystone_base.core.dtypes import FLOAT32

F = np.float32


class Arrays(Bench):
    """Shorthands over :class:`Bench`."""

    def make(self, size: int = 2, shape: Any = None, dtype: str = "float32", **attrs: Any) -> Any:
        return self.all(
            "TensorArrayV3", i32(size), dtype=dtype, element_shape=shape, **attrs
        )  # fmt: skip

    def write(self, h: Any, at: int, value: Any, flow: Any) -> Any:
        return self("TensorArrayWriteV3", h, i32(at), f32(value), flow, T="float32")

    def read(self, h: Any, at: int, flow: Any) -> Any:
        return self("TensorArrayReadV3", h, i32(at), flow, dtype="float32")

    def gather(self, h: Any, at: list[int], flow: Any, shape: Any = None) -> Any:
        given = np.array(at, np.int32)
        return self("TensorArrayGatherV3", h, given, flow, dtype="float32", element_shape=shape)


def test_write_read_clear() -> None:
    b = Arrays()
    h, flow = b.make()
    flow = b.write(h, 0, [1, 2], flow)
    b.fails("INVALID_ARGUMENT", "written once", "TensorArrayWriteV3", h, i32(0), f32([1]), flow)
    assert b.read(h, 0, flow).tolist() == [1, 2]
    read = ("TensorArrayReadV3", h)
    b.fails("INVALID_ARGUMENT", "read twice", *read, i32(0), flow, dtype="float32")
    b.fails("INVALID_ARGUMENT", "must be written", *read, i32(1), flow, dtype="float32")
    b.fails("INVALID_ARGUMENT", "must lie in", *read, i32(2), flow, dtype="float32")
    b.fails("INVALID_ARGUMENT", "must lie in", *read, i32(-1), flow, dtype="float32")
    b.fails("INVALID_ARGUMENT", "dtype", *read, i32(0), flow, dtype="int32")
    b.fails("INVALID_ARGUMENT", "must lie in", "TensorArrayWriteV3", h, i32(2), f32(1), flow)


def test_kept_elements_can_be_read_again_but_not_written() -> None:
    b = Arrays()
    h, flow = b.make(clear_after_read=False)
    b.write(h, 0, 3, flow)
    assert b.read(h, 0, flow) == b.read(h, 0, flow) == 3
    b.fails("INVALID_ARGUMENT", "after it was read", "TensorArrayWriteV3", h, i32(0), f32(1), flow)


def test_unwritten_elements_of_known_shape_are_zeros() -> None:
    b = Arrays()
    h, flow = b.make(shape=(2,))
    assert b.read(h, 1, flow).tolist() == [0, 0]
    b.fails("INVALID_ARGUMENT", "the shape of", "TensorArrayWriteV3", h, i32(0), f32(1), flow)


def test_dynamic_arrays_grow() -> None:
    b = Arrays()
    h, flow = b.make(dynamic_size=True)
    b.write(h, 4, 1, flow)
    assert b("TensorArraySizeV3", h, flow) == 5
    assert b.read(h, 4, flow) == 1


def test_identical_shapes_bind_after_the_first_write() -> None:
    b = Arrays()
    h, flow = b.make(identical_element_shapes=True)
    b.write(h, 0, [1], flow)
    b.fails("INVALID_ARGUMENT", "the shape of", "TensorArrayWriteV3", h, i32(1), f32([1, 2]), flow)
    assert b.read(h, 1, flow).tolist() == [0]


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(5)), st.lists(st.integers(0, 4), max_size=6))
def test_scatter_then_gather_is_indexing(order: list[int], wanted: list[int]) -> None:
    b = Arrays()
    h, flow = b.make(5, shape=(2,), clear_after_read=False)
    rows = np.arange(10, dtype=F).reshape(5, 2)
    flow = b("TensorArrayScatterV3", h, i32(order), rows, flow)
    table = np.empty_like(rows)
    table[order] = rows
    assert np.array_equal(b.gather(h, wanted, flow), table[np.array(wanted, int)])


def test_gather_nothing() -> None:
    b = Arrays()
    h, flow = b.make()
    assert b.gather(h, [], flow, (3,)).shape == (0, 3)
    none = np.zeros(0, np.int32)
    b.fails(
        "UNIMPLEMENTED", "known shape",
        "TensorArrayGatherV3", h, none, flow, dtype="float32", element_shape=None,
    )  # fmt: skip


def test_gather_refuses_mixed_shapes() -> None:
    b = Arrays()
    h, flow = b.make()
    b.write(h, 0, [1], flow)
    b.write(h, 1, [1, 2], flow)
    at = i32([0, 1])
    b.fails("INVALID_ARGUMENT", "equal", "TensorArrayGatherV3", h, at, flow, dtype="float32")


def test_concat_and_split() -> None:
    b = Arrays()
    h, flow = b.make()
    value = f32([[1, 2], [3, 4], [5, 6]])
    flow = b("TensorArraySplitV3", h, value, i64([1, 2]), flow)
    joined, lengths = b.all("TensorArrayConcatV3", h, flow, dtype="float32")
    assert np.array_equal(joined, value)
    assert lengths.tolist() == [1, 2]
    other, flow = b.make()
    for lengths in (i64([1, 1, 1]), i64([1, 1])):
        b.fails("INVALID_ARGUMENT", "length", "TensorArraySplitV3", other, value, lengths, flow)


def test_concat_of_no_elements() -> None:
    b = Arrays()
    h, flow = b.make(0)
    out, lengths = b.all(
        "TensorArrayConcatV3", h, flow, dtype="float32", element_shape_except0=(2,)
    )
    assert out.shape == (0, 2)
    assert lengths.shape == (0,)
    b.fails("UNIMPLEMENTED", "known shape", "TensorArrayConcatV3", h, flow, dtype="float32")


def test_gradients_add_up_and_default_to_zeros() -> None:
    b = Arrays()
    h, flow = b.make()
    b.write(h, 0, [1], flow)
    grad, gflow = b.all("TensorArrayGradV3", h, flow, source="g")
    same, _ = b.all("TensorArrayGradV3", h, flow, source="g")
    b.write(grad, 0, [2], gflow)
    b.fails(
        "INVALID_ARGUMENT",
        "equal shapes",
        "TensorArrayWriteV3",
        grad,
        i32(0),
        f32([1, 2]),
        gflow,
    )
    b.write(same, 0, [3], gflow)
    assert b.read(grad, 0, gflow).tolist() == [5]
    other, _ = b.all("TensorArrayGradV3", h, flow, source="h")
    assert b.read(other, 0, gflow).tolist() == [0]
    b.fails(
        "INVALID_ARGUMENT",
        "known shape",
        "TensorArrayReadV3",
        other,
        i32(1),
        gflow,
        dtype="float32",
    )
    tall, _ = b.all("TensorArrayGradWithShape", h, flow, i32([3]), source="s")
    assert b.read(tall, 0, gflow).shape == (3, 1)


def test_bad_sizes_and_closed_arrays() -> None:
    b = Arrays()
    b.fails("INVALID_ARGUMENT", "negative", "TensorArrayV3", i32(-1), dtype="float32")
    h, flow = b.make()
    b.all("TensorArrayCloseV3", h)
    b.fails("INVALID_ARGUMENT", "closed", "TensorArraySizeV3", h, flow)
    b.fails("NOT_FOUND", "TensorArray", "TensorArraySizeV3", np.array(None), flow)


def test_strings() -> None:
    b = Arrays()
    h, flow = b.make(shape=(), dtype="string")
    b("TensorArrayWriteV3", h, i32(0), "a", flow, T="string")
    out = b("TensorArrayGatherV3", h, i32([0, 1]), flow, dtype="string")
    assert out.tolist() == [b"a", b""]


def test_shapes() -> None:
    attrs: dict[str, Any] = {"dtype": FLOAT32, "element_shape": (2, -1), "count": 2}
    out, call = shapes("TensorArrayV3", [()], identical_element_shapes=True, **attrs)
    assert out == [(), ()]
    assert call.output_handles == [(FLOAT32, (2, -1)), None]
    _, loose = shapes("TensorArrayV3", [()], **attrs)
    assert loose.output_handles == [(FLOAT32, None), None]
    held = call.output_handles[:1]
    assert shapes("TensorArrayReadV3", [(), (), ()], [*held, None, None])[0] == [(2, -1)]
    out, _ = shapes(
        "TensorArrayGatherV3", [(), (5,), ()], [*held, None, None], element_shape=(-1, 4)
    )
    assert out == [(5, 2, 4)]
    out, grad = shapes("TensorArrayGradWithShape", [(), (), i32([3])], [*held, None, None], count=2)
    assert grad.output_handles == [(FLOAT32, (3, 2, -1)), None]
    out, _ = shapes("TensorArrayConcatV3", [(), ()], element_shape_except0=(7,), count=2)
    assert out == [(-1, 7), (-1,)]


def test_stack() -> None:
    b = Bench()
    h = b("StackV2", i32(2), elem_type="float32")
    for k in (1, 2):
        assert b("StackPushV2", h, f32(k)) == k
    b.fails("INVALID_ARGUMENT", "outgrow", "StackPushV2", h, f32(3))
    b.fails("INVALID_ARGUMENT", "dtype", "StackPushV2", h, i32(3))
    b.fails("INVALID_ARGUMENT", "dtype", "StackPopV2", h, elem_type="int32")
    assert [b("StackPopV2", h, elem_type="float32").item() for _ in range(2)] == [2, 1]
    b.fails("INVALID_ARGUMENT", "empty", "StackPopV2", h, elem_type="float32")
    b.all("StackCloseV2", h)
    b.fails("INVALID_ARGUMENT", "closed", "StackPushV2", h, f32(1))
    assert shapes("StackPushV2", [(), (2,)], [None, None])[0] == [(2,)]
    assert shapes("StackPopV2", [()])[0] == [None]


def test_earlier_generations() -> None:
    b = Bench()
    flow = f32(0)
    for v in ("", "V2"):
        h = b(f"TensorArray{v}", i32(2), dtype="float32")
        rows = f32([[1], [2]])
        b(f"TensorArrayScatter{v}", h, i32([0, 1]), rows, flow)
        grad = b(f"TensorArrayGrad{v}", h.read() if not v else h, flow, source="g")
        b(f"TensorArrayWrite{v}", grad, i32(0), f32([3]), flow)
        assert b(f"TensorArrayRead{v}", grad, i32(1), flow, dtype="float32").tolist() == [0]
        out = b(f"TensorArrayGather{v}", h, i32([1]), flow, dtype="float32")
        assert out.tolist() == [[2]]
        assert b(f"TensorArraySize{v}", h, flow) == 2
    packed = b("TensorArray", i32(2), dtype="float32")
    b("TensorArrayUnpack", packed, f32([[1], [2]]), flow)
    assert b("TensorArrayPack", packed, flow, dtype="float32").tolist() == [[1], [2]]
    h = b("Stack", elem_type="float32")
    b("StackPush", h, f32(1))
    assert b("StackPop", h, elem_type="float32") == 1
    b.all("StackClose", h)
