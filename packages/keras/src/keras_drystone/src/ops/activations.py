"""Activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops import reducing, shaping
from keras_drystone.src.ops.core import convert_to_tensor, is_training
from keras_drystone.src.ops.gradients import custom_gradient
from keras_drystone.src.ops.operands import floating, kind_of, like, one_axis

__all__ = [
    "celu", "elu", "gelu", "glu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_tanh",
    "leaky_relu", "log_sigmoid", "log_softmax", "relu", "relu6", "selu", "sigmoid", "silu",
    "soft_shrink", "softmax", "softplus", "softsign", "sparse_plus", "sparse_sigmoid", "sparsemax",
    "squareplus", "tanh", "tanh_shrink", "threshold",
]  # fmt: skip


def _of_floats(op: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return emit(op, floating(x))

    function.__doc__ = f"{op} of each element, as floats."
    return function


sigmoid, tanh = _of_floats("Sigmoid"), _of_floats("Tanh")
softplus, softsign, selu = _of_floats("Softplus"), _of_floats("Softsign"), _of_floats("Selu")


def relu(x: Any) -> Any:
    """What is positive, else 0."""
    return emit("Relu", convert_to_tensor(x))


def relu6(x: Any) -> Any:
    """Not below 0, not above 6."""
    return emit("Relu6", convert_to_tensor(x))


def _scaled(x: Any, factor: float) -> Any:
    return emit("Mul", x, like(factor, x))


def _shifted(x: Any, by: float) -> Any:
    return emit("AddV2", x, like(by, x))


def sparse_sigmoid(x: Any) -> Any:
    """0 up to -1, 1 from 1 on, a line between."""
    return e.clip(_scaled(_shifted(floating(x), 1), 0.5), 0, 1)


def sparse_plus(x: Any) -> Any:
    """0 up to -1, x from 1 on, (x + 1)² / 4 between."""
    x = floating(x)
    middle = _scaled(e.square(_shifted(x, 1)), 0.25)
    return e.where(e.less_equal(x, like(-1, x)), like(0, x),
                   e.where(e.less(x, like(1, x)), middle, x))  # fmt: skip


def tanh_shrink(x: Any) -> Any:
    """x - tanh(x)."""
    x = floating(x)
    return emit("Sub", x, emit("Tanh", x))


def soft_shrink(x: Any, threshold: float = 0.5) -> Any:
    """Nearer to 0 by the threshold, 0 within it."""
    x = floating(x)
    near = e.less_equal(e.absolute(x), like(threshold, x))
    moved = emit("Sub", x, emit("Mul", e.sign(x), like(threshold, x)))
    return e.where(near, like(0, x), moved)


def hard_shrink(x: Any, threshold: float = 0.5) -> Any:
    """0 within the threshold."""
    x = floating(x)
    return e.where(e.less_equal(e.absolute(x), like(threshold, x)), like(0, x), x)


def silu(x: Any) -> Any:
    """x * sigmoid(x)."""
    x = floating(x)
    return emit("Mul", x, emit("Sigmoid", x))


def squareplus(x: Any, b: float = 4) -> Any:
    """(x + sqrt(x² + b)) / 2."""
    x = floating(x)
    return _scaled(emit("AddV2", x, e.sqrt(emit("AddV2", e.square(x), like(b, x)))), 0.5)


def log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x))."""
    return emit("Neg", emit("Softplus", emit("Neg", floating(x))))


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """x, or a part of it where it is negative."""
    return emit("LeakyRelu", floating(x), alpha=float(negative_slope))


def hard_sigmoid(x: Any) -> Any:
    """relu6(x + 3) / 6."""
    x = floating(x)
    return emit("Mul", emit("Relu6", _shifted(x, 3)), like(1 / 6, x))


def hard_silu(x: Any) -> Any:
    """x * hard_sigmoid(x)."""
    x = floating(x)
    return emit("Mul", x, hard_sigmoid(x))


def hard_tanh(x: Any) -> Any:
    """Not below -1, not above 1."""
    return e.clip(floating(x), -1, 1)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """x, or alpha * (exp(x) - 1) where it is negative."""
    x = floating(x)
    found = emit("Elu", x)
    return found if alpha == 1 else e.where(e.greater(x, like(0, x)), found, _scaled(found, alpha))


def celu(x: Any, alpha: float = 1.0) -> Any:
    """max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1)."""
    x = floating(x)
    zero = like(0, x)
    below = emit("Expm1", e.divide(emit("Minimum", x, zero), like(alpha, x)))
    return emit("AddV2", emit("Maximum", x, zero), _scaled(below, alpha))


def gelu(x: Any, approximate: bool = True) -> Any:
    """x times the normal distribution's cumulative function.

    Its way back computes the slope from x again: it is element-wise, and so one pass over x there,
    in place of one for each value that was kept.
    """
    x = floating(x)
    return _trained_gelu(x, approximate=approximate) if is_training() else _gelu(x, approximate)


def _gelu(x: Any, approximate: bool) -> Any:
    return emit("Mul", _scaled(x, 0.5), _shifted(_share(x, approximate), 1))


def _share(x: Any, approximate: bool) -> Any:
    """The error function of x by the root of two, or what is near it."""
    if approximate:
        cubed = emit("Mul", x, e.square(x))
        inner = _scaled(emit("AddV2", x, _scaled(cubed, 0.044715)), float(np.sqrt(2 / np.pi)))
        return emit("Tanh", inner)
    return emit("Erf", _scaled(x, float(np.sqrt(0.5))))


@custom_gradient
def _trained_gelu(x: Any, *, approximate: bool) -> tuple[Any, Callable[[Any], Any]]:
    def back(grad: Any) -> Any:
        share = _share(x, approximate)
        if approximate:
            inner = _scaled(
                _shifted(_scaled(e.square(x), 3 * 0.044715), 1), float(np.sqrt(2 / np.pi))
            )
            slope = emit("Mul", inner, _shifted(e.negative(e.square(share)), 1))
        else:
            slope = _scaled(e.exp(_scaled(e.square(x), -0.5)), float(np.sqrt(2 / np.pi)))
        whole = emit("AddV2", _shifted(share, 1), emit("Mul", x, slope))
        return emit("Mul", grad, _scaled(whole, 0.5))

    return _gelu(x, approximate), back


def glu(x: Any, axis: int = -1) -> Any:
    """The first half times the sigmoid of the second one."""
    x = floating(x)
    axis = one_axis(axis, x.ndim)
    if x.shape[axis] % 2:
        raise ValueError(
            f"axis size must be divisible by 2. Received: x.shape={x.shape} with axis={axis}"
        )
    first, second = shaping.split(x, 2, axis)
    return emit("Mul", first, emit("Sigmoid", second))


def threshold(x: Any, threshold: float, default_value: float) -> Any:
    """x above the threshold, else the default."""
    x = convert_to_tensor(x)
    return e.where(e.greater(x, threshold), x, like(default_value, x))


def _along_last(op: str) -> Callable[..., Any]:
    def function(x: Any, axis: int | None = -1) -> Any:
        x = floating(x)
        if axis is None:
            flat = emit(op, shaping.reshape(x, (1, -1)))
            return shaping.reshape(flat, _shape(x))
        axis = one_axis(axis, x.ndim)
        if axis == x.ndim - 1:
            return emit(op, x)
        return shaping.swapaxes(emit(op, shaping.swapaxes(x, axis, -1)), axis, -1)

    function.__doc__ = f"{op} along an axis."
    return function


def _shape(x: Any) -> Any:
    from keras_drystone.src.ops.core import shape

    return shape(x)


softmax, log_softmax = _along_last("Softmax"), _along_last("LogSoftmax")


def sparsemax(x: Any, axis: int = -1) -> Any:
    """The nearest point of the simplex."""
    from keras_drystone.src.ops.sorting import sort

    x = floating(x)
    axis = one_axis(axis, x.ndim)
    moved = shaping.moveaxis(x, axis, -1)
    ordered = shaping.flip(sort(moved, -1), -1)
    sums = reducing.cumsum(ordered, -1)
    ranks = np.arange(1, x.shape[axis] + 1)
    ranks = convert_to_tensor(ranks, kind_of(x))
    support = e.greater(emit("Sub", ordered, e.divide(_shifted(sums, -1), ranks)), like(0, x))
    count = reducing.sum(convert_to_tensor(support, kind_of(x)), -1, True)
    total = reducing.sum(e.where(support, ordered, like(0, x)), -1, True)
    edge = e.divide(_shifted(total, -1), count)
    return shaping.moveaxis(e.maximum(emit("Sub", moved, edge), like(0, x)), -1, axis)
