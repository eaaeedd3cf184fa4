"""LinSpace at its ends: what TensorFlow 2.21 gives for infinite and far ends."""

import numpy as np
import pytest

from drystone_base.executor.testing import run_op

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("start", "stop", "num", "values"),
    [
        (0, INF, 4, [0, INF, INF, INF]),
        (-INF, INF, 4, [-INF, NAN, NAN, INF]),
        (INF, INF, 3, [INF, NAN, INF]),
        (-INF, 1, 3, [-INF, NAN, 1]),
        (1, INF, 1, [1]),
        (NAN, 1, 3, [NAN, NAN, 1]),
        (INF, -INF, 2, [INF, -INF]),
        (0, 0, 3, [0, 0, 0]),
        (0, 1, 5, [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_ends(kind: type, start: float, stop: float, num: int, values: list[float]) -> None:
    (out,) = run_op("LinSpace", np.array(start, kind), np.array(stop, kind), np.int32(num))
    np.testing.assert_array_equal(out, np.array(values, kind))
    assert out.dtype == kind


def test_steps_overflow_in_their_own_type() -> None:
    far = np.float32(3e38)
    (out,) = run_op("LinSpace", -far, far, np.int64(5))
    assert out.tolist() == [-far, INF, INF, INF, far]
