"""Farm fingerprints against TensorFlow itself, on random strings."""

from __future__ import annotations

import numpy as np
import pytest

from drystone_base.core.fingerprint import fingerprint64

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")


def test_random_strings() -> None:
    rng = np.random.default_rng(2)
    lengths = [*range(301), *rng.integers(300, 20_000, 20).tolist()]
    strings = [rng.integers(0, 256, n, dtype=np.uint8).tobytes() for n in lengths]
    ours = fingerprint64(strings)
    theirs = tf.fingerprint(tf.reshape(tf.constant(strings), [-1, 1])).numpy()
    np.testing.assert_array_equal(ours, theirs.view("<u8").ravel())
    buckets = tf.strings.to_hash_bucket_fast(strings, 9973).numpy()
    np.testing.assert_array_equal(ours % np.uint64(9973), buckets.astype(np.uint64))
