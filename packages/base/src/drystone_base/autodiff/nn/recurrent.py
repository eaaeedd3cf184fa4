"""Recurrent cells. Source: TensorFlow ``rnn_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("BlockLSTM", "BlockLSTMV2")
def _block_lstm(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """By states and outputs of all steps, and not by the gates."""
    outputs = [(node, k) for k in range(7)]
    given = b.node(
        node.op.replace("LSTM", "LSTMGrad"), *node.inputs, *outputs, grads[1], grads[6],
        use_peephole=node.attr("use_peephole"),
    )  # fmt: skip
    return [None, *((given, k) for k in range(8))]


@rule("LSTMBlockCell")
def _lstm_cell(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """By state and output, and not by the gates."""
    x, _, h, weights = node.inputs[:4]
    given = b.node("LSTMBlockCellGrad", *node.inputs, *((node, k) for k in range(6)), grads[1],
                   grads[6], use_peephole=node.attr("use_peephole"))  # fmt: skip
    gates: Output = (given, 1)
    back = b("MatMul", gates, weights, transpose_b=True)
    by_x, by_h = _unjoined(b, back, x, h)
    by_weights = b("MatMul", _joined(b, x, h), gates, transpose_a=True)
    peepholes = [(given, k) for k in (2, 3, 4)]
    return [by_x, (given, 0), by_h, by_weights, *peepholes, b("BiasAddGrad", gates)]


@rule("GRUBlockCell")
def _gru_cell(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """By the output, and not by the gates."""
    x, h = node.inputs[:2]
    given = b.node("GRUBlockCellGrad", *node.inputs, *((node, k) for k in range(3)), grads[3])
    candidate, gates = (given, 2), (given, 3)
    reset = b("Mul", h, (node, 0))
    return [
        (given, 0),
        (given, 1),
        b("MatMul", _joined(b, x, h), gates, transpose_a=True),
        b("MatMul", _joined(b, x, reset), candidate, transpose_a=True),
        b("BiasAddGrad", gates),
        b("BiasAddGrad", candidate),
    ]


def _joined(b: Builder, x: Output, h: Output) -> Output:
    return b("ConcatV2", [x, h], b.const(1, INT32))


def _unjoined(b: Builder, both: Output, x: Output, h: Output) -> list[Output]:
    """The columns of x, and those of h."""
    sizes = [b("Slice", b.shape(y), b.const([1], INT32), b.const([1], INT32)) for y in (x, h)]
    lengths = b("ConcatV2", sizes, b.const(0, INT32))
    node = b.node("SplitV", both, lengths, b.const(1, INT32), num_split=2)
    return [(node, 0), (node, 1)]
