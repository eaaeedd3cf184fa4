"""Shapes of ragged tensors packed into variants and unpacked."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape("RaggedTensorToVariant")
def ragged_to_variant(c: ShapeCall) -> list[Shape]:
    """A scalar, or a vector of one variant per row."""
    if not c.attrs["batched_input"]:
        return [()]
    first = c.shape(0)
    if len(c.shapes) == 1:
        c.with_rank_at_least(first, 1)
        return [(UNKNOWN if first is None else first[0],)]
    splits = c.with_rank(first, 1)[0]
    return [(splits - 1 if splits > 0 else UNKNOWN,)]


@shape("RaggedTensorFromVariant")
def ragged_from_variant(c: ShapeCall) -> list[Shape]:
    """Splits of unknown length, values of unknown shape."""
    out: list[Shape] = [(UNKNOWN,)] * c.attrs["output_ragged_rank"]
    return [*out, None]


@shape("RaggedTensorToVariantGradient")
def ragged_to_variant_grad(c: ShapeCall) -> list[Shape]:
    """The value of ``dense_values_shape``."""
    return [c.value_as_shape(2)]
