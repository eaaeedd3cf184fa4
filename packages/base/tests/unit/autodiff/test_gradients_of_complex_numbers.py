"""Ways through complex numbers, against differences by real and imaginary parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.api.session import Session, SessionConfig
from drystone_base.autodiff import gradients
from drystone_base.autodiff._complex import HOLOMORPHIC, SAME
from drystone_base.autodiff._registry import RULES
from drystone_base.autodiff._slices import dense
from drystone_base.core.errors import BadRequest, GraphError
from drystone_base.graph import Builder, Graph, Output
from drystone_base.tracing import operations

STEP = 1e-6
Make: TypeAlias = "Callable[[Builder, list[Output]], Output]"


def check(make: Make, values: list[np.ndarray[Any, Any]]) -> None:
    """Hold the gradients of a weighted sum of what is made against differences."""
    rng = np.random.default_rng(7)
    graph = Graph()
    b = Builder(graph)
    fed = [b("Placeholder", dtype=v.dtype.name, shape=v.shape) for v in values]
    y = make(b, fed)
    if b.dtype(y).is_complex:
        y = b("AddV2", b("Real", y, Tout="float64"), b("Mul", b.const(0.7, "float64"),
              b("Imag", y, Tout="float64")))  # fmt: skip
    names = [f"{n.name}:0" for n, _ in fed]
    config = SessionConfig(executor="reference")
    forward = Session(graph, config).make_callable(f"{y[0].name}:{y[1]}", names)
    weights = rng.uniform(0.5, 1, forward(*values).shape)
    grads = gradients([y], fed, [b.const(weights)])
    grads = [dense(b, g) for g in grads]
    found = Session(graph, config).run([f"{g[0].name}:{g[1]}" for g in grads],
                                       dict(zip(names, values, strict=True)))  # fmt: skip
    for k, (value, grad) in enumerate(zip(values, found, strict=True)):
        assert grad.dtype == value.dtype
        assert grad.shape == value.shape
        for unit in (1, 1j) if value.dtype.kind == "c" else (1,):
            way = rng.uniform(-1, 1, value.shape)
            ends = []
            for sign in (1, -1):
                moved = list(values)
                moved[k] = value + sign * STEP * unit * way
                ends.append(float(np.sum(weights * forward(*moved))))
            part = grad.real if unit == 1 else grad.imag
            expected = (ends[0] - ends[1]) / (2 * STEP)
            size = 1 + float(np.sum(np.abs(part * way)))
            assert abs(np.sum(part * way) - expected) < 1e-5 * size, (k, unit)


def numbers(*shape: int, seed: int = 0) -> Any:
    """Complex numbers away from 0 and from the cuts of logarithms and roots."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.4, 1.4, shape) + 1j * rng.uniform(0.2, 0.9, shape)


ONE = {
    "Neg", "Square", "Sqrt", "Rsqrt", "Reciprocal", "Inv", "Exp", "Expm1", "Log", "Log1p", "Sin",
    "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Sigmoid", "Asinh", "Acosh", "Atanh", "Asin", "Acos",
    "Atan", "Identity", "Conj", "Snapshot", "PreventGradient",
}  # fmt: skip
TWO = {"Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "MulNoNan", "Pow"}
AXES = np.array([1], np.int32)

TURNING = np.array(
    [[[1.0, -2, 0.3], [2, 1.2, 0.1], [0.4, 0.2, 4]], [[3, 1, 0.4], [0.5, 1, 2], [1, -1, 7]]]
)
"""Matrices with eigenvalues far from each other, a conjugate pair among them."""
ANY = TURNING + 0.3j * np.swapaxes(TURNING, 1, 2)


def eigen(b: Builder, v: list[Output], *, compute_v: bool = True) -> list[Output]:
    """Eigenvalues and vectors; of those, no result depends on a phase but by their sizes."""
    node = b.node("Eig", v[0], compute_v=compute_v, Tout="complex128")
    return [(node, 0), (node, 1)]


SHAPED: dict[str, tuple[Make, list[Any]]] = {
    "MatMul": (lambda b, v: b("MatMul", *v, transpose_b=True), [numbers(2, 3), numbers(4, 3)]),
    "BatchMatMulV2": (lambda b, v: b("BatchMatMulV2", *v, adj_x=True),
                      [numbers(2, 3, 2), numbers(2, 3, 4, seed=1)]),
    "BatchMatMul": (lambda b, v: b("BatchMatMul", *v, adj_y=True),
                    [numbers(2, 2, 3), numbers(2, 4, 3, seed=1)]),
    "Einsum": (lambda b, v: b("Einsum", v, equation="ij,jk->ik"), [numbers(2, 3), numbers(3, 2)]),
    "Sum": (lambda b, v: b("Sum", *v, b.const(AXES)), [numbers(2, 3)]),
    "Mean": (lambda b, v: b("Mean", *v, b.const(AXES)), [numbers(2, 3)]),
    "Prod": (lambda b, v: b("Prod", *v, b.const(AXES)), [numbers(2, 3)]),
    "Cumsum": (lambda b, v: b("Cumsum", *v, b.const(1, "int32")), [numbers(2, 3)]),
    "Cumprod": (lambda b, v: b("Cumprod", *v, b.const(1, "int32")), [numbers(2, 3)]),
    "Reshape": (lambda b, v: b("Reshape", *v, b.const([3, 2], "int32")), [numbers(2, 3)]),
    "Transpose": (lambda b, v: b("Transpose", *v, b.const([1, 0], "int32")), [numbers(2, 3)]),
    "ConjugateTranspose": (
        lambda b, v: b("ConjugateTranspose", *v, b.const([1, 0], "int32")), [numbers(2, 3)]),
    "GatherV2": (lambda b, v: b("GatherV2", *v, b.const([1, 1, 0], "int32"), b.const(0, "int32")),
                 [numbers(2, 3)]),
    "ConcatV2": (lambda b, v: b("ConcatV2", v, b.const(0, "int32")),
                 [numbers(1, 3), numbers(2, 3)]),
    "StridedSlice": (
        lambda b, v: b("StridedSlice", *v, *(b.const([k], "int32") for k in (0, 3, 2))),
        [numbers(4, 2)]),
    "Pad": (lambda b, v: b("Pad", *v, b.const([[1, 0], [0, 2]], "int32")), [numbers(2, 3)]),
    "SelectV2": (lambda b, v: b("SelectV2", b.const([True, False]), *v),
                 [numbers(2), numbers(2, seed=1)]),
    "AddN": (lambda b, v: b("AddN", v), [numbers(2), numbers(2, seed=1)]),
    "Cast": (lambda b, v: b("Mul", b("Cast", v[0], DstT="complex128"), v[1]),
             [numbers(3).real, numbers(3)]),
    "Real": (lambda b, v: b("Real", *v, Tout="float64"), [numbers(3)]),
    "Imag": (lambda b, v: b("Imag", *v, Tout="float64"), [numbers(3)]),
    "ComplexAbs": (lambda b, v: b("ComplexAbs", *v, Tout="float64"), [numbers(3)]),
    "Angle": (lambda b, v: b("Angle", *v, Tout="float64"), [numbers(3)]),
    "Complex": (lambda b, v: b("Square", b("Complex", *v, Tout="complex128")),
                [numbers(3).real, numbers(2, 3).imag]),
    "MatrixInverse": (lambda b, v: b("MatrixInverse", *v), [numbers(2, 2, 2) + 2 * np.eye(2)]),
    "MatrixSolve": (lambda b, v: b("MatrixSolve", *v),
                    [numbers(2, 2) + 2 * np.eye(2), numbers(2, 1)]),
    "values of Eig": (lambda b, v: eigen(b, v)[0], [TURNING]),
    "values of Eig alone": (lambda b, v: eigen(b, v, compute_v=False)[0], [TURNING]),
    "values of complex Eig": (lambda b, v: eigen(b, v)[0], [ANY]),
    "vectors of Eig": (lambda b, v: b("ComplexAbs", eigen(b, v)[1], Tout="float64"), [TURNING]),
    "vectors of complex Eig": (
        lambda b, v: b("ComplexAbs", eigen(b, v)[1], Tout="float64"), [ANY]),
    "FFT": (lambda b, v: b("FFT", *v), [numbers(2, 5)]),
    "IFFT": (lambda b, v: b("IFFT", *v), [numbers(2, 4)]),
    "FFT2D": (lambda b, v: b("FFT2D", *v), [numbers(2, 3, 4)]),
    "IFFT2D": (lambda b, v: b("IFFT2D", *v), [numbers(3, 4)]),
    "FFT3D": (lambda b, v: b("FFT3D", *v), [numbers(2, 3, 2)]),
    "IFFT3D": (lambda b, v: b("IFFT3D", *v), [numbers(2, 3, 2)]),
}  # fmt: skip
for _op, _shape in (("RFFT", (2, 5)), ("RFFT2D", (2, 4, 5))):
    for _more in (-1, 0):
        _sizes = [n + _more for n in _shape[1:]]
        SHAPED[f"{_op} to {_sizes}"] = (
            lambda b, v, op=_op, n=tuple(_sizes): b(  # type: ignore[misc]
                op, *v, b.const(n, "int32"), Tcomplex="complex128"
            ),
            [numbers(*_shape).real],
        )
        SHAPED[f"I{_op} to {_sizes}"] = (
            lambda b, v, op=_op, n=tuple(_sizes): b(  # type: ignore[misc]
                f"I{op}", *v, b.const(n, "int32"), Treal="float64"
            ),
            [numbers(*_shape[:-1], 3)],
        )


@pytest.mark.parametrize("op", sorted(ONE))
def test_functions_of_one_number(op: str) -> None:
    value = numbers(2, 3)
    if op in ("Acosh", "Atanh", "Asin", "Acos"):
        value = value * (1 + 0.5j)
    check(lambda b, v: b(op, v[0]), [value])


@pytest.mark.parametrize("op", sorted(TWO))
def test_functions_of_two_numbers(op: str) -> None:
    check(lambda b, v: b(op, *v), [numbers(2, 3), numbers(3, seed=1)])


@pytest.mark.parametrize("name", sorted(SHAPED))
def test_other_ops(name: str) -> None:
    make, values = SHAPED[name]
    check(make, values)


def test_angles_and_sizes_at_zero_have_no_gradient() -> None:
    graph = Graph()
    b = Builder(graph)
    z = b("Placeholder", dtype="complex128", shape=[1], name="z")
    for op in ("ComplexAbs", "Angle"):
        (dz,) = gradients(b(op, z, Tout="float64"), z)
        assert Session(graph).run(f"{dz[0].name}:{dz[1]}", {"z": np.zeros(1, complex)}) == 0


def test_second_derivatives_go_through() -> None:
    graph = Graph()
    b = Builder(graph)
    x = b("Placeholder", dtype="float64", shape=[], name="x")
    wave = b("Exp", b("Complex", b("ZerosLike", x), x, Tout="complex128"))  # cos x + i sin x
    (first,) = gradients(b("Imag", wave, Tout="float64"), x)
    (second,) = gradients(first, x)
    found = Session(graph).run([f"{n.name}:{k}" for n, k in (first, second)], {"x": 0.3})
    np.testing.assert_allclose(found, [np.cos(0.3), -np.sin(0.3)], rtol=1e-12)


def test_second_derivatives_go_through_loops() -> None:
    @ds.function
    def slopes(z: Any) -> Any:
        w = ds.while_loop(lambda k, _: k < 3, lambda k, w: (k + 1, w * z), (0, z))[1]
        (first,) = ds.gradients(operations.real(w * operations.conj(w)), [z])
        return first, ds.gradients(operations.real(first * operations.conj(first)), [z])

    z = np.complex128(0.6 + 0.3j)
    first, (second,) = slopes(z)
    np.testing.assert_allclose(first, 8 * abs(z) ** 6 * z, rtol=1e-12)
    np.testing.assert_allclose(second, 64 * 14 * abs(z) ** 12 * z, rtol=1e-12)


def test_ops_without_a_complex_rule_are_refused_by_name() -> None:
    b = Builder(Graph())
    z = b("Placeholder", dtype="complex128", shape=[2], name="z")
    odd = b("SquaredDifference", z, z, name="odd")
    with pytest.raises(GraphError, match=r"complex numbers: .*odd \(SquaredDifference\)") as caught:
        gradients(b("Real", odd, Tout="float64"), z)
    assert caught.value.code == "no-gradient"
    with pytest.raises(BadRequest) as alone:
        gradients(z, z)
    assert alone.value.code == "not-differentiable"


def test_each_listed_op_has_a_rule_and_each_holomorphic_one_is_tried() -> None:
    RULES.load_all()
    assert (SAME | HOLOMORPHIC) - set(RULES.index) == set()
    assert HOLOMORPHIC - ONE - TWO - SHAPED.keys() == set()
    assert not SAME & HOLOMORPHIC
