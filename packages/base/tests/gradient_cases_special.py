"""Cases of gradient rules: special functions, quantization, transforms."""

from __future__ import annotations

from gradient_cases import ELSEWHERE, Case, Rng, case, floats, shape_of

__all__: list[str] = []

ELSEWHERE |= dict.fromkeys(
    ("Real", "Imag", "Complex", "Conj", "ComplexAbs", "Angle", "ConjugateTranspose", "FFT", "FFT2D",
     "FFT3D", "IFFT", "IFFT2D", "IFFT3D", "RFFT", "RFFT2D", "IRFFT", "IRFFT2D"),
    "test_gradients_of_complex_numbers",
)  # fmt: skip
ELSEWHERE |= dict.fromkeys(
    ("QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3",
     "QuantizeAndDequantizeV4", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars",
     "FakeQuantWithMinMaxVarsPerChannel"),
    "test_gradients_of_rounding",
)  # fmt: skip


@case("Polygamma")
def _polygamma(rng: Rng, _: str) -> Case:
    shape = shape_of(rng)
    orders = rng.integers(1, 4, shape).astype(float)
    return Case([orders, floats(rng, *shape, low=0.5, high=3)], by=[1])


@case("Zeta")
def _zeta(rng: Rng, _: str) -> Case:
    shape = shape_of(rng)
    return Case([floats(rng, *shape, low=1.5, high=4), floats(rng, *shape, low=1, high=3)], by=[1])


@case("Igamma", "Igammac")
def _igamma(rng: Rng, _: str) -> Case:
    shape = shape_of(rng)
    return Case([floats(rng, *shape, low=0.5, high=3), floats(rng, shape[-1], low=0.5, high=3)])


@case("Betainc")
def _betainc(rng: Rng, _: str) -> Case:
    shape = shape_of(rng)
    ends = [floats(rng, *shape, low=0.7, high=3) for _ in range(2)]
    return Case([*ends, floats(rng, *shape, low=0.1, high=0.9)], by=[2])


@case("BesselI0", "BesselI1", "BesselI1e", "Dawsn", "FresnelCos", "FresnelSin")
def _everywhere(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng), low=0.1, high=2.5)])


@case("Expint")
def _expint(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng), low=0.3, high=3)])


@case("CumulativeLogsumexp")
def _cumulative(rng: Rng, _: str) -> Case:
    attrs = {"reverse": bool(rng.integers(2))}
    return Case([floats(rng, 3, 4), rng.integers(2, dtype="int32")], attrs)


@case("BatchMatMulV3")
def _batch_matmul(rng: Rng, _: str) -> Case:
    adj_x, adj_y = (bool(rng.integers(2)) for _ in range(2))
    x = floats(rng, 2, *((3, 4) if adj_x else (4, 3)))
    y = floats(rng, *((2, 3) if adj_y else (3, 2)))
    return Case([x, y], {"adj_x": adj_x, "adj_y": adj_y, "Tout": "float64"})


@case("PlaceholderWithDefault")
def _default(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3)], {"shape": [2, 3]})
