"""What the readers and writers of image files share: the library, refusals, the bound on sizes."""

from __future__ import annotations

import importlib
import math
from typing import Any, Final, NoReturn

import numpy as np

from drystone_base.core.errors import UnsupportedOp
from drystone_base.core.payloads import at_node
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call

__all__ = ["as_dtype", "broken", "check_image", "library"]

_MOST_SAMPLES: Final = 1 << 29
"""TensorFlow's own bound on the samples of one image."""


def library(call: Call, module: str) -> Any:
    """A module of Pillow or simplejpeg; ``missing-library`` where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = {"PIL": "Pillow"}.get(module.split(".")[0], module)
        raise UnsupportedOp(
            f"node {call.node!r} ({call.op}) cannot run",
            details=at_node(call.node, call.op),
            check=f"{package} must be installed to read and write image files",
            found=str(error),
            needed=package,
            remedy="pip install 'drystone-base[images]'",
            code="missing-library",
            inner=error,
        ) from error


def broken(call: Call, kind: str, found: object, inner: BaseException | None = None) -> NoReturn:
    """Refuse a file that is not what its first bytes promise: INVALID_ARGUMENT."""
    call.fail(f"contents must be a whole, valid {kind} file", found=found, needed=kind, inner=inner)


def check_image(
    call: Call, kind: str, height: int, width: int, channels: int = 1, *, frames: int = 1
) -> tuple[int, ...]:
    """``[frames, height, width, channels]`` as a header states it, before any of it is made."""
    image = height, width, channels
    if min(image) <= 0 or math.prod(image) >= _MOST_SAMPLES:
        broken(call, kind, f"an image of {list(image)}")
    return check_size(call, (frames, *image), np.dtype(np.uint8))


def as_dtype(image: Array, dtype: np.dtype[Any]) -> Array:
    """8-bit samples as TensorFlow's wider ones: times 256, or as a share of 255."""
    if dtype == np.uint16:
        return image.astype(np.uint16) * np.uint16(256)
    return image.astype(np.float32) * np.float32(1 / 255) if dtype == np.float32 else image
