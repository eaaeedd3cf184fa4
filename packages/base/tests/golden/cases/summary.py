"""Cases of summaries: serialized protos, byte for byte.

Images are compared by their pixels elsewhere: a PNG file can be written in many ways.
"""

import ml_dtypes
import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(13)
F32 = np.float32
REAL = (
    np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.uint8, np.int16, np.uint16,
    np.int32, np.uint32, np.int64, np.uint64,
)  # fmt: skip
ODD = (0.0, -0.0, 1.0, -1.0, 0.1, 1e-12, -1e-12, 1.1e-12, 9e-13, 1e19, 1e20, -1e20, 2e20, 1e300)


def _scalars() -> list[Case]:
    out = [case("ScalarSummary", "loss", np.array(3).astype(t)) for t in REAL]
    out += [case("ScalarSummary", ["a", "b/c"], np.array([1, 99]).astype(t)) for t in REAL]
    odd = np.array([np.nan, np.inf, -np.inf, 1e300, -0.0, 1e-46])
    out.append(case("ScalarSummary", ["t"] * 6, odd))
    out.append(case("ScalarSummary", [["a", "b"]], F32([[1, 2]])))
    limits = np.array([2**63 - 1, -(2**63), 2**24 + 1])
    out += [case("ScalarSummary", ["a", "b", "c"], limits), case("ScalarSummary", "é", F32(1))]
    out += [case("ScalarSummary", tags, F32(v)) for tags, v in
            (("a", [1]), (["a"], 1), (["a"], [1, 2]), ([["a"]], [1]))]  # fmt: skip
    return [*out, case("ScalarSummary", np.zeros(0, object), np.zeros(0, F32))]


def _histograms() -> list[Case]:
    few = np.array([[0, 1, 2], [2, 100, 7]])
    out = [case("HistogramSummary", "h", few.astype(t)) for t in REAL]
    out += [case("HistogramSummary", "h", -np.zeros(s, F32)) for s in ((0,), (), (2, 0), (5,))]
    out += [case("HistogramSummary", "h", np.array(ODD[:n])) for n in range(1, len(ODD) + 1)]
    out += [case("HistogramSummary", "h", RNG.normal(0, s, 3000).astype(t))
            for s in (1, 1e-3, 1e9) for t in (F32, np.float64)]  # fmt: skip
    out += [case("HistogramSummary", "h", np.array([1, v])) for v in (np.nan, np.inf, -np.inf)]
    limits = (-(2**63), 2**63 - 1, 0)
    out += [case("HistogramSummary", tag, F32([1])) for tag in (["h"], "")]
    return [*out, case("HistogramSummary", "h", np.array(limits))]


def _sounds() -> list[Case]:
    sounds = RNG.uniform(-1.2, 1.2, (4, 5, 2)).astype(F32)
    out = [case("AudioSummaryV2", "a", sounds, F32(r), max_outputs=n)
           for r in (8000, 44100.5, 0.2, 1.5, 2.5, 1e9) for n in (1, 3, 9)]  # fmt: skip
    odd = [sounds[..., 0], sounds[:0], sounds[:, :0], sounds[..., :0], sounds[0, 0], sounds[None]]
    out += [case("AudioSummaryV2", "a", s, F32(8000)) for s in odd]
    out += [case("AudioSummaryV2", "a", sounds, F32(r)) for r in
            (0, -1, np.nan, np.inf, 5e9, [8000], [1, 2])]  # fmt: skip
    return [*out, case("AudioSummaryV2", ["a"], sounds, F32(8000))]


def _tensors() -> list[Case]:
    about = b"\x0a\x06\x0a\x04text\x12\x01n"
    values = [np.arange(6).reshape(2, 3).astype(t) for t in
              (*REAL, np.bool_, np.complex64, np.complex128)]  # fmt: skip
    values += [np.zeros((0, 2), F32), F32(7), F32([np.nan, -0.0])]
    texts = (["x", "", "y"], "scalar", [[]])
    strings = [np.array(t, object) if np.size(t) else np.zeros((1, 0), object) for t in texts]
    out = [case("TensorSummaryV2", "t", v, about) for v in (*values, *strings)]
    out += [case("TensorSummaryV2", "t", F32(1), m) for m in (b"", b"\x01", b"\x12\x01a")]
    out += [
        case("TensorSummaryV2", ["t"], F32(1), b""),
        case("TensorSummaryV2", "t", F32(1), [b""]),
    ]
    return out


def _merged() -> list[Case]:
    a, b = b"\n\x08\n\x01a\x15\0\0\x80?", b"\n\x08\n\x01b\x15\0\0\0@"
    bare = b"\n\x05\x15\0\0\0@"
    parts = ([a], [a, b], [b""], [a, a], [a + b, b""], [a + a], [bare, bare], [a, bare], [b"\x01"])
    out = [case("MergeSummary", *p) for p in parts]
    return [*out, case("MergeSummary", np.array([a, b], object), b""),
            case("MergeSummary", np.zeros(0, object))]  # fmt: skip


CASES = [*_scalars(), *_histograms(), *_sounds(), *_tensors(), *_merged()]
