"""Shapes of boxes on images, glimpses, transforms and random parts."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape("DrawBoundingBoxes", "DrawBoundingBoxesV2")
def draw_bounding_boxes(c: ShapeCall) -> list[Shape]:
    """The images' shape."""
    if c.op == "DrawBoundingBoxesV2":
        return [c.with_rank_at_least(c.shape(0), 3)]
    if c.shape(0) is not None:
        c.with_rank(c.shape(0), 4)
    c.with_rank(c.shape(1), 3)
    return [c.shape(0)]


@shape("AdjustContrast")
def adjust_contrast(c: ShapeCall) -> list[Shape]:
    """The images' shape."""
    for k in (1, 2, 3):
        c.with_rank(c.shape(k), 0)
    return [c.with_rank_at_least(c.shape(0), 3)]


@shape("ExtractGlimpse", "ExtractGlimpseV2")
def extract_glimpse(c: ShapeCall) -> list[Shape]:
    """``[N, h, w, C]``."""
    batch, _, _, channels = c.with_rank(c.shape(0), 4)
    (two,) = c.with_rank(c.shape(1), 1)
    c.merge_dim(two, 2)
    count, pair = c.with_rank(c.shape(2), 2)
    c.merge_dim(pair, 2)
    rows, columns = c.with_rank(c.value_as_shape(1), 2)
    return [(c.merge_dim(batch, count), rows, columns, channels)]


@shape("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def image_projective_transform(c: ShapeCall) -> list[Shape]:
    """``[N, h, w, C]``."""
    batch, _, _, channels = c.with_rank(c.shape(0), 4)
    (two,) = c.with_rank(c.shape(2), 1)
    c.merge_dim(two, 2)
    rows, columns = c.with_rank(c.value_as_shape(2), 2)
    return [(batch, rows, columns, channels)]


@shape(
    "SampleDistortedBoundingBox",
    "SampleDistortedBoundingBoxV2",
    "StatelessSampleDistortedBoundingBox",
)
def sample_distorted_bounding_box(c: ShapeCall) -> list[Shape]:
    """Begin and size for Slice, and a box."""
    (three,) = c.with_rank(c.shape(0), 1)
    c.merge_dim(three, 3)
    four = c.with_rank(c.shape(1), 3)[2]
    c.merge_dim(four, 4)
    if c.op != "SampleDistortedBoundingBox":
        c.with_rank(c.shape(2), 0)
    return [(3,), (3,), (1, 1, 4)]


@shape("RandomCrop")
def random_crop(c: ShapeCall) -> list[Shape]:
    """``[h, w, C]``."""
    channels = c.with_rank(c.shape(0), 3)[2]
    (two,) = c.with_rank(c.shape(1), 1)
    c.merge_dim(two, 2)
    size = c.value(1) if c.value_as_shape(1) is None else c.value_as_shape(1)
    rows, columns = (UNKNOWN, UNKNOWN) if size is None else size
    return [(rows, columns, channels)]


@shape("CropAndResizeGradImage")
def crop_and_resize_grad_image(c: ShapeCall) -> list[Shape]:
    """What ``image_size`` says."""
    return [c.with_rank(c.value_as_shape(3), 4)]


@shape("CropAndResizeGradBoxes")
def crop_and_resize_grad_boxes(c: ShapeCall) -> list[Shape]:
    """Four numbers for each box, where the boxes are empty, too."""
    boxes = c.shape(2)
    return [(boxes[0] if boxes else -1, 4)]
