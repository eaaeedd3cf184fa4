"""Seeds of clusters that are found in time, or not at all."""

import time
from typing import Any, TypeAlias

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import run_op
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

Array: TypeAlias = np.ndarray[Any, Any]
POINTS = np.arange(6, dtype=np.float32).reshape(3, 2)


def seeds(points: Array, count: int, retries: int, seconds: float = 20, seed: int = 0) -> Array:
    """What the op answers in a run with a deadline."""

    def refuse(*_: Any) -> list[Any]:
        raise NotImplementedError

    runtime = Runtime(ResourceManager(), refuse, deadline=time.monotonic() + seconds)
    numbers = map(np.int64, (count, seed, retries))
    found = run_op("KmeansPlusPlusInitialization", points, *numbers, runtime=runtime)
    return np.asarray(found[0])


@pytest.mark.parametrize("retries", [np.iinfo(np.int64).max, np.iinfo(np.int32).max, 1 << 24])
def test_absurd_numbers_of_tries_are_refused(retries: int) -> None:
    with pytest.raises(KernelError, match="a number of tries that can be made") as caught:
        seeds(POINTS, 2, retries)
    assert caught.value.status == "INVALID_ARGUMENT"


def test_many_tries_end_at_the_deadline() -> None:
    with pytest.raises(KernelError, match="deadline-exceeded"):
        seeds(POINTS, 2, (1 << 24) - 1, seconds=0.1)


@pytest.mark.parametrize("far", [1e30, np.inf])
def test_all_points_are_chosen_though_distances_overflow(far: float) -> None:
    """Each height in the sum of distances is infinite then, and leads to the last point."""
    points = np.array([[far], [0], [1], [2]], np.float32)
    for seed in range(8):
        found = seeds(points, 4, retries=0, seed=seed)
        assert sorted(found.ravel().tolist()) == sorted(points.ravel().tolist())
