"""Cases of fingerprints and of what counts as true."""

import ml_dtypes
import numpy as np
from oracle import Case, case

REAL = (
    np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.uint8, np.int16, np.uint16,
    np.int32, np.uint32, np.int64, np.uint64, np.bool_,
)  # fmt: skip
FARM = b"farmhash64"


def _fingerprints() -> list[Case]:
    # Not of rows without strings: TensorFlow 2.21 reads past the end there.
    grid = np.arange(24).reshape(2, 3, 4)
    out = [case("Fingerprint", grid.astype(t), FARM) for t in (*REAL, np.complex64, np.complex128)]
    out += [case("Fingerprint", np.zeros(s, np.float32), FARM) for s in ((0,), (2, 0), (0, 2), ())]
    texts = np.array([[b"a", b""], [b"bc", b"\xff" * 99]], object)
    out += [case("Fingerprint", v, FARM) for v in (texts, texts[0], texts[:, :1])]
    out += [case("Fingerprint", grid, m) for m in (b"md5", b"", [FARM])]
    return [*out, case("Fingerprint", texts[0, 0], FARM)]


def _truths() -> list[Case]:
    out = [case("ToBool", np.array(v).astype(t)) for v in (0, 1) for t in (*REAL, np.complex64)]
    out += [case("ToBool", np.zeros(s, t)) for s in ((0,), (2,), (0, 3), (1, 1))
            for t in (*REAL, np.complex128)]  # fmt: skip
    out += [case("ToBool", np.array(v)) for v in (np.nan, -0.0, -1.0, np.inf, 1e-300)]
    texts = (b"", b"a", [b""], [])
    return [*out, *(case("ToBool", np.array(v, object)) for v in texts)]


CASES = [*_fingerprints(), *_truths()]
