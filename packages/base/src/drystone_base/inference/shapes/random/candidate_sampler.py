"""Shapes of sampled classes."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape(
    "UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler",
    "ThreadUnsafeUnigramCandidateSampler", "FixedUnigramCandidateSampler", "AllCandidateSampler",
)  # fmt: skip
def sampled(c: ShapeCall) -> list[Shape]:
    """The sampled classes, and the expected counts of the true and the sampled ones."""
    rows = c.with_rank(c.shape(0), 2)[0]
    count = (c.attrs["num_sampled"],)
    return [count, (rows, c.attrs["num_true"]), count]


@shape("ComputeAccidentalHits")
def accidental_hits(c: ShapeCall) -> list[Shape]:
    """Three vectors of one length."""
    c.merge_dim(c.with_rank(c.shape(0), 2)[1], c.attrs["num_true"])
    c.with_rank(c.shape(1), 1)
    return [(UNKNOWN,)] * 3
