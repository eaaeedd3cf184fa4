"""Patches of images and volumes. Source: TensorFlow ``array_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("ExtractImagePatches", "ExtractVolumePatches")
def _patches(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """What was taken of a pixel is added up: patches of pixels' numbers say where it came from."""
    x, full = node.inputs[0], node.full_attrs()
    attrs = {k: full[k] for k in ("ksizes", "strides", "rates", "padding") if k in full}
    zero, one = b.const(0, INT32), b.const(1, INT32)
    shape = b.shape(x)
    last = b("Sub", b("Rank", x), one)
    space = b("GatherV2", shape, b("Range", one, last, one), zero)
    batch, depth = (b("GatherV2", shape, k, zero) for k in (zero, last))
    count = b("Prod", space, zero, keep_dims=False)
    numbers = b("Range", one, b("Add", count, one), one)  # 0 is what lies beside the image
    single = b.const([1], INT32)
    images = b("Reshape", numbers, b("ConcatV2", [single, space, single], zero))
    places = b("Reshape", b(node.op, images, **attrs), b.const([-1], INT32))
    rows = b("Reshape", grads[0], _packed(b, batch, b.const(-1, INT32), depth))
    order = b.const([1, 0, 2], INT32)
    sums = b("UnsortedSegmentSum", b("Transpose", rows, order), places, b("Add", count, one))
    inside = b("Slice", sums, b.const([1, 0, 0], INT32), b.const([-1, -1, -1], INT32))
    return [b("Reshape", b("Transpose", inside, order), shape)]


def _packed(b: Builder, *sizes: Output) -> Output:
    return b("Pack", list(sizes), axis=0)
