"""Cases of the debugger's ops."""

import ml_dtypes
import numpy as np
from oracle import Case, case

F32 = np.float32
NUMBERS = (
    np.float64, F32, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64,
    np.uint64,
)  # fmt: skip
NARROW = (np.float16, ml_dtypes.bfloat16)
BIG = 6e4  # which bfloat16 and half hold, too
ODD = np.array([1, np.nan, np.inf, -np.inf, 0, -0.0, -2, 5, BIG])
ID = {"tensor_name": "node:0"}


def _shapes() -> list[np.ndarray]:  # type: ignore[type-arg]
    return [np.ones(s, F32) for s in ((), (0,), (2, 0), (3, 2), (1, 2, 3, 1, 1, 1, 1, 2))]


def _identities() -> list[Case]:
    out = [case("DebugGradientIdentity", ODD), case("DebugIdentityV2", ODD)]
    names = ("a", "a:0", "a:-1", ":0", "", "a:b", "a:0:1", "a::0", "a:01")
    out += [case(op, ODD, tensor_name=n, note=repr(n))
            for op in ("DebugIdentity", "DebugIdentityV3") for n in names]  # fmt: skip
    gated = ("DebugIdentity", "DebugIdentityV3", "DebugNanCount", "DebugNumericSummary")
    out += [case(op, ODD, gated_grpc=True, **ID) for op in gated]
    texts = np.array([b"x", b""], object)
    return [*out, case("DebugIdentity", texts, **ID), case("DebugIdentity", np.array(True), **ID)]


def _counts() -> list[Case]:
    out = [case("DebugNanCount", np.array([[1, 2, 0]]).astype(t), **ID) for t in NUMBERS]
    out += [case("DebugNanCount", ODD.astype(t), **ID) for t in (np.float64, F32, *NARROW)]
    return [*out, *(case("DebugNanCount", v, **ID) for v in _shapes())]


def _summaries() -> list[Case]:
    op = "DebugNumericSummary"
    out = [case(op, np.array([[1, 2, 0]]).astype(t), **ID) for t in (*NUMBERS, np.bool_)]
    out += [case(op, v, **ID) for v in (ODD, ODD.astype(F32), F32([np.nan]), F32([np.inf]))]
    out += [case(op, v, **ID) for v in _shapes()]
    bounds = [(-2.0, 5.0), (5.0, -2.0), (0.0, 0.0), (-3.0, 4.0), (-1e9, 1e9)]
    return [*out, *(case(op, v, lower_bound=a, upper_bound=b, **ID)
                    for a, b in bounds for v in (ODD, np.arange(-3, 8)))]  # fmt: skip


def _modes() -> list[Case]:
    op = "DebugNumericSummaryV2"
    values = [ODD.astype(t) for t in (np.float64, F32, *NARROW)]
    values += [np.array([[1, 2, 0]]).astype(t) for t in (*NUMBERS, np.bool_)]
    values += [*_shapes(), F32([1, np.inf]), F32([np.nan])]
    out = [case(op, v, tensor_debug_mode=m, tensor_id=7, output_dtype=t)
           for v in values for m in (2, 3, 4, 5, 8) for t in ("float32", "float64")]  # fmt: skip
    out += [case(op, values[0], tensor_debug_mode=m) for m in (-1, 0, 1, 6, 7, 9)]
    out += [case(op, values[0], tensor_debug_mode=2, tensor_id=n, output_dtype=t)
            for n in (-5, 2**24, 2**24 + 1, 2**53, 2**53 + 1)
            for t in ("float32", "float64")]  # fmt: skip
    big = {"tensor_id": 2**24 + 1}
    out += [case(op, ODD, tensor_debug_mode=m, **big) for m in (1, 2, 8)]
    return out


CASES = [*_identities(), *_counts(), *_summaries(), *_modes()]
