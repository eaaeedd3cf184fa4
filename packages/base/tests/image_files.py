"""Small image files for the tests, put together byte by byte or made once and kept as text.

The JPEG and WebP files show a slope of colours with noise; Pillow has written them.
"""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

__all__ = ["FRAMES", "bmp", "gif", "jpeg", "png", "webp"]

SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
         (1, 0, 2, 1))  # fmt: skip
Frame = tuple[int, int, int, int, int | None, bool]
FRAMES: list[Frame] = [
    (0, 0, 9, 8, None, False),
    (1, 2, 4, 3, 3, False),
    (2, 2, 5, 5, 2, True),
    (6, 6, 9, 8, None, False),
]
"""Left, top, width, height, transparent index, own palette."""


def chunk(name: bytes, body: bytes) -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(
    height: int, width: int, depth: int, color: int, *, interlace: bool = False, extra: bytes = b""
) -> bytes:
    """Random samples under random row filters; ``extra`` chunks come before the samples."""
    rng = np.random.default_rng([height, width, depth, color])
    raw = b""
    for y, x, down, right in ADAM7 if interlace else ((0, 0, 1, 1),):
        if y < height and x < width:
            rows, columns = -(-(height - y) // down), -(-(width - x) // right)
            size = 1 + (columns * SAMPLES[color] * depth + 7) // 8
            part = rng.integers(0, 256, (rows, size)).astype(np.uint8)
            part[:, 0] = rng.integers(0, 5, rows)
            raw += part.tobytes()
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace))
    if color == 3:
        head += chunk(b"PLTE", rng.integers(0, 256, 3 << depth).astype(np.uint8).tobytes())
    packed = zlib.compress(raw)
    data = chunk(b"IDAT", packed[:5]) + chunk(b"IDAT", packed[5:]) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + head + extra + data


def _packed(pixels: list[int]) -> bytes:
    """Three-bit pixels as codes of four bits, the dictionary cleared before it grows."""
    codes: list[int] = []
    for k in range(0, len(pixels), 4):
        codes += [8, *pixels[k : k + 4]]
    value = sum(code << (4 * k) for k, code in enumerate([*codes, 9]))
    raw = value.to_bytes((4 * len(codes) + 11) // 8, "little")
    blocks = [raw[k : k + 255] for k in range(0, len(raw), 255)]
    return b"\3" + b"".join(bytes([len(b)]) + b for b in blocks) + b"\0"


def gif(frames: list[Frame], palette: bool = True) -> bytes:
    """Random pixels of eight colours, with or without a palette for all frames."""
    rng = np.random.default_rng(len(frames))
    colors = rng.integers(0, 256, 24).astype(np.uint8).tobytes()
    out = b"GIF89a" + struct.pack("<HHBBB", 9, 8, 0x82 if palette else 0, 0, 0)
    out += colors if palette else b""
    for left, top, width, height, clear, own in frames:
        if clear is not None:
            out += b"!\xf9\4\1\0\0" + bytes([clear]) + b"\0"
        out += b"," + struct.pack("<HHHHB", left, top, width, height, 0x82 if own else 0)
        out += colors[::-1] if own else b""
        out += _packed(rng.integers(0, 8, width * height).tolist())
    return out + b";"


def bmp(height: int, width: int, bits: int) -> bytes:
    """Random samples; a negative height: from the top down."""
    row = (bits // 8 * width + 3) // 4 * 4
    rng = np.random.default_rng([abs(height), width, bits])
    body = rng.integers(0, 256, abs(height) * row).astype(np.uint8).tobytes()
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, 54) + head + body


def jpeg(kind: str) -> bytes:
    """One of rgb (13 x 18, 4:2:0), full (9 x 10, progressive), gray (9 x 7) and cmyk (8 x 9)."""
    return base64.b64decode(_JPEG[kind])


def webp(kind: str) -> bytes:
    """One of rgb, rgba (both 5 x 6) and moving (three frames of 4 x 4)."""
    return base64.b64decode(_WEBP[kind])


_JPEG = {
    "rgb": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZG"
        "NywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09P"
        "T09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAANABIDASIAAhEBAxEB/8QAFwABAQEBAAAAAAAAAAAAAAAA"
        "BQADBv/EACQQAQABBAAEBwAAAAAAAAAAAAEAAgMRIQUSMWEEIjJRoeHw/8QAFgEBAQEAAAAAAAAAAAAAAAAABAAC"
        "/8QAGxEAAQQDAAAAAAAAAAAAAAAAAAEDBBQREiH/2gAMAwEAAhEDEQA/AO3ot002/Sb31cEF4naAcjk6a/e0UovL"
        "ap1jmE12INxa7UKO9Z+IB2LlzhRZC6hDRt8q98fcpg+JRTkGUXUN20P/2Q=="
    ),
    "full": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAoHBwgHBgoICAgLCgoLDhgQDg0NDh0VFhEYIx8lJCIfIiEmKzcvJik0"
        "KSEiMEExNDk7Pj4+JS5ESUM8SDc9Pjv/2wBDAQoLCw4NDhwQEBw7KCIoOzs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7"
        "Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozv/wgARCAAJAAoDAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA"
        "Awb/xAAXAQEBAQEAAAAAAAAAAAAAAAAEBQID/9oADAMBAAIQAxAAAAGjDkhqenPI3X//xAAYEAACAwAAAAAAAAAA"
        "AAAAAAAAERIhQf/aAAgBAQABBQJVEw//xAAaEQACAgMAAAAAAAAAAAAAAAAAAQIDEBMx/9oACAEDAQE/Aa5m5FfV"
        "j//EABkRAAIDAQAAAAAAAAAAAAAAAAADAhASMf/aAAgBAgEBPwFsDA3tf//EABYQAAMAAAAAAAAAAAAAAAAAAAAQ"
        "Mf/aAAgBAQAGPwIj/8QAGRAAAwADAAAAAAAAAAAAAAAAAAERMVGR/9oACAEBAAE/IUlE7dEHln//2gAMAwEAAgAD"
        "AAAAEAnP/8QAGREAAgMBAAAAAAAAAAAAAAAAABEBITGh/9oACAEDAQE/EHYIpnURh//EABgRAQADAQAAAAAAAAAA"
        "AAAAAAEAETEQ/9oACAECAQE/EKHMihrr/8QAGhAAAwADAQAAAAAAAAAAAAAAAAERMXGh0f/aAAgBAQABPxBq0Vdm"
        "ODe67PQwb8O4/9k="
    ),
    "gray": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAoHBwgHBgoICAgLCgoLDhgQDg0NDh0VFhEYIx8lJCIfIiEmKzcvJik0"
        "KSEiMEExNDk7Pj4+JS5ESUM8SDc9Pjv/wAALCAAJAAcBAREA/8QAFQABAQAAAAAAAAAAAAAAAAAABQf/xAAhEAAC"
        "AAQHAQAAAAAAAAAAAAABAgAFIVEDBBETMmFxwf/aAAgBAQAAPwChSzNbiOqkIXqGOjAdWvWCZFyxfT8j/9k="
    ),
    "cmyk": (
        "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2Rjcs"
        "LUBXQUZMTlJTUjI+WmFaUGBKUVJP/8AAFAgACAAJBEMRAE0RAFkRAEsRAP/EABcAAAMBAAAAAAAAAAAAAAAAAAQF"
        "Bgf/xAArEAABAgMFBgcAAAAAAAAAAAABAAIDBREEEhMhURUxQZGS4VJhgaGi0fH/2gAOBEMATQBZAEsAAD8Ai5lZ"
        "3CKQG3vWnfgs/ZHiNcKPzBzB1/UtlUxF5rr9CMy07vLcqyX2hrYbbwzoKitOXuleHG0jdJR+1I3h+KpNpQ9LPzH2"
        "mGO3UdPZf//Z"
    ),
}
_WEBP = {
    "rgb": (
        "UklGRp4AAABXRUJQVlA4TJEAAAAvBQABAO+gKJKk5u6AHwrAAP79ICHnrIN1JEmpcPf8UyIDIuDX4UkpiGQr+R8P"
        "QDNaE8bd5z9etmd1ImUe2eBx9qOISeU0CQ0YEa66/hugGiQHH2lCUOp8gzgxbOX7SvtY7fSL/n/wsDjyXbARAyYm"
        "thhQGEmSGbt720ZE/0MatfbVPZ/mPw+uVGA0ziEIJvsAAA=="
    ),
    "rgba": (
        "UklGRoIAAABXRUJQVlA4WAoAAAAQAAAABQAABAAAQUxQSB8AAAAATykcNkEYWV9CMBkeL0xFMiEzXz9WNiIoczou"
        "NR0fAFZQOCA8AAAA8AEAnQEqBgAFAAJAOCWwAnQBH24G0dAAAP76K8wbblTSZZ4H8Rxj//7T//pJ+sA7miG/4VYe"
        "SbVICQAA"
    ),
    "moving": (
        "UklGRu4BAABXRUJQVlA4WAoAAAASAAAAAwAAAwAAQU5JTQYAAAAAAAAAAABBTk1GkAAAAAAAAAAAAAMAAAMAAAAA"
        "AAJWUDhMdwAAAC8DwAAQf6Aktq3o611uHeifBInCQQFQv4aiSFKj4okF8O8JbNy5oyaSreYHYpmxgGlkYeA7IHRQ"
        "KGgbBU7dC2ghlozHLf2/0PPfZU18PVuXGkW1rY2u5mgZ/nSA8I53W1gYc0EkAJEtcMAFq4xxxCa7Ivof4VTcAEFO"
        "TUaUAAAAAAAAAAAAAwAAAwAAAAAAAlZQOEx8AAAALwPAABB/oCSyFUgxBCDB1b8IFo9n0FcTxZEkJbi9LQvyT4I4"
        "KJ7uVKkJAKRhXHDBRQACmNRynhbw2wZQ1LYRG+u4yeLeFx7qmxIhUcKfjh6rrrNiJjd2pqURDvE/ujZ9LtynpG1Z"
        "ehyIBCAGWGOF7og7TrhiX0T/IyhvDUFOTUaOAAAAAAAAAAAAAwAAAwAAAAAAAlZQOEx2AAAALwPAABB/oDaSreRH"
        "H/c66L8YyyF1qERRJCkOGTxQ+FfDFwenIqoNABDRXNDtdw85wGrOzaCgbRs21P0PYZG6PcDYw5sjRq2Lk85P/VgX"
        "8ELGQtiC28j+1VOcyuMbQkd6/jwQCUA0F1ywwQULnHbBrYj+R0SsNw=="
    ),
}
