"""Random parts of images: TensorFlow's own for a given seed.

Source: TensorFlow ops SampleDistortedBoundingBox(V2), StatelessSampleDistortedBoundingBox,
RandomCrop.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.random._philox import Stream, floats, stateless
from drystone_base.kernels.random.random import reserve

__all__: list[str] = []

Box: TypeAlias = tuple[int, int, int, int]
"""First row and column, and the row and column behind the last."""

_F = np.float32


class _Words:
    """The words of a stream, one by one."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._left: list[int] = []

    def word(self) -> int:
        """The next 32 bits."""
        if not self._left:
            self._left = [int(v) for v in self._stream.blocks(64).reshape(-1)][::-1]
            self._stream = self._stream.skip(64)
        return self._left.pop()

    def share(self) -> np.float32:
        """A number in [0, 1)."""
        return _F(floats(np.array(self.word(), np.uint32)))

    def below(self, bound: int) -> int:
        """An integer in [0, bound), each equally likely."""
        if bound & (bound - 1) == 0:
            return self.word() & (bound - 1)
        least = (1 << 32) % bound
        while (word := self.word()) < least:
            pass
        return word % bound


def _nearest(value: np.float32) -> int:
    return int(np.rint(value))


def _highest(size: tuple[int, int], area: np.float32, aspect: np.float32) -> int:
    """The most rows that an area allows, as far as the width they ask for fits."""
    height, width = size
    most = _nearest(np.sqrt(area / aspect))
    if _nearest(_F(most) * aspect) > width:
        most = int((width + 0.5 - float(_F(1e-7))) / float(aspect))
        most -= _nearest(_F(most) * aspect) > width
    return min(most, height)


def _crop(
    size: tuple[int, int], areas: tuple[np.float32, np.float32], aspect: np.float32, words: _Words
) -> Box | None:
    """A box of a given shape, of random size and place; None where none fits."""
    height, width = size
    if min(size) <= 0 or areas[0] > areas[1]:
        return None
    low, high = (share * _F(width) * _F(height) for share in areas)
    most = _highest(size, high, aspect)
    rows = min(_nearest(np.sqrt(low / aspect)), most)
    if rows < most:
        rows += words.below(most - rows + 1)
    columns = _nearest(_F(rows) * aspect)
    if _F(rows * columns) < low:
        rows += 1
        columns = _nearest(_F(rows) * aspect)
    if _F(rows * columns) > high:
        rows -= 1
        columns = _nearest(_F(rows) * aspect)
    if not low <= _F(rows * columns) <= high or not (0 < columns <= width and 0 < rows <= height):
        return None
    y = words.below(height - rows) if rows < height else 0
    x = words.below(width - columns) if columns < width else 0
    return y, x, y + rows, x + columns


def _area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _covers(box: Box, objects: list[Box], least: np.float32) -> bool:
    """Whether ``box`` holds at least such a share of one of the objects."""
    for other in objects:
        if _area(other) < 1:
            continue
        low = max(box[0], other[0]), max(box[1], other[1])
        high = min(box[2], other[2]), min(box[3], other[3])
        held = _area((*low, *high)) if low[0] <= high[0] and low[1] <= high[1] else 0
        if _F(held) / _F(_area(other)) >= least:
            return True
    return False


def _range(call: Call, name: str, most: float) -> tuple[np.float32, np.float32]:
    values = call.attrs[name]
    call.require(
        len(values) == 2 and all(0 < v <= most for v in values),
        f"{name} must be two numbers in range",
        found=list(values),
        needed=f"above 0, at most {most}",
    )
    return _F(values[0]), _F(values[1])


def _objects(call: Call, boxes: Array, size: tuple[int, int]) -> list[Box]:
    """The boxes in whole pixels, or the whole image."""
    call.require(
        boxes.ndim == 3 and boxes.shape[2] == 4,
        "bounding_boxes must be [batch, boxes, 4]",
        found=list(boxes.shape),
    )
    bad = ~((boxes >= 0) & (boxes <= 1))
    call.require(
        not bad.any(), "bounding boxes must lie in the image", found=boxes[bad][:4].tolist(),
        needed="each in [0, 1]",
    )  # fmt: skip
    call.require(
        boxes.size or call.attrs["use_image_if_no_bounding_boxes"],
        "there must be bounding boxes unless use_image_if_no_bounding_boxes",
        found=list(boxes.shape),
    )
    if not boxes.size:
        return [(0, 0, *size)]
    scaled = boxes.reshape(-1, 4).astype(_F) * np.array([*size, *size], _F)
    return [(a, b, c, d) for a, b, c, d in scaled.astype(np.int32).tolist()]


def _image_size(call: Call, size: Array) -> tuple[int, int]:
    call.require(size.shape == (3,), "image_size must be three numbers", found=list(size.shape))
    height, width = int(size[0]), int(size[1])
    call.require(
        min(height, width) >= 0 and max(height, width) < (1 << 31) - 1,
        "image height and width must be 0 or more, and below 2^31 - 1",
        found=[height, width],
    )
    return height, width


def _sample(
    call: Call, image_size: Array, boxes: Array, covered: Array, stream: Stream
) -> tuple[Array, Array, Array]:
    """Begin and size of a part of the image for Slice, and the part as a box."""
    aspects, areas = _range(call, "aspect_ratio_range", math.inf), _range(call, "area_range", 1)
    size = height, width = _image_size(call, image_size)
    call.require(covered.ndim == 0, "min_object_covered must be a scalar", found=covered.shape)
    least = _F(covered)
    call.require(least >= 0, "min_object_covered must not be negative", found=float(least))
    objects, words = _objects(call, boxes, size), _Words(stream)
    box: Box = (0, 0, height, width)
    for _ in range(call.attrs["max_attempts"]):
        aspect = words.share() * (aspects[1] - aspects[0]) + aspects[0]
        found = _crop(size, areas, aspect, words)
        if found and _area(found) >= 1 and _covers(found, objects, least):
            box = found
            break
    kind = image_size.dtype
    begin = np.array([box[0], box[1], 0]).astype(kind)
    extent = np.array([box[2] - box[0], box[3] - box[1], -1]).astype(kind)
    with np.errstate(all="ignore"):
        shares = np.array(box, _F) / np.array([height, width, height, width], _F)
    return begin, extent, shares.reshape(1, 1, 4)


def _check_attempts(call: Call) -> int:
    attempts = int(call.attrs["max_attempts"])
    call.require(attempts > 0, "max_attempts must be positive", found=attempts)
    return attempts


@kernel("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2")
def sample_distorted_bounding_box(
    call: Call, image_size: Array, boxes: Array, covered: Array | None = None
) -> tuple[Array, Array, Array]:
    """A random part of an image that shows enough of an object."""
    stream = reserve(call, _check_attempts(call))
    least = np.array(call.attrs["min_object_covered"], _F) if covered is None else covered
    return _sample(call, image_size, boxes, least, stream)


@kernel("StatelessSampleDistortedBoundingBox")
def stateless_sample_distorted_bounding_box(
    call: Call, image_size: Array, boxes: Array, covered: Array, seed: Array
) -> tuple[Array, Array, Array]:
    """The same for seeds that are inputs."""
    _check_attempts(call)
    call.require(seed.shape == (2,), "seed must be two numbers", found=list(seed.shape))
    return _sample(call, image_size, boxes, covered, stateless(int(seed[0]), int(seed[1])))


@kernel("RandomCrop")
def random_crop(call: Call, image: Array, size: Array) -> Array:
    """``[h, w, C]``: a part of ``[H, W, C]`` at a random place."""
    call.require(
        image.ndim == 3 and size.shape == (2,),
        "image must have rank 3 and size be two numbers",
        found=f"{list(image.shape)} and {list(size.shape)}",
        needed="[H, W, C] and [2]",
    )
    rows, columns = int(size[0]), int(size[1])
    check_size(call, (rows, columns, image.shape[2]), image.dtype)
    spare = image.shape[0] - rows, image.shape[1] - columns
    call.require(
        min(spare) >= 0,
        "the image must be as large as the part",
        found=list(image.shape[:2]),
        needed=f"at least {[rows, columns]}",
        status="FAILED_PRECONDITION",
    )
    words = _Words(reserve(call, 1))
    x = words.word() % (spare[1] + 1) if spare[1] else 0
    y = words.word() % (spare[0] + 1) if spare[0] else 0
    return image[y : y + rows, x : x + columns]
