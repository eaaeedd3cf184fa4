"""Variables by reference and by resource."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stateful import Bench, f32, i32, i64, shapes

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import ShapeError
from drystone_base.inference.shapes._registry import PartialValue
from drystone_base.state.variables import Variable


def test_ref_variable_keeps_its_value_and_is_found_by_name() -> None:
    b = Bench()
    ref = b("VariableV2", shape=(2,), dtype="float32", shared_name="w")
    assert b("IsVariableInitialized", ref).item() is False
    b("Assign", ref, f32([1, 2]))
    again = b("VariableV2", shape=(2,), dtype="float32", shared_name="w")
    assert again is ref
    assert isinstance(b("AssignAdd", ref, f32([1, 1])), Variable)
    b("AssignSub", ref, f32([0, 5]))
    assert again.read().tolist() == [2, -2]
    assert b("IsVariableInitialized", ref).item() is True


def test_reading_first_names_the_variable() -> None:
    b = Bench()
    ref = b("VariableV2", shape=(2,), dtype="float32", shared_name="weights")
    b.fails("FAILED_PRECONDITION", "'weights'", "AssignAdd", ref, f32([1, 1]))
    handle = b("VarHandleOp", shape=(2,), dtype="float32", shared_name="bias")
    b.fails("FAILED_PRECONDITION", "'bias'", "ReadVariableOp", handle, dtype="float32")


def test_assign_holds_the_shape_unless_told_otherwise() -> None:
    b = Bench()
    ref = b("VariableV2", shape=(2, -1), dtype="float32")
    b.fails("INVALID_ARGUMENT", "shape of a value", "Assign", ref, f32([1]))
    b("Assign", ref, np.zeros((2, 3), np.float32))
    b.fails("INVALID_ARGUMENT", "shape of a value", "Assign", ref, np.zeros((2, 4), np.float32))
    b("Assign", ref, np.zeros((2, 4), np.float32), validate_shape=False)
    assert ref.read().shape == (2, 4)
    b.fails("INVALID_ARGUMENT", "shape of a value", "AssignAdd", ref, f32(1))


def test_a_scalar_shape_means_unknown_for_the_first_variable_op() -> None:
    ref = Bench()("Variable", shape=(), dtype="int32")
    assert ref.shape is None
    assert shapes("Variable", [], shape=())[0] == [None]
    assert shapes("VariableV2", [], shape=())[0] == [()]


@settings(max_examples=20, deadline=None)
@given(st.integers(-5, 5), st.integers(-5, 8))
def test_count_up_to(start: int, limit: int) -> None:
    b = Bench()
    ref = b("VariableV2", shape=(), dtype="int32")
    b("Assign", ref, i32(start))
    seen = [b("CountUpTo", ref, limit=limit).item() for _ in range(max(0, limit - start))]
    assert seen == list(range(start, limit))
    b.fails("OUT_OF_RANGE", "counter", "CountUpTo", ref, limit=limit)


def test_int_overflow_wraps() -> None:
    b = Bench()
    ref = b("VariableV2", shape=(), dtype="int32")
    b("Assign", ref, i32(2**31 - 1))
    b("AssignAdd", ref, i32(1))
    assert ref.read() == -(2**31)


def test_resource_variable() -> None:
    b = Bench()
    handle = b("VarHandleOp", shape=(2,), dtype="float32", shared_name="v")
    assert b("VarIsInitializedOp", handle).item() is False
    b.all("AssignVariableOp", handle, f32([1, 2]))
    b.all("AssignAddVariableOp", handle, f32([1, 1]))
    b.all("AssignSubVariableOp", handle, f32([0, 1]))
    assert b("ReadVariableOp", handle, dtype="float32").tolist() == [2, 2]
    assert b("VariableShape", handle).tolist() == [2]
    assert b("VarIsInitializedOp", handle).item() is True
    (both,) = b.all("_ReadVariablesOp", handle, N=1, dtypes=[FLOAT32])
    assert both.tolist() == [2, 2]
    b.fails("INVALID_ARGUMENT", "dtype", "ReadVariableOp", handle, dtype="int32")
    b.fails(
        "INVALID_ARGUMENT", "shape of a value",
        "AssignVariableOp", handle, f32([1, 2, 3]), validate_shape=True,
    )  # fmt: skip


def test_reads_are_not_changed_by_later_writes() -> None:
    b = Bench()
    handle = b("VarHandleOp", shape=(1,), dtype="float32")
    b.all("AssignVariableOp", handle, f32([1]))
    before = b("ReadVariableOp", handle, dtype="float32")
    b.all("AssignAddVariableOp", handle, f32([1]))
    assert before.tolist() == [1]


def test_resource_counter() -> None:
    b = Bench()
    handle = b("VarHandleOp", shape=(), dtype="int64")
    b.all("AssignVariableOp", handle, i64(4))
    assert b("ResourceCountUpTo", handle, limit=5, T="int64") == 4
    b.fails("OUT_OF_RANGE", "counter", "ResourceCountUpTo", handle, limit=5, T="int64")


def test_destroyed_variables_are_gone() -> None:
    b = Bench()
    handle = b("VarHandleOp", shape=(), dtype="float32", shared_name="v")
    b.all("AssignVariableOp", handle, f32(4))
    b.all("DestroyResourceOp", handle)
    b.fails("FAILED_PRECONDITION", "'v'", "ReadVariableOp", handle, dtype="float32")
    fresh = b("VarHandleOp", shape=(), dtype="float32", shared_name="v")
    assert b("VarIsInitializedOp", fresh).item() is False
    b.fails(
        "NOT_FOUND", "must exist", "DestroyResourceOp", np.array(None), ignore_lookup_error=False
    )
    b.all("DestroyResourceOp", np.array(None))


def test_several_handles_and_anonymous_ones() -> None:
    b = Bench()
    first, second = b.all(
        "_VarHandlesOp", containers=["", ""], shared_names=["a", "b"], N=2,
        dtypes=[FLOAT32, INT32], shapes=[(), (1,)],
    )  # fmt: skip
    assert [h.item().name for h in (first, second)] == ["a", "b"]
    nameless = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
    one = b("VarHandleOp", shape=(), dtype="float32", shared_name=nameless)
    two = b("VarHandleOp", shape=(), dtype="float32", shared_name=nameless)
    assert one.item().resource is not two.item().resource


def test_temporary_variable_lives_once_in_a_step() -> None:
    b = Bench()
    ref = b("TemporaryVariable", shape=(2,), dtype="float32", var_name="t")
    b.fails(
        "ALREADY_EXISTS", "once", "TemporaryVariable", shape=(2,), dtype="float32", var_name="t"
    )
    b("Assign", ref, f32([1, 2]))
    assert b("DestroyTemporaryVariable", ref, var_name="t").tolist() == [1, 2]
    b.fails("NOT_FOUND", "must exist", "DestroyTemporaryVariable", ref, var_name="t")


def test_handles_carry_shapes() -> None:
    out, call = shapes("VarHandleOp", [], dtype=FLOAT32, shape=(2, -1))
    assert out == [()]
    assert call.output_handles == [(FLOAT32, (2, -1))]
    held = call.output_handles
    assert shapes("ReadVariableOp", [()], held, dtype=FLOAT32)[0] == [(2, -1)]
    with pytest.raises(ShapeError, match="declared dtype"):
        shapes("ReadVariableOp", [()], held, dtype=INT32)
    out, call = shapes("VariableShape", [()], held)
    assert out == [(2,)]
    assert call.output_values == [PartialValue.of_shape((2, -1))]
    assert shapes("VariableShape", [()])[0] == [(-1,)]
    with pytest.raises(ShapeError):
        shapes("AssignVariableOp", [(), (3, 1)], [*held, None], dtype=FLOAT32)


def test_shapes_of_ref_ops() -> None:
    assert shapes("Assign", [(2, -1), (-1, 3)])[0] == [(2, 3)]
    assert shapes("Assign", [(2,), (4, 5)], validate_shape=False)[0] == [(4, 5)]
    assert shapes("AssignAdd", [(2, -1), (2, 3)])[0] == [(2, 3)]
    assert shapes("CountUpTo", [()])[0] == [()]
    assert shapes("TemporaryVariable", [], shape=(3,))[0] == [(3,)]


def test_disable_copy_on_read_needs_a_variable() -> None:
    b = Bench()
    handle = b("VarHandleOp", shape=(2,), dtype="float32", shared_name="v")
    assert b.all("DisableCopyOnRead", handle) == []
    assert shapes("DisableCopyOnRead", [()])[0] == []
    b.fails("NOT_FOUND", "resource", "DisableCopyOnRead", np.array(None, dtype=object))
