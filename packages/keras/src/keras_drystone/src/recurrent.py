"""Training of LSTM and GRU with the usual functions, with what needs no loop left out of it.

The inputs of all steps are multiplied by the kernel at once. On the way back the derivatives of the
gates are there before the loop begins, and the gradient of the recurrent kernel is one product of
all steps after it, where a gradient of the loop itself would add one matrix a step.
"""

from __future__ import annotations

from typing import Any

from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops import reducing, shaping
from keras_drystone.src.ops.activations import sigmoid, tanh
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.creating import zeros_like
from keras_drystone.src.ops.flow import folded
from keras_drystone.src.ops.gradients import custom_gradient
from keras_drystone.src.ops.indexing import getitem
from keras_drystone.src.ops.operands import kind_of
from keras_drystone.src.ops.products import matmul

__all__ = ["gru", "is_usual", "lstm"]


def is_usual(activation: Any, recurrent_activation: Any) -> bool:
    """Whether the gates have the functions whose derivatives are written here."""
    from keras.src import activations as theirs
    from keras.src import ops

    return activation in (theirs.tanh, ops.tanh) and recurrent_activation in (
        theirs.sigmoid, ops.sigmoid)  # fmt: skip


def lstm(
    inputs: Any, h: Any, c: Any, kernel: Any, recurrent: Any, bias: Any, *,
    sequences: bool, backwards: bool,
) -> tuple[Any, Any, list[Any]]:  # fmt: skip
    """The last output, outputs along time (the last alone without ``sequences``), and the states.

    Shapes: inputs [batch, steps, features], states [batch, units], kernels [., 4 * units].
    """
    gates = _projected(inputs, kernel, bias, backwards)
    recurrent, h, c = (cast(convert_to_tensor(v), kind_of(gates)) for v in (recurrent, h, c))
    *outputs, h, c = _lstm(gates, recurrent, h, c, sequences=sequences)
    return h, _along(outputs, h), [h, c]


def gru(
    inputs: Any, h: Any, kernel: Any, recurrent: Any, bias: Any, *,
    sequences: bool, backwards: bool,
) -> tuple[Any, Any, list[Any]]:  # fmt: skip
    """As ``lstm``; the reset gate is applied after the product. The bias is [2, 3 * units]."""
    first, second = (None, None) if bias is None else _rows(bias)
    gates = _projected(inputs, kernel, first, backwards)
    recurrent, h = (cast(convert_to_tensor(v), kind_of(gates)) for v in (recurrent, h))
    second = zeros_like(getitem(recurrent, 0)) if second is None else second
    *outputs, h = _gru(gates, recurrent, cast(second, kind_of(gates)), h, sequences=sequences)
    return h, _along(outputs, h), [h]


def _rows(bias: Any) -> tuple[Any, Any]:
    bias = convert_to_tensor(bias)
    return getitem(bias, 0), getitem(bias, 1)


def _projected(inputs: Any, kernel: Any, bias: Any, backwards: bool) -> Any:
    """What the inputs give to the gates, step by step: [steps, batch, gates * units]."""
    kernel = convert_to_tensor(kernel)
    x = shaping.swapaxes(cast(convert_to_tensor(inputs), kind_of(kernel)), 0, 1)
    found = matmul(shaping.flip(x, 0) if backwards else x, kernel)
    return found if bias is None else e.add(found, convert_to_tensor(bias))


def _along(outputs: list[Any], last: Any) -> Any:
    return shaping.swapaxes(outputs[0], 0, 1) if outputs else shaping.expand_dims(last, 1)


def _before(first: Any, states: Any) -> Any:
    """The state that each step begins with."""
    return shaping.concatenate([shaping.expand_dims(first, 0), getitem(states, slice(0, -1))], 0)


def _of_kernel(states: Any, grads: Any) -> Any:
    """The gradient of the recurrent kernel: one product over all steps."""
    flat = [shaping.reshape(x, (-1, shape(x)[-1])) for x in (states, grads)]
    return emit("MatMul", *flat, transpose_a=True)


@custom_gradient
def _lstm(gates: Any, recurrent: Any, h: Any, c: Any, *, sequences: bool) -> tuple[Any, Any]:
    """Outputs of all steps, if they are to be given, the last one, and the last cell."""

    def step(carry: Any, now: Any) -> tuple[Any, Any]:
        h, c = carry
        both = e.add(now, matmul(h, recurrent))
        i, f, g, o = shaping.split(both, 4, -1)
        c = e.add(e.multiply(sigmoid(f), c), e.multiply(sigmoid(i), tanh(g)))
        h = e.multiply(sigmoid(o), tanh(c))
        return (h, c), (h, c, both)

    last, (outputs, cells, raw) = folded(step, (h, c), gates, shape(gates)[0])

    def back(*by: Any) -> tuple[Any, ...]:
        i, f, g, o = shaping.split(raw, 4, -1)
        i, f, o = (sigmoid(x) for x in (i, f, o))
        g, wide = tanh(g), tanh(cells)
        slopes = [g * i * (1 - i), _before(c, cells) * f * (1 - f), i * (1 - g * g)]
        slopes = shaping.concatenate([*slopes, wide * o * (1 - o)], -1)

        def step(carry: Any, now: Any) -> tuple[Any, Any]:
            (dh, dc), (into_cell, slope, kept, *by_output) = carry, now
            dh = e.add(dh, by_output[0]) if by_output else dh
            dc = e.add(dc, e.multiply(dh, into_cell))
            grads = e.multiply(shaping.concatenate([dc, dc, dc, dh], -1), slope)
            return (emit("MatMul", grads, recurrent, transpose_b=True), e.multiply(dc, kept)), grads

        given = (o * (1 - wide * wide), slopes, f, *by[:-2])
        (dh, dc), grads = folded(step, by[-2:], given, shape(gates)[0], reverse=True)
        return grads, _of_kernel(_before(h, outputs), grads), dh, dc

    return (outputs, *last) if sequences else last, back


@custom_gradient
def _gru(gates: Any, recurrent: Any, bias: Any, h: Any, *, sequences: bool) -> tuple[Any, Any]:
    """Outputs of all steps, if they are to be given, and the last one."""

    def step(h: Any, now: Any) -> tuple[Any, Any]:
        inner = e.add(matmul(h, recurrent), bias)
        (z, r, n), (inner_z, inner_r, inner_n) = (shaping.split(x, 3, -1) for x in (now, inner))
        z, r = sigmoid(e.add(z, inner_z)), sigmoid(e.add(r, inner_r))
        n = tanh(e.add(n, e.multiply(r, inner_n)))
        h = e.add(e.multiply(z, h), e.multiply(1 - z, n))
        return h, (h, inner)

    last, (outputs, inner) = folded(step, h, gates, shape(gates)[0])

    def back(*by: Any) -> tuple[Any, ...]:
        (z, r, n), (inner_z, inner_r, inner_n) = (shaping.split(x, 3, -1) for x in (gates, inner))
        z, r = sigmoid(z + inner_z), sigmoid(r + inner_r)
        n, begun = tanh(n + r * inner_n), _before(h, outputs)
        by_n = (1 - z) * (1 - n * n)
        both = [(begun - n) * z * (1 - z), by_n * inner_n * r * (1 - r)]
        slopes = shaping.concatenate([*both, by_n * r], -1)

        def step(dh: Any, now: Any) -> tuple[Any, Any]:
            kept, slope, *by_output = now
            dh = e.add(dh, by_output[0]) if by_output else dh
            grads = e.multiply(shaping.concatenate([dh, dh, dh], -1), slope)
            inner = emit("MatMul", grads, recurrent, transpose_b=True)
            return e.add(e.multiply(dh, kept), inner), (dh, grads)

        given = (z, slopes, *by[:-1])
        first, (dh, inside) = folded(step, by[-1], given, shape(gates)[0], reverse=True)
        grads = shaping.concatenate([*(dh * slope for slope in both), dh * by_n], -1)
        return grads, _of_kernel(begun, inside), reducing.sum(inside, (0, 1)), first

    return (outputs, last) if sequences else (last,), back
