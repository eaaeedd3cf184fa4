"""Files that are no graph are told by their bytes, whatever their name, with what helps."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.checkpoint import BundleWriter
from drystone_base.core.dtypes import FLOAT32
from drystone_base.loaders._foreign import FOREIGN


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 100)
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("saved_model.pb"))
    return out.getvalue()


HEADER = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
FILES: list[tuple[str, bytes, str, str]] = [
    (
        "git-lfs",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "git-lfs",
        "git lfs",
    ),
    ("page", b"\n<!DOCTYPE html><html><body>Sign in", "a web page", "download the file itself"),
    ("page 2", b"\xef\xbb\xbf<HTML><head>", "a web page", "download the file itself"),
    ("answer", b'{"error": {"code": 404}}', "a server's answer", "download the file itself"),
    ("answer 2", b"<?xml version='1.0'?><Error><Code>AccessDenied</Code>", "answer", "download"),
    ("utf16", "node { name: 'x' }".encode("utf-16"), "text in UTF-16", "iconv"),
    ("mark", b"\xef\xbb\xbfnode { name: 'x' }", "byte order mark", "tail -c +4"),
    ("elf", b"\x7fELF\x02" + bytes(40), "ELF", "load_library"),
    ("tflite", b"\x1c\0\0\0TFL3" + bytes(40), "TensorFlow Lite", "converted from"),
    ("h5", b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5", "model.export"),
    ("keras", zipped("metadata.json", "config.json"), "Keras model", "export"),
    ("torch", zipped("archive/data.pkl", "archive/version"), "PyTorch", "torch.onnx.export"),
    ("old torch", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "PyTorch", "torch.onnx.export"),
    ("pickle", pickle.dumps({"w": 1}, 4), "pickle", "SavedModel"),
    ("npz", zipped("x.npy"), "arrays of NumPy", "--inputs"),
    ("zip", zipped("saved_model.pb"), "a zip archive", "unpack"),
    ("gz", gzip.compress(b"x", mtime=0), "a gzip archive", "unpack"),
    ("tar", tarred(), "a tar archive", "tar xf tar"),
    ("7z", b"7z\xbc\xaf\x27\x1c" + bytes(30), "7z", "7z x 7z"),
    ("rar", b"Rar!\x1a\x07\x01\x00", "RAR", "unpack"),
    ("xz", lzma.compress(b"x"), "compressed", "unpack"),
    ("bz2", bz2.compress(b"x"), "compressed", "unpack"),
    ("zst", b"\x28\xb5\x2f\xfd" + bytes(9), "compressed", "unpack"),
    (
        "safetensors",
        len(HEADER).to_bytes(8, "little") + HEADER + bytes(4),
        "safetensors",
        "no graph",
    ),
    ("gguf", b"GGUF\x03\0\0\0", "GGUF", "llama.cpp"),
    ("onnx", b"\x08\x07\x12\x07pytorch", "ONNX", "onnx2tf"),
    ("coreml", b"\x08\x04\x12\x10\x0a\x05image", "Core ML", "made from"),
    ("mlir", b"ML\xefR\x01", "MLIR", "SavedModel"),
    (
        "openvino",
        b'<?xml version="1.0"?>\n<net name="x" version="11">',
        "OpenVINO",
        "converted from",
    ),
    ("state", b'model_checkpoint_path: "m"\n', "state file of checkpoints", "without a graph"),
    ("saved", b"\x08\x01\x12\x02\x0a\x00", "file of a SavedModel", "load its folder"),
]  # fmt: skip


@pytest.mark.parametrize("name", ["{}", "m.pb", "m.meta", "model.json.pb"])
@pytest.mark.parametrize(("kind", "data", "what", "remedy"), FILES, ids=[f[0] for f in FILES])
def test_a_file_is_told_by_its_bytes(
    tmp_path: Path, name: str, kind: str, data: bytes, what: str, remedy: str
) -> None:
    file = tmp_path / name.format(kind)
    file.write_bytes(data)
    with pytest.raises(ds.BadModelFile) as caught:
        ds.load(file)
    error = caught.value
    assert error.code == "format-not-supported"
    assert what in error.found
    if name == "{}" or f" {kind}" not in remedy:
        assert remedy in error.remedy


def test_every_row_of_the_table_is_tested() -> None:
    tested = {what for _, _, what, _ in FILES} | {"a part of a checkpoint", "Core ML package"}
    assert all(any(what in row.what for what in tested) for row in FOREIGN)


@pytest.mark.parametrize("data", [f[1] for f in FILES if f[0] not in ("saved", "state")])
def test_a_saved_model_that_is_something_else(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "saved_model.pb").write_bytes(data)
    with pytest.raises(ds.BadModelFile) as caught:
        ds.load(tmp_path)
    assert caught.value.code in ("format-not-supported", "bad-saved-model")
    assert caught.value.remedy


def checkpoint(folder: Path) -> Path:
    with BundleWriter(folder / "ckpt") as writer:
        writer.add("w", np.zeros(3, np.float32))
    return folder / "ckpt"


@pytest.mark.parametrize("part", ["ckpt.index", "ckpt.data-00000-of-00001"])
def test_parts_of_a_checkpoint(tmp_path: Path, part: str) -> None:
    checkpoint(tmp_path)
    with pytest.raises(ds.BadModelFile, match="a part of a checkpoint") as caught:
        ds.load(tmp_path / part)
    assert "checkpoint=" in caught.value.remedy
    (tmp_path / "ckpt.meta").write_bytes(b"x")
    with pytest.raises(ds.BadModelFile) as caught:
        ds.load(tmp_path / part)
    assert f"load {tmp_path / 'ckpt.meta'}" in caught.value.remedy


def test_the_variables_of_a_saved_model(tmp_path: Path) -> None:
    (tmp_path / "variables").mkdir()
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")
    checkpoint(tmp_path / "variables")
    for path in (tmp_path / "variables", tmp_path / "variables" / "ckpt.index"):
        with pytest.raises(ds.BadModelFile) as caught:
            ds.load(path)
        assert str(tmp_path) in caught.value.remedy
        assert "of a SavedModel" in caught.value.remedy


def test_a_folder_with_something_else_in_it(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"\x08\x07\x12\x07pytorch")
    with pytest.raises(ds.BadModelFile) as caught:
        ds.load(tmp_path)
    assert caught.value.code == "no-model-found"
    assert "model.onnx is an ONNX model: " in caught.value.remedy


@pytest.mark.parametrize("end", ["", "pb", "pbtxt"])
def test_empty_and_truncated_files_say_so(tmp_path: Path, end: str) -> None:
    file = tmp_path / f"m.{end}"
    file.write_bytes(b"")
    with pytest.raises(ds.BadModelFile, match="is empty") as caught:
        ds.load(file)
    assert "again" in caught.value.remedy


def test_a_graph_cut_off_is_to_be_copied_again(tmp_path: Path) -> None:
    graph = ds.Graph()
    for k in range(9):
        graph.add("Placeholder", f"x{k}", attrs={"dtype": FLOAT32})
    data = graph.to_bytes()
    cut: Callable[[int], bytes] = lambda n: data[:n]  # noqa: E731
    (tmp_path / "m.pb").write_bytes(cut(len(data) // 2 + 3))
    with pytest.raises(ds.BadModelFile) as caught:
        ds.load(tmp_path / "m.pb")
    assert "again" in caught.value.remedy
