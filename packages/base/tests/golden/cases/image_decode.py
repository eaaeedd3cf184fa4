"""Golden cases of reading image files."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from image_files import FRAMES, bmp, chunk, gif, jpeg, png, webp
from oracle import Case, case

_FORMS = [(c, d) for c, ds in {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16),
                               6: (8, 16)}.items() for d in ds]  # fmt: skip


def _one(data: bytes) -> np.ndarray[Any, Any]:
    out = np.empty((), object)
    out[()] = data
    return out


def _png() -> Iterator[Case]:
    for color, depth in _FORMS:
        plain = _one(png(5, 11, depth, color))
        for channels in (0, 1, 3, 4):
            yield case("DecodePng", plain, channels=channels)
        for dtype in ("uint8", "uint16", "float32"):
            yield case("DecodeImage", plain, dtype=dtype)
        yield case("DecodePng", plain, channels=1, dtype="uint16")
        folded = _one(png(9, 6, depth, color, interlace=True))
        yield case("DecodePng", folded, channels=0, dtype="uint16")
        clear = b"\0\1\0\2\0\3"[: 6 if color == 2 else 2]
        clear = _one(png(5, 6, depth, color, extra=chunk(b"tRNS", clear)))
        for channels in (0, 3, 4):
            yield case("DecodePng", clear, channels=channels)
    whole = png(5, 7, 8, 2)
    for cut in (0, 7, 8, 30, 40, 60, len(whole) - 13, len(whole) - 1):
        yield case("DecodePng", _one(whole[:cut]), note=f"the first {cut} bytes")
    yield case("DecodePng", _one(whole), channels=2, note="refused")
    yield case("DecodePng", _one(whole + b"more"))
    yield case("DecodePng", _one(whole.replace(b"IDAT", b"IDAX")), note="refused")
    yield case("DecodePng", np.array([whole, whole], object), note="refused")


def _jpeg() -> Iterator[Case]:
    for kind in ("rgb", "full", "gray", "cmyk"):
        data = _one(jpeg(kind))
        for method in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
            for fancy in (True, False):
                yield case("DecodeJpeg", data, dct_method=method, fancy_upscaling=fancy)
        for channels in (1, 3, 4):
            yield case("DecodeJpeg", data, channels=channels)
        for ratio in (2, 4):
            yield case("DecodeJpeg", data, ratio=ratio)
        for dtype in ("uint8", "uint16", "float32"):
            yield case("DecodeImage", data, dtype=dtype)
        for op in ("DecodePng", "DecodeGif", "DecodeBmp"):
            yield case(op, data)
        for dtype in ("int32", "int64"):
            yield case("ExtractJpegShape", data, output_type=dtype)
    data = jpeg("full")
    for window in (
        [0, 0, 9, 10],
        [2, 1, 3, 4],
        [8, 9, 1, 1],
        [0, 0, 0, 1],
        [-1, 0, 2, 2],
        [5, 5, 5, 5],
    ):
        yield case("DecodeAndCropJpeg", _one(data), np.array(window, np.int32))
    yield case("DecodeAndCropJpeg", _one(data), np.array([0, 0, 1], np.int32))
    yield case("DecodeAndCropJpeg", _one(png(2, 2, 8, 0)), np.array([0, 0, 1, 1], np.int32))
    yield case("DecodeJpeg", _one(data), ratio=3, note="refused")
    yield case("DecodeJpeg", _one(data), dct_method="SLOW", note="refused")
    base = jpeg("rgb")
    for cut in (4, 100, len(base) - 60, len(base) - 2):
        yield case("DecodeJpeg", _one(base[:cut]), note=f"the first {cut} bytes")
        yield case("ExtractJpegShape", _one(base[:cut]), note=f"the first {cut} bytes")
    yield case("DecodeJpeg", _one(base + b"more"))
    for kind, least in itertools.product(("rgb", "gray", "full", "cmyk"), (0.0, 0.5, 0.95)):
        for less in (9, 30):
            yield case("DecodeJpeg", _one(jpeg(kind)[:-less]), acceptable_fraction=least)


def _others() -> Iterator[Case]:
    files = [
        gif(FRAMES),
        gif(FRAMES[:1]),
        gif(FRAMES[1:2]),
        gif([]),
        gif(FRAMES, False),
        gif(FRAMES)[:-9],
    ]
    for data in files[:-1]:
        for op in ("DecodeGif", "DecodePng", "DecodeJpeg", "DecodeBmp"):
            yield case(op, _one(data))
        for dtype in ("uint8", "uint16", "float32"):
            for expand in (True, False):
                yield case("DecodeImage", _one(data), dtype=dtype, expand_animations=expand)
    yield case("DecodeGif", _one(files[0][:-1]), note="without its end")
    for bits in (8, 24, 32, 16):
        data = bmp(5, 7, bits)
        for channels in (0, 1, 3, 4):
            yield case("DecodeBmp", _one(data), channels=channels)
            yield case("DecodeImage", _one(data), channels=channels)
        for dtype in ("uint16", "float32"):
            yield case("DecodeImage", _one(data), dtype=dtype)
    yield case("DecodeBmp", _one(bmp(-5, 7, 24)))
    for cut in (2, 31, 54, 100):
        yield case("DecodeBmp", _one(bmp(5, 7, 24)[:cut]), note="refused")
    yield case("DecodeBmp", _one(bmp(5, 7, 24) + b"x"), note="refused")
    for kind in ("rgb", "rgba", "moving"):
        for channels in (0, 3, 4, 1):
            yield case("DecodeWebP", _one(webp(kind)), channels=channels)
            yield case("DecodeImage", _one(webp(kind)), channels=channels)
        yield case("DecodeImage", _one(webp(kind)), expand_animations=False)
        yield case("DecodeImage", _one(webp(kind)), dtype="float32", note="refused")
        yield case("DecodeWebP", _one(webp(kind)[:-7]), note="refused")


CASES: list[Case] = [*_png(), *_jpeg(), *_others()]
