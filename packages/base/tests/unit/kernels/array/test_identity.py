"""Nodes that pass a value on, hold one, do nothing, or fail because nothing was fed."""

import numpy as np
import pytest

from drystone_base.core.dtypes import INT64
from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.defs import op_def


def test_const_gives_the_attribute_without_a_copy() -> None:
    array = np.arange(6).reshape(2, 3)
    (out,) = run_op("Const", value=TensorAttr(array=array), dtype="int64")
    assert np.shares_memory(out, array)
    assert infer_shapes("Const", [], value=TensorAttr(array=array), dtype="int64") == [(2, 3)]


@pytest.mark.parametrize("op", ["Placeholder", "PlaceholderV2"])
def test_placeholder_that_is_not_fed_says_so(op: str) -> None:
    with pytest.raises(KernelError, match="placeholder 'x' is needed but was not fed") as caught:
        run_op(op, node="x", dtype="float32", shape=(None, 2))
    assert caught.value.code == "placeholder-not-fed"
    assert "feed a value for 'x:0'" in caught.value.remedy


@pytest.mark.parametrize("op", ["NoOp", "ControlTrigger"])
def test_no_outputs(op: str) -> None:
    assert run_op(op) == []
    assert infer_shapes(op, []) == []


def test_deep_copy_shares_nothing() -> None:
    x = np.arange(3)
    (out,) = run_op("DeepCopy", x)
    assert out.tolist() == [0, 1, 2]
    assert not np.shares_memory(out, x)


def test_ensure_shape_names_both_shapes() -> None:
    with pytest.raises(KernelError, match=r"found: \[2, 3\]\n  needed: \[2, 4\]"):
        run_op("EnsureShape", np.zeros((2, 3)), shape=(2, 4))


@pytest.mark.parametrize("op", ["_ListToArray", "_ArrayToList"])
def test_lists_and_arrays_are_the_same_values(op: str) -> None:
    x, y = np.arange(3), np.arange(2)
    lists = {"Tin": [INT64] * 2, "T": INT64, "N": 2, "out_types": [INT64] * 2}
    attrs = {k: v for k, v in lists.items() if k in op_def(op).attrs}
    assert [v.tolist() for v in run_op(op, x, y, **attrs)] == [[0, 1, 2], [0, 1]]
