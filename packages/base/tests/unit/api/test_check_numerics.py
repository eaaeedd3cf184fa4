"""Functions that look for NaN and infinities: which op is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.errors import KernelError
from drystone_base.tracing import operations as ops

F32 = np.float32
any_ops: Any = ops  # what the stub refuses


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "bfloat16"])
def test_the_first_op_with_a_number_that_is_not_finite_is_named(kind: str) -> None:
    w = ds.Variable(np.ones(2), "w", dtype=kind)

    @ds.function(check_numerics=True)
    def step(x: Any) -> Any:
        loss = any_ops.log(w * x, name="culprit").sum()
        w.assign_sub(ds.gradients(loss, w)[0])
        return loss

    one = np.ones(2, w.dtype.np)
    assert step(one) == 0
    assert w.value.tolist() == [0, 0]
    with pytest.raises(KernelError) as caught:
        step(one)
    assert "output 0 of node 'culprit' (Log)" in str(caught.value)
    assert "Inf" in str(caught.value)
    assert w.value.tolist() == [0, 0]  # nothing is written


def test_gradients_that_are_not_finite_are_named_too() -> None:
    @ds.function(check_numerics=True)
    def slope(x: Any) -> Any:
        return ds.gradients(ops.sqrt(x).sum(), x)[0]

    with pytest.raises(KernelError) as caught:
        slope(np.zeros(2, F32))
    assert "(Reciprocal): the tensor must hold finite numbers" in str(caught.value)


def test_a_loop_is_named_by_its_node() -> None:
    @ds.function(check_numerics=True)
    def grow(x: Any) -> Any:
        return ds.while_loop(lambda k, _: k < 9, lambda k, v: (k + 1, v * v), (0, x))[1]

    assert grow(F32(1)) == 1
    with pytest.raises(KernelError) as caught:
        grow(F32(10))
    assert "(StatelessWhile)" in str(caught.value)
