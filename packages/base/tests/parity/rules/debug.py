"""The debugger's ops, fingerprints, what counts as true."""

from typing import Any

import numpy as np

from parity.draft import Draft, Rule
from parity.drawers import choice, fixed, shaped, some

NUMBERS = ("float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")


def _method(d: Draft) -> Any:
    return np.array(b"md5" if d.chance(0.05) else b"farmhash64", object)


_QUIET = {"debug_urls": fixed([]), "tensor_name": choice("a:0", "b/c:1", "a", "a:0", "a:b")}

RULES: dict[str, Rule] = {
    "DebugIdentity": Rule(_QUIET | {"input": some(3)}),
    "DebugNanCount": Rule(_QUIET | {"input": some(3)}, types=(*NUMBERS, "half", "bfloat16")),
    "DebugNumericSummary": Rule(
        _QUIET
        | {
            "input": some(3),
            "lower_bound": choice(-np.inf, -1.0, 0.0, 2.0),
            "upper_bound": choice(np.inf, 1.5, 0.0, 100.0),
        },
        types=(*NUMBERS, "bool"),
    ),
    "DebugNumericSummaryV2": Rule(
        {
            "input": some(4),
            "tensor_debug_mode": choice(2, 3, 4, 5, 8, 2, 3, 4, 5, 8, 1),
            "tensor_id": choice(-1, 0, 9, 2**24 + 1),
            "output_dtype": choice("float32", "float64"),
        },
        types=(*NUMBERS, "half", "bfloat16", "bool"),
    ),
    "Fingerprint": Rule(
        {"data": lambda d: shaped(d.pick("r", "r c", "r c c"))(d), "method": _method},
        {"r": (0, 4), "c": (1, 4)},
        spoil=False,
    ),
}
