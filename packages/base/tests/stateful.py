"""Helpers of tests of ops with state: kernels over one runtime, statuses, handle shapes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from drystone_base.core.dtypes import FLOAT32, DType, as_dtype
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.testing import run_op
from drystone_base.files.access import Access
from drystone_base.inference.shapes._registry import ShapeCall, find_shape_function
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import op_def
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

Functions = dict[str, Callable[..., list[Any]]]


def f32(value: Any) -> np.ndarray[Any, Any]:
    """A float32 array."""
    return np.array(value, np.float32)


def i32(value: Any) -> np.ndarray[Any, Any]:
    """An int32 array."""
    return np.array(value, np.int32)


def i64(value: Any) -> np.ndarray[Any, Any]:
    """An int64 array."""
    return np.array(value, np.int64)


class Bench:
    """Runs ops one by one in one session and step; ``functions`` stand for the library."""

    def __init__(self, functions: Functions | None = None) -> None:
        self.functions = functions or {}
        self.runtime = Runtime(ResourceManager(), self._invoke, access=Access.anywhere())

    def _invoke(self, _: Runtime, function: FunctionRef, args: Sequence[Any]) -> list[Any]:
        return self.functions[function.name](*args)

    def all(self, op: str, *inputs: Any, **attrs: Any) -> list[Any]:
        """Every output."""
        return run_op(op, *inputs, runtime=self.runtime, **attrs)

    def __call__(self, op: str, *inputs: Any, **attrs: Any) -> Any:
        """The first output."""
        return self.all(op, *inputs, **attrs)[0]

    def fails(self, status: str, match: str, op: str, *inputs: Any, **attrs: Any) -> None:
        """The op is refused with this status and a text that matches."""
        with pytest.raises(DrystoneError, match=match) as caught:
            self.all(op, *inputs, **attrs)
        assert caught.value.status == status


def shapes(
    op: str, given: Sequence[Any], handles: Sequence[Any] = (), **attrs: Any
) -> tuple[list[Any], ShapeCall]:
    """Inferred shapes with the shape call; an array among the inputs is a known value."""
    definition = op_def(op)
    values = [v if isinstance(v, np.ndarray) else None for v in given]
    filled = {n: a.default for n, a in definition.attrs.items() if a.has_default} | attrs
    call = ShapeCall(
        "node",
        op,
        {
            k: as_dtype(v) if isinstance(v, str) and k in _types(op) else v
            for k, v in filled.items()
        },
        [v.shape if isinstance(v, np.ndarray) else v for v in given],
        values,
        [_dtype(v) for v in given],
        list(handles),
        output_count=attrs.get("count", 1),
    )
    function = find_shape_function(op)
    assert function is not None
    return list(function(call)), call


def _types(op: str) -> set[str]:
    return {n for n, a in op_def(op).attrs.items() if a.type == "type"}


def _dtype(value: Any) -> DType:
    return as_dtype(value.dtype) if isinstance(value, np.ndarray) else FLOAT32
