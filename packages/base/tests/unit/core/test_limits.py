"""The guard that kernels ask before they make an array whose shape comes from data."""

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.kernels import _limits
from drystone_base.kernels._registry import Call
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

CALL = Call("node", "Op", {}, Runtime(ResourceManager(), lambda *_: []))


def test_a_size_that_fits_comes_back_as_ints() -> None:
    dims = _limits.check_size(CALL, np.array([2, 0, 3], np.int32), np.dtype(np.float32))
    assert dims == (2, 0, 3)
    assert all(type(d) is int for d in dims)


@pytest.mark.parametrize(
    ("dims", "status", "text"),
    [
        ([-1, 2], "INVALID_ARGUMENT", "dimensions must not be negative"),
        ([1 << 32, 1 << 31], "INVALID_ARGUMENT", "fewer than 2^63 elements"),
        ([0, 1 << 62, 4], "INVALID_ARGUMENT", "fewer than 2^63 elements"),
        ([1 << 42], "RESOURCE_EXHAUSTED", "must fit in this machine's memory"),
        ([1] * 200, "INVALID_ARGUMENT", "found: rank 200"),
    ],
)
def test_refusals(dims: list[int], status: str, text: str) -> None:
    with pytest.raises(KernelError) as caught:
        _limits.check_size(CALL, dims, np.dtype(np.float32))
    assert caught.value.status == status
    assert text in str(caught.value)


def test_the_limit_is_the_machines_memory_at_most_a_tebibyte() -> None:
    assert 1 << 20 < _limits.byte_limit() <= 1 << 40
