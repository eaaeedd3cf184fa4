"""Shapes of recurrent blocks."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


def _times(dim: int, factor: int) -> int:
    return dim * factor if dim >= 0 else UNKNOWN


@shape("LSTMBlockCell")
def lstm_block_cell(c: ShapeCall) -> list[Shape]:
    """Seven matrices [batch, cell]."""
    batch = c.with_rank(c.shape(0), 2)[0]
    return [(batch, c.with_rank(c.shape(1), 2)[1])] * 7


@shape("LSTMBlockCellGrad")
def lstm_block_cell_grad(c: ShapeCall) -> list[Shape]:
    """The cell state's, four gates side by side, and the peephole weights' shapes."""
    batch = c.with_rank(c.shape(0), 2)[0]
    cell = c.with_rank(c.shape(1), 2)[1]
    wide = _times(cell, 4)
    peepholes = [c.with_rank(c.shape(k), 1) for k in (4, 5, 6)]  # of any length, when not used
    return [(batch, cell), (batch, wide), *peepholes]


@shape("BlockLSTM", "BlockLSTMV2")
def block_lstm(c: ShapeCall) -> list[Shape]:
    """Seven tensors [time, batch, cell]; the cell is a quarter of the bias."""
    time, batch, _ = c.with_rank(c.shape(1), 3)
    bias = c.with_rank(c.shape(8), 1)[0]
    return [(time, batch, bias // 4 if bias >= 0 else UNKNOWN)] * 7


@shape("BlockLSTMGrad", "BlockLSTMGradV2")
def block_lstm_grad(c: ShapeCall) -> list[Shape]:
    """The shapes of what the gradients belong to."""
    return [c.with_rank(c.shape(k), rank) for k, rank in enumerate((3, 2, 2, 2, 1, 1, 1, 1), 1)]


@shape("GRUBlockCell")
def gru_block_cell(c: ShapeCall) -> list[Shape]:
    """Four matrices [batch, cell]."""
    batch = c.with_rank(c.shape(0), 2)[0]
    return [(batch, c.with_rank(c.shape(1), 2)[1])] * 4


@shape("GRUBlockCellGrad")
def gru_block_cell_grad(c: ShapeCall) -> list[Shape]:
    """Gradients of x, of the output, of the candidate, and of both gates side by side."""
    x, cell = c.with_rank(c.shape(0), 2), c.with_rank(c.shape(1), 2)[1]
    out = (x[0], cell)
    return [x, out, out, (x[0], c.with_rank(c.shape(2), 2)[1])]
