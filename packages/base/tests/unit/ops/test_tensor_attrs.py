"""Tensors that attributes hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drystone_base.ops.attrs import TensorAttr, encode_attr


@pytest.mark.parametrize(
    "value", [np.float32(2.5), np.int64(3), np.bool_(True), 1.5, [1, 2], "text", [b"a", b"bc"]]
)
def test_what_is_no_array_becomes_one(value: Any) -> None:
    """The host took a scalar of NumPy's for an object of Python's, which no plugin's kernel has."""
    attr = TensorAttr(array=value)
    assert isinstance(attr.array, np.ndarray)
    assert not attr.array.flags.writeable
    assert attr.array.shape == np.shape(value)
    assert encode_attr(attr).tensor.dtype != 0
