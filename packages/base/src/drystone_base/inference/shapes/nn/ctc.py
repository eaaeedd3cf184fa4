"""Shapes of CTC losses and decoders."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("CTCLoss", "CTCLossV2")
def ctc_loss(c: ShapeCall) -> list[Shape]:
    """One loss for each example, and the logits' shape."""
    logits = c.with_rank(c.shape(0), 3)
    indices, values = c.with_rank(c.shape(1), 2), c.with_rank(c.shape(2), 1)
    c.merge_dim(indices[0], values[0])
    batch = c.merge_dim(logits[1], c.with_rank(c.shape(3), 1)[0])
    return [(batch,), (logits[0], batch, logits[2])]


def _batch(c: ShapeCall) -> int:
    return c.merge_dim(c.with_rank(c.shape(0), 3)[1], c.with_rank(c.shape(1), 1)[0])


@shape("CTCGreedyDecoder")
def ctc_greedy_decoder(c: ShapeCall) -> list[Shape]:
    """A sparse matrix and one score for each example."""
    batch = _batch(c)
    return [(UNKNOWN, 2), (UNKNOWN,), (2,), (batch, 1)]


@shape("CTCBeamSearchDecoder")
def ctc_beam_search_decoder(c: ShapeCall) -> list[Shape]:
    """``top_paths`` sparse matrices, and as many scores for each example."""
    batch, count = _batch(c), int(c.attrs["top_paths"])
    parts: tuple[Shape, ...] = ((UNKNOWN, 2), (UNKNOWN,), (2,))
    return [*(part for part in parts for _ in range(count)), (batch, count)]
