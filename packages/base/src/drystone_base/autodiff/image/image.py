"""Resizing and cropping. Source: TensorFlow ``image_grad.py``."""

from __future__ import annotations

from typing import Any

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
