"""Golden cases of writing image files: refusals only, as the bytes are not TensorFlow's."""

import numpy as np
from oracle import Case, case

_GRAY = np.zeros((3, 2, 1), np.uint8)

CASES: list[Case] = [
    case("EncodePng", _GRAY[0]),
    case("EncodePng", np.zeros((3, 2, 5), np.uint8)),
    case("EncodePng", np.zeros((3, 0, 3), np.uint8)),
    case("EncodePng", np.zeros((0, 3, 3, 3), np.uint16)),
    case("EncodePng", _GRAY, compression=10),
    case("EncodePng", _GRAY, compression=-2),
    case("EncodeJpeg", _GRAY[0]),
    case("EncodeJpeg", np.zeros((3, 2, 4), np.uint8)),
    case("EncodeJpeg", np.zeros((3, 2, 2), np.uint8)),
    case("EncodeJpeg", np.zeros((0, 2, 3), np.uint8)),
    case("EncodeJpeg", _GRAY, format="rgb"),
    case("EncodeJpeg", np.zeros((3, 2, 3), np.uint8), format="grayscale"),
    case("EncodeJpeg", _GRAY, quality=101),
    case("EncodeJpeg", _GRAY, quality=-1),
    case("EncodeJpegVariableQuality", _GRAY, np.int32(101)),
    case("EncodeJpegVariableQuality", _GRAY, np.array([5], np.int32)),
    case("EncodeJpegVariableQuality", np.zeros((3, 2, 2), np.uint8), np.int32(5)),
]
