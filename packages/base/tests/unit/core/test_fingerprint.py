"""Farm fingerprints against TensorFlow's, recorded for every length up to 300."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from drystone_base.core.fingerprint import fingerprint64

# Recorded with tf.fingerprint(tf.constant(messages())[:, None]).numpy().view("<u8").ravel().
RECORDED = Path(__file__).parents[1] / "data" / "fingerprint64.npy"


def messages() -> list[bytes]:
    """One string of each length from 0 to 300, and a few long ones."""
    lengths = [*range(301), 1000, 4096, 4097]
    return [bytes((k * k + 7 * k * n + 31 * n) % 251 for k in range(n)) for n in lengths]


def test_every_length_gives_what_tensorflow_gives() -> None:
    np.testing.assert_array_equal(fingerprint64(messages()), np.load(RECORDED))


def test_order_and_company_do_not_matter() -> None:
    strings = messages()[:100]
    mixed = strings[::-1] + strings
    together = fingerprint64(mixed)
    assert together.dtype == np.uint64
    np.testing.assert_array_equal(together[:100], together[:99:-1])
    assert [int(fingerprint64([s])[0]) for s in strings] == together[100:].tolist()


def test_nothing_gives_nothing() -> None:
    assert fingerprint64([]).shape == (0,)
