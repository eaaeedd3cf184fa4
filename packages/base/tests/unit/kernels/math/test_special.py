"""Special functions against identities, the C library and sums written out."""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

FEW = settings(max_examples=40, deadline=None)


@FEW
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=10))
def test_error_functions(values: list[float]) -> None:
    x = np.array(values)
    erf, erfc = run_op("Erf", x)[0], run_op("Erfc", x)[0]
    np.testing.assert_allclose(erf + erfc, 1, rtol=1e-15)
    np.testing.assert_allclose(run_op("Erfinv", erf[np.abs(x) < 3])[0], x[np.abs(x) < 3], rtol=1e-9)


def test_erf_of_infinity() -> None:
    """TensorFlow 2.21 gives NaN for float64."""
    assert run_op("Erf", np.array([np.inf, -np.inf]))[0].tolist() == [1, -1]


@FEW
@given(st.lists(st.floats(1e-12, 1 - 1e-12), min_size=1, max_size=10))
def test_normal_quantiles(values: list[float]) -> None:
    want = [NormalDist().inv_cdf(v) for v in values]
    np.testing.assert_allclose(run_op("Ndtri", np.array(values))[0], want, rtol=1e-10, atol=1e-15)


@FEW
@given(st.lists(st.floats(-30, 60).filter(lambda v: abs(v - round(v)) > 1e-3), min_size=1))
def test_digamma_steps_by_reciprocals(values: list[float]) -> None:
    x = np.array(values)
    step = run_op("Digamma", x + 1)[0] - run_op("Digamma", x)[0]
    np.testing.assert_allclose(step, 1 / x, rtol=1e-7, atol=1e-9)


@FEW
@given(st.integers(0, 40), st.floats(-300, -10), st.sampled_from([-1, 1]))
def test_digamma_next_to_its_poles(pole: int, exponent: float, side: int) -> None:
    x = np.float64(-pole + side * 10 ** max(exponent, -14 if pole else exponent))
    far = float(x) + pole  # exact
    near = float(run_op("Digamma", np.float64(pole + 1))[0]) - 1 / far
    assert float(run_op("Digamma", x)[0]) == pytest.approx(near, rel=1e-12)


def test_quantiles_of_the_smallest_numbers() -> None:
    p = np.array([5e-324, 1e-320, 1e-310, 2.3e-308])
    want = [NormalDist().inv_cdf(v) for v in p.tolist()]
    np.testing.assert_allclose(run_op("Ndtri", p)[0], want, rtol=1e-9)


@FEW
@given(st.floats(0.1, 200), st.floats(0.1, 200))
def test_incomplete_gamma_halves(a: float, x: float) -> None:
    lower, upper = (run_op(op, np.array(a), np.array(x))[0] for op in ("Igamma", "Igammac"))
    assert float(lower + upper) == pytest.approx(1, rel=1e-12)
    # P(a, x) - P(a + 1, x) = x^a e^-x / Gamma(a + 1)
    other = run_op("Igamma", np.array(a + 1), np.array(x))[0]
    term = math.exp(a * math.log(x) - x - math.lgamma(a + 1))
    assert float(lower - other) == pytest.approx(term, rel=1e-7, abs=1e-13)


@FEW
@given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1))
def test_incomplete_beta_is_a_binomial_tail(a: int, b: int, x: float) -> None:
    n = a + b - 1
    tail = sum(math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))
    got = run_op("Betainc", np.float64(a), np.float64(b), np.float64(x))[0]
    assert float(got) == pytest.approx(tail, rel=1e-11, abs=1e-15)


@FEW
@given(st.floats(1.5, 20), st.floats(0.1, 50))
def test_zeta_steps_by_powers(x: float, q: float) -> None:
    here, there = (run_op("Zeta", np.array(x), np.array(v))[0] for v in (q, q + 1))
    assert float(here - there) == pytest.approx(q**-x, rel=1e-9, abs=1e-14)


@FEW
@given(st.lists(st.floats(1e-3, 300), min_size=1, max_size=10))
def test_bessel_functions_have_their_wronskians(values: list[float]) -> None:
    x = np.array(values)
    get = {
        k: run_op(f"Bessel{k}", x)[0] for k in ("I0e", "I1e", "K0e", "K1e", "J0", "J1", "Y0", "Y1")
    }
    modified = get["I0e"] * get["K1e"] + get["I1e"] * get["K0e"]
    np.testing.assert_allclose(modified, 1 / x, rtol=1e-12)
    plain = get["J1"] * get["Y0"] - get["J0"] * get["Y1"]
    np.testing.assert_allclose(plain, 2 / (np.pi * x), rtol=1e-11)


@FEW
@given(st.floats(0.01, 12), st.floats(1e-4, 1e-3))
def test_integrals_have_their_slopes(x: float, step: float) -> None:
    slopes: dict[str, Callable[[float], float]] = {
        "Expint": lambda t: math.exp(t) / t,
        "FresnelSin": lambda t: math.sin(math.pi / 2 * t * t),
        "FresnelCos": lambda t: math.cos(math.pi / 2 * t * t),
        "Spence": lambda t: -math.log(t) / (t - 1),
        "Dawsn": lambda t: 1 - 2 * t * float(run_op("Dawsn", np.array(t))[0]),
    }
    for op, slope in slopes.items():
        if op == "Spence" and abs(x - 1) < 0.01:
            continue
        ends = run_op(op, np.array([x - step, x + step]))[0]
        rule = (slope(x - step) + 4 * slope(x) + slope(x + step)) / 3
        assert float(ends[1] - ends[0]) == pytest.approx(step * rule, rel=1e-4, abs=1e-8)


def test_fresnel_far_out() -> None:
    """TensorFlow gives 0.5 here; the wave has an amplitude of 1 / (pi x) still."""
    got = float(run_op("FresnelSin", np.float64(1e5))[0])
    assert got == pytest.approx(0.5 - 1 / (math.pi * 1e5), abs=1e-12)


def test_known_values() -> None:
    assert float(run_op("Zeta", np.float64(2), np.float64(1))[0]) == pytest.approx(math.pi**2 / 6)
    trigamma = run_op("Polygamma", np.float64(1), np.float64(0.5))[0]
    assert float(trigamma) == pytest.approx(math.pi**2 / 2, rel=1e-14)
    euler = run_op("Digamma", np.float64(1))[0]
    assert float(euler) == pytest.approx(-0.5772156649015329, rel=1e-14)


def test_absurd_arguments_end() -> None:
    huge = np.array([1e300, -1e15 - 0.5, 1e15])
    assert run_op("Zeta", np.full(3, 3.0), huge)[0].shape == (3,)
    assert run_op("Igamma", np.abs(huge), np.abs(huge))[0].shape == (3,)
    assert run_op("Lgamma", np.array([1e308]))[0].tolist() == [np.inf]


def test_misfits_are_refused() -> None:
    one, two = np.ones(1), np.ones(2)
    with pytest.raises(KernelError, match="arguments must be scalars or have one shape"):
        run_op("Betainc", one, two, two)
    assert infer_shapes("Betainc", [(), (2, -1), (-1, 3)]) == [(2, 3)]
