"""Hash buckets of strings of every length against the reference kernels; parts of wide strings."""

from __future__ import annotations

import native_ops
import numpy as np
import pytest

from drystone_base.kernels._testing import run_op


@pytest.mark.parametrize("op", ["StringToHashBucketFast", "StringToHashBucket"])
def test_every_length(op: str) -> None:
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 256, n, np.uint8).tobytes() for n in range(300)]
    values = np.array(texts, dtype=object)
    for buckets in (1, 1000, 2**62):
        (found,) = native_ops.run_native(op, values, num_buckets=buckets)
        (want,) = run_op(op, values, num_buckets=buckets)
        np.testing.assert_array_equal(found, want)


def test_parts_broadcast() -> None:
    rows = np.array([[b"abcdef"], [b"ghijkl"]], dtype=object)
    pos, length = np.array([0, 2, -1], np.int64), np.array([2, -1, 9], np.int64)
    for given in (rows, rows[0], rows.reshape(2, 1, 1)[:, 0]):
        (found,) = native_ops.run_native("Substr", given, pos, length, unit="BYTE")
        (want,) = run_op("Substr", given, pos, length, unit="BYTE")
        assert found.tolist() == want.tolist()
