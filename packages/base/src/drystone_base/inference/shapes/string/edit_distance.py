"""Shape of the edit distance."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.sparse.sparse import sparse_rank

__all__: list[str] = []


@shape("EditDistance")
def edit_distance(c: ShapeCall) -> list[Shape]:
    """The larger of both shapes in each dimension but the last."""
    guess, truth = c.value_as_shape(2), c.value_as_shape(5)
    rank = c.merge_dim(sparse_rank(c, 0, 2), sparse_rank(c, 3, 5))
    if guess is None or truth is None:
        return [(UNKNOWN,) * (rank - 1) if rank > 0 else None]
    if len(guess) != len(truth):
        c.fail("both tensors must have one rank", found=len(guess), needed=len(truth))
    pairs = zip(guess[:-1], truth[:-1], strict=True)
    return [tuple(max(a, b) if a >= 0 and b >= 0 else UNKNOWN for a, b in pairs)]
