"""Image files: what is written reads back; damaged files are refused, and nothing else happens."""

import importlib
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from image_files import FRAMES, bmp, chunk, gif, jpeg, png, webp

from drystone_base.core.errors import KernelError, UnsupportedOp
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.kernels.image import _image_bytes

FILES = {
    "DecodePng": [png(5, 7, 8, 2), png(9, 6, 4, 3, interlace=True), png(4, 5, 16, 6)],
    "DecodeJpeg": [jpeg("rgb"), jpeg("full"), jpeg("gray"), jpeg("cmyk")],
    "DecodeGif": [gif(FRAMES), gif(FRAMES[:1])],
    "DecodeBmp": [bmp(5, 7, 24), bmp(-3, 5, 32)],
    "DecodeWebP": [webp("rgb"), webp("rgba"), webp("moving")],
}


def _one(data: bytes) -> np.ndarray[Any, Any]:
    out = np.empty((), object)
    out[()] = data
    return out


def _decode(data: bytes, op: str = "DecodeImage", **attrs: Any) -> Any:
    return run_op(op, _one(data), **attrs)[0]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_png_files_read_back(data: st.DataObject) -> None:
    shape = [data.draw(st.integers(1, 6)) for _ in range(3)] + [data.draw(st.integers(1, 4))]
    kind = data.draw(st.sampled_from(["uint8", "uint16"]))
    top = 255 if kind == "uint8" else 65535
    batch = np.random.default_rng(shape).integers(0, top, shape, endpoint=True).astype(kind)
    level = data.draw(st.integers(-1, 9))
    (files,) = run_op("EncodePng", batch, compression=level)
    assert files.shape == (shape[0],)
    for image, file in zip(batch, files, strict=True):
        assert np.array_equal(_decode(file, "DecodePng", dtype=kind), image)


def test_jpeg_files_read_back_within_their_quality() -> None:
    y, x = np.mgrid[:40, :50]
    image = np.stack([x * 4, y * 5, x + y], -1).astype(np.uint8)
    for options in ({}, {"progressive": True}, {"optimize_size": True}, {"density_unit": "cm"},
                    {"chroma_downsampling": False}, {"xmp_metadata": "<x/>"}):  # fmt: skip
        (file,) = run_op("EncodeJpeg", image, x_density=72, **options)
        assert np.abs(_decode(file.item()).astype(int) - image).max() <= 12
        unit = 2 if options == {"density_unit": "cm"} else 1
        assert struct.unpack(">BHH", file.item()[13:18]) == (unit, 72, 300)
        assert (b"<x/>" in file.item()) == ("xmp_metadata" in options)
    gray = image[..., :1]
    (file,) = run_op("EncodeJpegVariableQuality", gray, np.int32(100))
    assert np.abs(_decode(file.item()).astype(int) - gray).max() <= 2
    (worst,) = run_op("EncodeJpegVariableQuality", gray, np.int32(0))
    assert len(worst.item()) < len(file.item())


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(FILES)), st.data())
def test_damaged_files_are_read_or_refused(op: str, data: st.DataObject) -> None:
    damaged = bytearray(data.draw(st.sampled_from(FILES[op])))
    for _ in range(data.draw(st.integers(0, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(damaged)), st.integers(0, len(damaged))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_image_bytes, "_MOST_SAMPLES", 1 << 20)  # headers may ask for much
        for name in (op, "DecodeImage"):
            try:
                outcome = str(_decode(bytes(damaged[:cut]), name).dtype)
            except KernelError as error:
                outcome = error.status
            assert outcome in ("uint8", "INVALID_ARGUMENT")


def test_every_cut_png_is_refused() -> None:
    for whole in FILES["DecodePng"]:
        for size in range(len(whole)):
            with pytest.raises(KernelError) as caught:
                _decode(whole[:size], "DecodePng")
            assert caught.value.status == "INVALID_ARGUMENT"


def test_sizes_are_bounded_before_anything_is_made() -> None:
    side = 1 << 20
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    bomb = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"x") + chunk(b"IEND", b"")
    with pytest.raises(KernelError, match=rf"an image of \[{side}, {side}, 1\]"):
        _decode(bomb)
    wide = bytearray(jpeg("full"))
    at = wide.index(b"\xff\xc2")
    wide[at + 5 : at + 9] = struct.pack(">HH", 60000, 60000)
    with pytest.raises(KernelError, match=r"an image of \[60000, 60000, 3\]"):
        _decode(bytes(wide))
    frames = gif([(0, 0, 60000, 1, None, False)])
    frames = frames.replace(struct.pack("<HH", 60000, 1), struct.pack("<HH", 60000, 60000), 1)
    with pytest.raises(KernelError, match=r"an image of \[60000, 60000, 3\]"):
        _decode(frames)
    moving = bytearray(webp("moving"))
    moving[24:30] = b"\xff" * 6
    with pytest.raises(KernelError, match=r"an image of \[16777216, 16777216, 4\]"):
        _decode(bytes(moving))


def test_gif_frames_are_drawn_over_one_another() -> None:
    moving = _decode(gif(FRAMES), "DecodeGif")
    assert moving.shape == (4, 8, 9, 3)
    changed = (moving[1] != moving[0]).any(-1)
    assert not changed[:2].any()
    assert not changed[5:].any()
    assert np.array_equal(_decode(gif(FRAMES), expand_animations=False), moving[0])
    with pytest.raises(KernelError, match="animations can only be decoded by DecodeGif"):
        _decode(gif(FRAMES), "DecodePng")


def test_a_cut_jpeg_is_refused_unless_it_may_be_recovered() -> None:
    cut = jpeg("rgb")[:-40]
    with pytest.raises(KernelError, match="truncated"):
        _decode(cut, "DecodeJpeg")
    assert _decode(cut, "DecodeJpeg", try_recover_truncated=True).shape == (13, 18, 3)


def test_formats_and_ops_must_fit() -> None:
    with pytest.raises(KernelError, match=r"DecodeBmp of a PNG file\n  needed: DecodeJpeg or"):
        _decode(FILES["DecodePng"][0], "DecodeBmp")
    with pytest.raises(KernelError, match="the image file format must be known"):
        _decode(b"text")
    with pytest.raises(KernelError, match="channels must be what GIF files offer"):
        _decode(gif(FRAMES), channels=1)


def test_the_library_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", gone)
    with pytest.raises(UnsupportedOp) as caught:
        _decode(jpeg("rgb"))
    assert caught.value.code == "missing-library"
    assert "simplejpeg must be installed" in str(caught.value)
    assert "pip install 'drystone-base[images]'" in str(caught.value)


def test_inferred_shapes() -> None:
    text = ["string"]
    assert infer_shapes("DecodePng", [()], dtypes_in=text, channels=3) == [(-1, -1, 3)]
    assert infer_shapes("DecodeImage", [()], dtypes_in=text) == [None]
    fixed = infer_shapes("DecodeImage", [None], dtypes_in=text, expand_animations=False)
    assert fixed == [(-1, -1, -1)]
    window: list[Any] = [None, np.array([0, 1, 2, 3], np.int32)]
    both = ["string", "int32"]
    crop = infer_shapes("DecodeAndCropJpeg", [(), (4,)], values=window, dtypes_in=both, channels=1)
    assert crop == [(2, 3, 1)]
    assert infer_shapes("EncodePng", [(2, 3, 4, 5, 1)], dtypes_in=["uint8"]) == [(2, 3)]
