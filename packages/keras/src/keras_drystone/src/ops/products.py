"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

from keras.src.backend.common.dtypes import result_type

from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops import reducing
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.indexing import getitem
from keras_drystone.src.ops.operands import kind_of, one_axis
from keras_drystone.src.ops.shaping import expand_dims, moveaxis, ravel, reshape, squeeze, transpose

__all__ = [
    "cross", "dot", "einsum", "inner", "kron", "matmul", "outer", "tensordot", "vdot", "vectorize"
]  # fmt: skip


def _both(x1: Any, x2: Any) -> tuple[Any, Any, str]:
    x, y = convert_to_tensor(x1), convert_to_tensor(x2)
    kinds = (kind_of(x), kind_of(y))
    kind = "int32" if kinds == ("int8", "int8") else result_type(*kinds)
    return cast(x, kind), cast(y, kind), kind


def matmul(x1: Any, x2: Any) -> Any:
    """The product of matrices; of more axes, of each matrix."""
    x, y, kind = _both(x1, x2)
    if kind == "bool":
        return cast(_product(cast(x, "int32"), cast(y, "int32")), "bool")
    return _product(x, y)


def _product(x: Any, y: Any) -> Any:
    if x.ndim == 0 or y.ndim == 0:
        raise ValueError("matmul needs tensors with at least one axis")
    if x.ndim == 1 and y.ndim == 1:
        products = emit("Mul", x, y)
        return cast(reducing.sum(products), products.dtype)
    if x.ndim == 1:
        return squeeze(_product(expand_dims(x, 0), y), -2)
    if y.ndim == 1:
        return squeeze(_product(x, expand_dims(y, 1)), -1)
    if x.ndim == 2 and y.ndim == 2:
        return emit("MatMul", x, y)
    if y.ndim == 2:
        lead = shape(x)[:-1]
        rows = emit("MatMul", reshape(x, (_known(list(lead)), shape(x)[-1])), y)
        return reshape(rows, (*lead, shape(y)[-1]))
    return emit("BatchMatMulV2", x, y)


def dot(x1: Any, x2: Any) -> Any:
    """NumPy's product: of the last axis and the last but one."""
    x, y, kind = _both(x1, x2)
    if x.ndim == 0 or y.ndim == 0:
        return emit("LogicalAnd" if kind == "bool" else "Mul", x, y)
    return cast(tensordot(x, y, [[x.ndim - 1], [max(y.ndim - 2, 0)]]), kind)


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """The product over axes of both."""
    x, y, kind = _both(x1, x2)
    if isinstance(axes, int):
        first = list(range(x.ndim - axes, x.ndim))
        second = list(range(axes))
    else:
        first, second = ([a] if isinstance(a, int) else list(a) for a in axes)
        first = [one_axis(a, x.ndim) for a in first]
        second = [one_axis(a, y.ndim) for a in second]
    kept_x = [k for k in range(x.ndim) if k not in first]
    kept_y = [k for k in range(y.ndim) if k not in second]
    sizes_x, sizes_y = shape(x), shape(y)
    inner = [sizes_x[k] for k in first]
    rows = reshape(
        transpose(x, kept_x + first), (_known([sizes_x[k] for k in kept_x]), _all(inner))
    )
    columns = reshape(
        transpose(y, second + kept_y), (_all(inner), _known([sizes_y[k] for k in kept_y]))
    )
    found = matmul(rows, columns)
    return reshape(cast(found, kind), [sizes_x[k] for k in kept_x] + [sizes_y[k] for k in kept_y])


def _all(sizes: list[Any]) -> Any:
    total: Any = 1
    for size in sizes:
        total = size if isinstance(total, int) and total == 1 else total * size
    return total


def _known(sizes: list[Any]) -> Any:
    """How many there are, which -1 does not say of empty tensors; -1 where sizes are symbolic."""
    total = _all(sizes)
    return total if isinstance(total, int) else -1


def inner(x1: Any, x2: Any) -> Any:
    """The product over the last axes of both."""
    x, y, kind = _both(x1, x2)
    if x.ndim == 0 or y.ndim == 0:
        return emit("LogicalAnd" if kind == "bool" else "Mul", x, y)
    return cast(tensordot(x, y, [[x.ndim - 1], [y.ndim - 1]]), kind)


def vdot(x1: Any, x2: Any) -> Any:
    """The product of all elements, those of the first one conjugated."""
    x, y, kind = _both(x1, x2)
    return cast(matmul(ravel(e.conjugate(x)), ravel(y)), kind)


def outer(x1: Any, x2: Any) -> Any:
    """The product of each with each."""
    x, y, _ = _both(x1, x2)
    return e.multiply(reshape(x, (-1, 1)), reshape(y, (1, -1)))


def kron(x1: Any, x2: Any) -> Any:
    """Kronecker's product."""
    x, y, _ = _both(x1, x2)
    rank = max(x.ndim, y.ndim)
    x = reshape(x, (1,) * (rank - x.ndim) + tuple(shape(x)))
    y = reshape(y, (1,) * (rank - y.ndim) + tuple(shape(y)))
    sizes = [_all([a, b]) for a, b in zip(shape(x), shape(y), strict=True)]
    x = expand_dims(x, tuple(range(1, 2 * rank, 2)))
    y = expand_dims(y, tuple(range(0, 2 * rank, 2)))
    return reshape(e.multiply(x, y), sizes)


def cross(
    x1: Any, x2: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The vector product, of vectors of two or three numbers."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y, _ = _both(x1, x2)
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    for value in (x, y):
        if value.shape[-1] not in (2, 3, None):
            raise ValueError("both must be vectors of 2 or 3 numbers")
    a = [getitem(x, (..., k)) for k in range(x.shape[-1] or 3)]
    b = [getitem(y, (..., k)) for k in range(y.shape[-1] or 3)]
    third = e.subtract(e.multiply(a[0], b[1]), e.multiply(a[1], b[0]))
    if len(a) == 2 and len(b) == 2:
        return third
    zero = emit("ZerosLike", third)
    a2, b2 = a[2] if len(a) > 2 else zero, b[2] if len(b) > 2 else zero
    first = e.subtract(e.multiply(a[1], b2), e.multiply(a2, b[1]))
    second = e.subtract(e.multiply(a2, b[0]), e.multiply(a[0], b2))
    return moveaxis(emit("Pack", [first, second, third], axis=-1), -1, axisc)


def einsum(subscripts: str, *operands: Any, **_: Any) -> Any:
    """Einstein's sum."""
    given = [convert_to_tensor(x) for x in operands]
    kinds = [kind_of(x) for x in given]
    kind = "int32" if set(kinds) == {"int8"} else result_type(*set(kinds))
    equation = _explicit(subscripts.replace(" ", ""))
    inner = "int32" if kind == "bool" else kind
    parts = [cast(x, inner) for x in given]
    if len(parts) <= 2:
        return cast(emit("Einsum", parts, equation=equation), kind)
    return cast(_einsum_of_many(equation, parts), kind)


def _explicit(equation: str) -> str:
    """With the result stated: labels that come once, in their order."""
    if "->" in equation:
        return equation
    letters = equation.replace(",", "").replace("...", "")
    once = sorted(c for c in set(letters) if letters.count(c) == 1)
    return f"{equation}->{'...' if '...' in equation else ''}{''.join(once)}"


def _einsum_of_many(equation: str, operands: list[Any]) -> Any:
    """Two at a time: labels that are used later are kept."""
    inputs, result = equation.split("->")
    terms = inputs.split(",")
    while len(terms) > 2:
        first, second, *rest = terms
        later = set("".join(rest) + result)
        dots = "..." if "..." in first + second else ""
        letters = dict.fromkeys((first + second).replace(".", ""))
        kept = dots + "".join(c for c in letters if c in later)
        made = emit("Einsum", operands[:2], equation=f"{first},{second}->{kept}")
        terms, operands = [kept, *rest], [made, *operands[2:]]
    return emit("Einsum", operands, equation=f"{','.join(terms)}->{result}")


def vectorize(pyfunc: Any, *, excluded: Any = None, signature: str | None = None) -> Any:
    """A function of elements as one of tensors."""
    from keras.src.backend.common.backend_utils import vectorize_impl

    return vectorize_impl(pyfunc, _mapped, excluded=excluded, signature=signature)


def _mapped(function: Any, in_axes: Any) -> Any:
    """Over the first axis of those arguments whose axis is 0."""

    def call(*args: Any) -> Any:
        from keras_drystone.src.ops.flow import map as over

        moving = tuple(a for a, axis in zip(args, in_axes, strict=True) if axis is not None)

        def one(parts: Any) -> Any:
            rest = iter(parts)
            return function(*(next(rest) if axis is not None else a
                              for a, axis in zip(args, in_axes, strict=True)))  # fmt: skip

        return over(one, moving)

    return call
