"""Strings: hash buckets of every length, parts that broadcast, sizes that are refused."""

from __future__ import annotations

import native_ops
import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import run_op


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


def test_absurd_n_grams_are_refused() -> None:
    data, splits = np.array([b"a", b"b"], dtype=object), np.array([0, 2], np.int64)
    for widths, pad in (([2**40], -1), ([2**62], 2**62 - 1), ([5, 2**62], 0), ([3], 2**62)):
        attrs = {"separator": "", "left_pad": "", "right_pad": "", "ngram_widths": widths}
        status = "RESOURCE_EXHAUSTED"  # a width that fits nothing gives nothing
        try:
            native_ops.run_native("StringNGrams", data, splits, pad_width=pad,
                                  preserve_short_sequences=True, **attrs)  # fmt: skip
        except KernelError as error:
            status = error.status
        assert status == "RESOURCE_EXHAUSTED"
