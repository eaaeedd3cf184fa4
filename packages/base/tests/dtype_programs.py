"""Small programs of ops with state, for any dtype: which of their ops run, and which fail.

`ci/scripts/dtype_gaps.py` runs them for the dtypes of ops that have no random cases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from stateful import Bench, i32

from drystone_base.core.dtypes import DType, as_dtype

__all__ = ["failures"]


class Recorder(Bench):
    """Keeps the name of each op that ran."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[str] = []
        self.trying = ""

    def all(self, op: str, *inputs: Any, **attrs: Any) -> list[Any]:
        """Every output; the op is remembered."""
        self.trying = op
        out = super().all(op, *inputs, **attrs)
        self.ran.append(op)
        return out


def _values(dtype: DType, *shape: int) -> Any:
    count = int(np.prod(shape))
    if dtype.is_object:
        out = np.empty(count, object)
        out[:] = [b"%d" % k for k in range(count)]
        return out.reshape(shape)
    return (np.arange(count) % 2).astype(dtype.np).reshape(shape)


def _resource_variables(run: Recorder, dtype: DType) -> None:
    x, kind = _values(dtype, 3, 2), {"dtype": dtype.label}
    handle = run("VarHandleOp", shape=(3, 2), shared_name="v", **kind)
    run.all("AssignVariableOp", handle, x, **kind)
    assert run("ReadVariableOp", handle, **kind).tolist() == x.tolist()
    assert run("ResourceGather", handle, i32([2]), **kind).tolist() == x[2:].tolist()
    assert run("ResourceGatherNd", handle, i32([[1, 0]]), **kind).tolist() == x[1:2, 0].tolist()
    run.all("ResourceScatterUpdate", handle, i32([0]), x[1:2], **kind)
    run.all("ResourceScatterNdUpdate", handle, i32([[0]]), x[1:2])
    spec = i32([0]), i32([1]), i32([1])
    run.all("ResourceStridedSliceAssign", handle, *spec, x[:1])
    run.all("VariableShape", handle)


def _resource_sums(run: Recorder, dtype: DType) -> None:
    x, kind = _values(dtype, 3, 2), {"dtype": dtype.label}
    handle = run("VarHandleOp", shape=(3, 2), shared_name="v", **kind)
    run.all("AssignVariableOp", handle, x, **kind)
    run.all("AssignAddVariableOp", handle, x, **kind)
    run.all("AssignSubVariableOp", handle, x, **kind)
    assert run("ReadVariableOp", handle, **kind).tolist() == x.tolist()


def _references(run: Recorder, dtype: DType) -> None:
    x = _values(dtype, 3, 2)
    for op in ("Variable", "VariableV2"):
        ref = run(op, shape=(3, 2), dtype=dtype.label, shared_name=op)
        run.all("Assign", ref, x)
        run.all("IsVariableInitialized", ref)
        run.all("RefIdentity", ref)
        run.all("ScatterUpdate", ref, i32([0]), x[1:2])
        run.all("ScatterNdUpdate", ref, i32([[0]]), x[1:2])
        run.all("StridedSliceAssign", ref, i32([0]), i32([1]), i32([1]), x[:1])
    held = run("TemporaryVariable", shape=(3, 2), dtype=dtype.label, var_name="t")
    run.all("Assign", held, x)
    assert run("DestroyTemporaryVariable", held, var_name="t").tolist() == x.tolist()


def _reference_sums(run: Recorder, dtype: DType) -> None:
    x = _values(dtype, 3, 2)
    ref = run("VariableV2", shape=(3, 2), dtype=dtype.label, shared_name="v")
    run.all("Assign", ref, x)
    for op in ("AssignAdd", "AssignSub"):
        run.all(op, ref, x)
    for op in ("ScatterAdd", "ScatterSub", "ScatterMul"):
        run.all(op, ref, i32([0]), x[1:2])
    for op in ("ScatterNdAdd", "ScatterNdSub"):
        run.all(op, ref, i32([[0]]), x[1:2])
    run.all("ScatterDiv", ref, i32([0]), np.ones((1, 2), dtype.np))


def _reference_extremes(run: Recorder, dtype: DType) -> None:
    x = _values(dtype, 3, 2)
    ref = run("VariableV2", shape=(3, 2), dtype=dtype.label, shared_name="v")
    run.all("Assign", ref, x)
    for op in ("ScatterMax", "ScatterMin"):
        run.all(op, ref, i32([0]), x[1:2])
    for op in ("ScatterNdMax", "ScatterNdMin"):
        run.all(op, ref, i32([[0]]), x[1:2])


def _lists(run: Recorder, dtype: DType) -> None:
    x, kind = _values(dtype, 4, 2), {"element_dtype": dtype.label}
    shape = i32([2])
    made = run("TensorListFromTensor", x, shape, **kind)
    assert run("TensorListStack", made, shape, num_elements=4, **kind).tolist() == x.tolist()
    run.all("TensorListGetItem", made, i32(1), shape, **kind)
    run.all("TensorListSetItem", made, i32(1), x[0], **kind)
    run.all("TensorListGather", made, i32([3, 0]), shape, **kind)
    run.all("TensorListPopBack", made, shape, **kind)
    run.all("TensorListPushBack", run("EmptyTensorList", shape, i32(-1), **kind), x[0], **kind)
    rows = i32([0, 1, 2, 3])
    run.all("TensorListScatter", x, rows, shape, **kind)
    run.all("TensorListScatterV2", x, rows, shape, i32(4), **kind)
    run.all("TensorListScatterIntoExistingList", made, x[:1], i32([2]), **kind)
    split = run("TensorListSplit", x, i32([-1, 2]), np.array([3, 1]), **kind)
    run.all("TensorListConcat", split, element_shape=(-1, 2), **kind)
    run.all("TensorListConcatV2", split, i32([-1, 2]), np.zeros(0, np.int64), **kind)
    run.all("TensorListReserve", shape, i32(3), **kind)


def _arrays(run: Recorder, dtype: DType) -> None:
    x, kind = _values(dtype, 3, 2), {"dtype": dtype.label}
    handle, flow = run.all("TensorArrayV3", i32(3), **kind)
    flow = run("TensorArrayScatterV3", handle, i32([0, 1, 2]), x, flow, T=dtype.label)
    read = run("TensorArrayGatherV3", handle, i32([2, 0]), flow, **kind)
    assert read.tolist() == x[[2, 0]].tolist()
    handle, flow = run.all("TensorArrayV3", i32(2), **kind)
    flow = run("TensorArrayWriteV3", handle, i32(1), x[0], flow, T=dtype.label)
    assert run("TensorArrayReadV3", handle, i32(1), flow, **kind).tolist() == x[0].tolist()
    handle, flow = run.all("TensorArrayV3", i32(2), **kind)
    flow = run("TensorArraySplitV3", handle, x, np.array([1, 2]), flow, T=dtype.label)
    whole = run("TensorArrayConcatV3", handle, flow, **kind)
    assert whole.tolist() == x.tolist()


def _stacks(run: Recorder, dtype: DType) -> None:
    x = _values(dtype, 3)
    handle = run("StackV2", i32(-1), elem_type=dtype.label)
    run.all("StackPushV2", handle, x, T=dtype.label)
    assert run("StackPopV2", handle, elem_type=dtype.label).tolist() == x.tolist()


_PROGRAMS: tuple[Callable[[Recorder, DType], None], ...] = (
    _resource_variables, _resource_sums, _references, _reference_sums, _reference_extremes,
    _lists, _arrays, _stacks,
)  # fmt: skip


def failures(label: str) -> tuple[set[str], dict[str, str]]:
    """The ops that ran with a dtype, and those that failed with what they said."""
    ran: set[str] = set()
    failed: dict[str, str] = {}
    for program in _PROGRAMS:
        run = Recorder()
        try:
            program(run, as_dtype(label))
        except Exception as error:  # whatever an op raises is an answer here
            failed[run.trying] = f"{type(error).__name__}: {error}"
        ran.update(run.ran)
    return ran - set(failed), failed
