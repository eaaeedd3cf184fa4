"""Calls of Python functions that the user of the model has registered.

Source: TensorFlow ops PyFunc, PyFuncStateless, EagerPyFunc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import STRING, DType, from_numpy
from drystone_base.core.errors import DrystoneError
from drystone_base.core.tensor import read_only, string_array
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.state.py_functions import py_func

__all__: list[str] = []

# What TensorFlow makes of an exception, by its class.
_STATUSES: Final[tuple[tuple[tuple[type[Exception], ...], str], ...]] = (
    ((ValueError, TypeError), "INVALID_ARGUMENT"),
    ((StopIteration,), "OUT_OF_RANGE"),
    ((MemoryError,), "RESOURCE_EXHAUSTED"),
    ((NotImplementedError,), "UNIMPLEMENTED"),
)


@kernel("PyFunc", "PyFuncStateless", "EagerPyFunc")
def call_py_func(call: Call, *args: Array) -> list[Array]:
    """What the function registered under ``token`` returns, one array per type in ``Tout``.

    PyFunc takes results of exactly these types; EagerPyFunc converts numbers to them, and leaves
    out values beyond them.
    """
    token = str(call.attrs["token"])
    call.runtime.access.check_python(call, token)
    function = py_func(token)
    if function is None:
        call.fail(
            "a Python function must be registered before it is called",
            found=f"no function {token!r}",
            needed="a function of NumPy arrays",
            remedy=f"drystone_base.register_py_func({token!r}, function)",
        )
    types = call.attrs["Tout"]
    values = _values(_run(call, function, args))
    if call.op == "EagerPyFunc":
        values = values[: len(types)]
    call.require(
        len(values) == len(types),
        "a Python function must return one value per output",
        found=f"{len(values)} values from {token!r}",
        needed=len(types),
    )
    return [_result(call, v, t) for v, t in zip(values, types, strict=True)]


def _run(call: Call, function: Callable[..., Any], args: tuple[Array, ...]) -> Any:
    try:
        return function(*(read_only(np.asarray(arg)) for arg in args))
    except DrystoneError:
        raise
    except Exception as error:
        found = next((name for kinds, name in _STATUSES if isinstance(error, kinds)), "UNKNOWN")
        call.fail(
            "a Python function must return",
            found=f"{type(error).__name__}: {error}",
            needed="no exception",
            status=found,
            inner=error,
        )


def _values(returned: Any) -> list[Any]:
    if returned is None:
        return []
    return list(returned) if isinstance(returned, tuple | list) else [returned]


def _result(call: Call, value: Any, dtype: DType) -> Array:
    if dtype is STRING:
        return _strings(call, np.asarray(value, object))  # other arrays drop zeros at the end
    array = np.asarray(value)
    if call.op == "EagerPyFunc" and np.can_cast(array.dtype, dtype.np, "same_kind"):
        array = array.astype(dtype.np)
    found = from_numpy(array.dtype) if array.dtype.kind not in "OSUMm" else array.dtype
    call.require(
        found == dtype,
        "a Python function must return the types that the node declares",
        found=found,
        needed=dtype,
    )
    return array.copy() if isinstance(value, np.ndarray) else array


def _strings(call: Call, array: Array) -> Array:
    flat = array.reshape(-1).tolist()
    call.require(
        all(isinstance(v, str | bytes) for v in flat),
        "a Python function must return the types that the node declares",
        found=array.dtype,
        needed=STRING,
    )
    return string_array([v.encode() if isinstance(v, str) else v for v in flat], array.shape)
