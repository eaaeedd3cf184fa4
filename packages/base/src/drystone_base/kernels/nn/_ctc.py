"""What CTC losses and decoders share: checks of logits, decoded labels as a sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_base.kernels._registry import Array, Call

__all__ = ["check_logits", "decoded"]


def check_logits(
    call: Call, inputs: Array, lengths: Array, status: str = "FAILED_PRECONDITION"
) -> None:
    """Fail unless logits are [time, batch, class] with one length up to ``time`` an example."""
    call.require(
        inputs.ndim == 3 and lengths.ndim == 1,
        "logits must have rank 3, and lengths be a vector",
        found=f"{list(inputs.shape)} and {list(lengths.shape)}",
        needed="[time, batch, class] and [batch]",
    )
    call.require(
        len(lengths) == inputs.shape[1],
        "there must be one length for each example",
        found=len(lengths),
        needed=inputs.shape[1],
        status=status,
    )
    call.require(
        bool((lengths <= inputs.shape[0]).all()),
        "no length may exceed the number of steps",
        found=lengths.tolist(),
        needed=f"at most {inputs.shape[0]}",
        status=status,
    )


def decoded(rows: Sequence[Sequence[int]]) -> tuple[Array, Array, Array]:
    """Indices, values and shape, int64, of the sparse matrix with these rows."""
    counts = np.array([len(row) for row in rows], np.int64)
    columns = [np.arange(n, dtype=np.int64) for n in counts]
    indices = np.stack(
        [np.repeat(np.arange(len(rows), dtype=np.int64), counts), np.concatenate(columns)], axis=1
    )
    values = np.array([v for row in rows for v in row], np.int64)
    return indices, values, np.array([len(rows), counts.max(initial=0)], np.int64)
