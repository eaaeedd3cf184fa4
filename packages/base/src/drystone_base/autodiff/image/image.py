"""Resizing and cropping. Source: TensorFlow ``image_grad.py``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node

__all__: list[str] = []


def _attrs(node: Node) -> dict[str, Any]:
    return {k: node.full_attrs()[k] for k in ("align_corners", "half_pixel_centers")}


@rule("ResizeBilinear", "ResizeBicubic")
def _resize(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b(f"{node.op}Grad", grads[0], node.inputs[0], **_attrs(node)), None]


@rule("ResizeBilinearGrad")
def _resize_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Linear: the gradient is resized as the images were."""
    size = b("Slice", b.shape(node.inputs[0]), b.const([1], INT32), b.const([2], INT32))
    return [b("ResizeBilinear", grads[0], size, **_attrs(node)), None]


@rule("ResizeNearestNeighbor")
def _nearest(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    size = b("Slice", b.shape(x), b.const([1], INT32), b.const([2], INT32))
    return [b("ResizeNearestNeighborGrad", grads[0], size, **_attrs(node)), None]


@rule("ResizeNearestNeighborGrad")
def _nearest_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    size = b("Slice", b.shape(node.inputs[0]), b.const([1], INT32), b.const([2], INT32))
    return [b("ResizeNearestNeighbor", grads[0], size, **_attrs(node)), None]


@rule("CropAndResize")
def _crop_and_resize(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, boxes, which, _ = node.inputs
    by_image = b("CropAndResizeGradImage", grads[0], boxes, which, b.shape(x), T=b.dtype(x),
                 method=node.attr("method"))  # fmt: skip
    return [by_image, b("CropAndResizeGradBoxes", grads[0], x, boxes, which), None, None]


@rule("ScaleAndTranslate")
def _scale_and_translate(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, _, scale, translation = node.inputs
    attrs = {k: node.full_attrs()[k] for k in ("kernel_type", "antialias")}
    given = b("ScaleAndTranslateGrad", grads[0], x, scale, translation, **attrs)
    return [given, None, None, None]


_OTHERS: Final = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
"""By the largest of red, green and blue, which of the others the hue counts up and down."""


@rule("RGBToHSV")
def _to_hsv(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Value is the largest, saturation 1 - least / largest, hue others / 6 (largest - least)."""
    x, last = node.inputs[0], b.const(-1, INT32)
    hue, saturation, value = ((b.node("Split", last, grads[0], num_split=3), k) for k in range(3))
    size, one, zero = b.const(3, INT32), b.like(1, x), b.like(0, x)
    top, low = (b("OneHot", b(op, x, last), size, one, zero) for op in ("ArgMax", "ArgMin"))
    largest, least = (b(op, x, last, keep_dims=True) for op in ("Max", "Min"))
    others = b("Einsum", [top, b("Cast", b.const(_OTHERS), DstT=b.dtype(x))],
               equation="...j,jc->...c")  # fmt: skip
    between = b("Mul", b.like(6, x), b("Sub", largest, least))
    turn = b("DivNoNan", b("Sum", b("Mul", others, x), last, keep_dims=True), between)
    widths = b("Mul", b("Mul", b.like(6, x), turn), b("Sub", top, low))
    of_hue = b("DivNoNan", b("Sub", others, widths), between)
    share = b("DivNoNan", least, largest)
    of_saturation = b("DivNoNan", b("Sub", b("Mul", share, top), low), largest)
    parts = [b("Mul", hue, of_hue), b("Mul", saturation, of_saturation), b("Mul", value, top)]
    return [b("AddN", parts)]
