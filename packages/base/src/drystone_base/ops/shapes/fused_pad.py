"""Shapes of convolutions with a fused border."""

from __future__ import annotations

from drystone_base.ops.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.ops.shapes._windows import slid


@shape("FusedPadConv2D", "FusedResizeAndPadConv2D")
def fused_pad_conv(c: ShapeCall) -> list[Shape]:
    """The convolution's shape over the resized and padded image."""
    given, resized = c.with_rank(c.shape(0), 4), c.op == "FusedResizeAndPadConv2D"
    if resized:
        size = c.value_as_shape(1)
        rows, columns = size if size is not None and len(size) == 2 else (UNKNOWN, UNKNOWN)
        given = (given[0], rows, columns, given[3])
    paddings, filters = c.value(1 + resized), c.with_rank(c.shape(2 + resized), 4)
    if paddings is None:
        padded: tuple[int, ...] = (UNKNOWN,) * 4
    else:
        if paddings.shape != (4, 2):
            c.fail("paddings must hold two numbers for each dimension", found=paddings.shape)
        both = zip(given, paddings.sum(axis=1).tolist(), strict=True)
        padded = tuple(d + n if d >= 0 else UNKNOWN for d, n in both)
    c.merge_dim(padded[3], filters[2])
    out = slid(c, padded[1:3], filters[:2], c.attrs["strides"], data_format="NHWC")
    return [(padded[0], *out, filters[3])]
