"""Cases of special functions: the usual range, both tails, poles and values out of domain."""

import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(8)
ODD = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, 2, -2.5, 10, 30.5, -20.25])


def _unary() -> list[Case]:
    wide = np.concatenate([RNG.uniform(-6, 6, 20), RNG.uniform(0, 100, 6), [1e-8, 1e-3, 171, 1e5]])
    inside = np.concatenate([RNG.uniform(-1, 1, 20), [1e-9, 0.999999, -0.9999, 1e-3]])
    ranges = {"Erf": wide, "Erfc": wide, "Erfinv": inside, "Ndtri": np.abs(inside), "Lgamma": wide,
              "Digamma": wide}  # fmt: skip
    out: list[Case] = []
    for op, x in ranges.items():
        # TensorFlow's float64 erf of an infinity is NaN.
        odd = ODD[~np.isinf(ODD)] if op == "Erf" else ODD
        out += [case(op, v, tol=1e-7) for v in (x, odd)]
        out += [case(op, v[np.abs(v) != 0.999999].astype(np.float32)) for v in (x, ODD)]
        out += [case(op, np.zeros((0, 2), np.float32)), case(op, np.float64(0.25))]
        if op not in ("Erfinv", "Ndtri"):
            out.append(case(op, inside.astype(np.float16), tol=1e-2))
    return out


CASES = _unary()
