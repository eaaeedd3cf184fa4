"""Shapes of warm starts: they are attributes."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("LoadAndRemapMatrix")
def load_and_remap_matrix(c: ShapeCall) -> list[Shape]:
    """Rows and columns as the attributes say."""
    return [(c.attrs["num_rows"], c.attrs["num_cols"])]


@shape("GenerateVocabRemapping")
def generate_vocab_remapping(c: ShapeCall) -> list[Shape]:
    """An entry for each new word, and a scalar."""
    c.with_rank(c.shape(0), 0)
    c.with_rank(c.shape(1), 0)
    return [(c.attrs["num_new_vocab"],), ()]
