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


def _several() -> list[Case]:
    a, x = RNG.uniform(0.05, 30, (2, 40))
    edge_a = np.array([0.0, -1, 1, 2, 3, 1, np.nan, 2, 100, 1000], np.float64)
    edge_x = np.array([1.0, 1, -1, 0, np.inf, np.nan, 1, 1e-9, 100, 990], np.float64)
    out: list[Case] = []
    for op in ("Igamma", "Igammac"):
        out += [case(op, p, q, tol=1e-7) for p, q in ((a, x), (edge_a, edge_x))]
        out += [case(op, a.astype(np.float32)[:, None], x.astype(np.float32)[:3], tol=1e-4)]
    n = np.arange(40) % 6.0
    q = np.array([0.5, 3, -2, -2.5, -2.5, 0, 7, 1e3, np.nan, 2])
    s = np.array([2.0, 1, 2, 2, 2.5, 3, 0.5, 3, 2, np.nan])
    out += [case("Zeta", a + 1, x, tol=1e-7), case("Zeta", s, q, tol=1e-7)]
    out += [case("Zeta", np.array([2.0, 3]), np.array([-100.25, -7.5]), tol=1e-7)]
    out += [case("Polygamma", n, x, tol=1e-7), case("Polygamma", n[:10], q, tol=1e-7)]
    out += [case("Polygamma", np.array([-1, 1.5, 2]), np.array([1.0, 1, -0.5]), tol=1e-7)]
    out += [case("Zeta", np.float32(2), x.astype(np.float32))]
    ends = np.array([0.67, 1, 2, 0, -1.5, -2, np.inf, -np.inf, np.nan])
    out += [case(op, np.array(np.inf), ends) for op in ("Zeta", "Polygamma")]
    u = RNG.uniform(0, 1, 40)
    out += [case("Betainc", a, x, u, tol=1e-7), case("Betainc", np.float64(2), np.float64(3), u)]
    out += [case("Betainc", a.astype(np.float32), x.astype(np.float32), u.astype(np.float32))]
    bad = [
        np.array(v) for v in ([0.0, 1, 1, 1, 2, 2], [1.0, -1, 1, 1, 2, 2], [0.5, 0.5, 2, -1, 0, 1])
    ]
    return [*out, case("Betainc", *bad), case("Betainc", a[:3], x[:2], u[:3])]


def _bessel() -> list[Case]:
    near = np.array([0, -0.0, 1, -1, np.nan, 0.5, 2.5, -2.5, 1e-8, 700, 1e-3])
    x = np.concatenate(
        [RNG.uniform(0, 5, 12), RNG.uniform(5, 60, 16), [0.999, 1, 25, 40, 39.9, 300]]
    )
    ops = [f"Bessel{kind}{n}" for kind in "IJKY" for n in (0, 1)]
    ops += [f"Bessel{kind}{n}e" for kind in "IK" for n in (0, 1)]
    out = [case(op, v, tol=1e-9) for op in ops for v in (x, near)]
    out += [case(op, x[:28].astype(np.float32), tol=1e-5) for op in ops]
    out += [case(op, x[:12].astype(np.float16), tol=1e-2) for op in ops]
    for op in ("Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"):
        out += [case(op, v, tol=1e-9) for v in (x, near)]
        out += [case(op, v.astype(np.float32), tol=1e-5) for v in (x[:20], near[:9])]
    ends = np.array([np.inf, -np.inf, 1e3, -1e3])
    return [*out, *(case(op, ends, tol=1e-9) for op in ("Dawsn", "FresnelCos", "FresnelSin"))]


CASES = [*_unary(), *_several(), *_bessel()]
