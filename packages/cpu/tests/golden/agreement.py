"""Whether drystone-cpu's kernel and the reference in NumPy do the same with one op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from native_ops import run_native

from drystone_base.core.dtypes import as_dtype
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.testing import run_op

__all__ = ["assert_agrees", "outcome"]


def outcome(run: Callable[..., list[Any]], op: str, *inputs: Any, **attrs: Any) -> Any:
    """The outputs of ``run``, or the status of its refusal."""
    try:
        return run(op, *inputs, **attrs)
    except DrystoneError as refusal:
        return refusal.status


def assert_agrees(op: str, *inputs: Any, exact: bool = True, **attrs: Any) -> None:
    """Both refuse with one status, or give the same dtypes, shapes and values, NaN included.

    Not ``exact``: values within 1e-4. Raises ``NoNativeKernel`` where only one of them can run.
    """
    found = outcome(run_native, op, *inputs, **attrs)
    want = outcome(run_op, op, *inputs, **attrs)
    if isinstance(want, str) or isinstance(found, str):
        assert found == want, f"{op}: {found!r}, not {want!r}"
        return
    for got, expected in zip(map(np.asarray, found), map(np.asarray, want), strict=True):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape), op
        if got.dtype == as_dtype("bfloat16").np:  # of whose NaN NumPy's helpers do not know
            got, expected = got.astype(np.float32), expected.astype(np.float32)
        if exact:
            np.testing.assert_array_equal(got, expected, err_msg=op)
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4, err_msg=op)
