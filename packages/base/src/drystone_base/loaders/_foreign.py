"""Files that are something else than a graph, told by their bytes, and what helps with each.

One table: what a file is, how that is told, and the next step of the person who has it. Names count
only where bytes say nothing. Remedies name what exists today.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from drystone_base.core.errors import BadModelFile

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FOREIGN", "SAVED_MODEL", "Foreign", "foreign_format", "refuse_foreign", "remedy_of"]

SAVED_MODEL: Final = "the file of a SavedModel under another name than saved_model.pb"
_HEAD: Final = 1 << 16
_UNPACK: Final = "unpack it, and load the folder or file that was in it"
_EXPORT: Final = (
    "build the model in the framework that it is of, load the weights there, and export a "
    "SavedModel: drystone loads that folder"
)
_FROM_ONNX: Final = "`pip install onnx2tf`, then `onnx2tf -i FILE -o FOLDER` writes a SavedModel"
_TABLE_MAGIC: Final = bytes.fromhex("57fb808b247547db")
_TORCH_PICKLE: Final = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


class Foreign(NamedTuple):
    """A format: what it is in words, whether bytes are of it, and what helps."""

    what: str
    told_by: Callable[[bytes, bytes], bool]
    remedy: str


def _starts(*magics: bytes) -> Callable[[bytes, bytes], bool]:
    return lambda head, _tail: head.startswith(magics)


def _zip_with(*names: bytes) -> Callable[[bytes, bytes], bool]:
    """A zip archive that holds one of these names, by its first entries or its directory."""
    return lambda head, tail: (
        head.startswith(b"PK\x03\x04") and any(name in head or name in tail for name in names)
    )


def _is_page(head: bytes, _tail: bytes) -> bool:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:32].lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))


def _is_answer(head: bytes, _tail: bytes) -> bool:
    """What services say in JSON or XML instead of giving a file."""
    start = head[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"<?xml", b"<Error")):
        return re.search(rb"<(\w+:)?(Error|Code|Message|Fault)\b", start) is not None
    return (
        re.match(rb'\{\s*"(error|errors|message|detail|status|code|fault)"\s*:', start) is not None
    )


def _is_safetensors(head: bytes, _tail: bytes) -> bool:
    """A length, then a JSON object of that length."""
    return head[8:10] in (b'{"', b"{ ") and 2 <= int.from_bytes(head[:8], "little") < 1 << 32


def _is_onnx(head: bytes, _tail: bytes) -> bool:
    """A version of 3 or more, which a SavedModel's is not, then the producer or the graph."""
    return len(head) > 2 and head[0] == 8 and 3 <= head[1] < 64 and head[2] in b"\x12\x3a"


def _is_coreml(head: bytes, tail: bytes) -> bool:
    """As ONNX begins, but with a message where that has the producer's name."""
    return _is_onnx(head, tail) and head[2:3] == b"\x12" and head[4:5] == b"\x0a"


def _is_tar(head: bytes, _tail: bytes) -> bool:
    return head[257:262] == b"ustar"


def _is_state(head: bytes, _tail: bytes) -> bool:
    if b"model_checkpoint_path" not in head:  # else each process that loads compiles the pattern
        return False
    return re.match(rb"\s*(all_)?model_checkpoint_path\s*:", head) is not None


FOREIGN: Final = (
    Foreign(
        "a pointer of git-lfs, not the file itself",
        _starts(b"version https://git-lfs.github.com/"),
        "`git lfs install && git lfs pull` in its repository brings the file",
    ),
    Foreign(
        "a web page (HTML)",
        _is_page,
        "the download was a page, as of a login or a file's description: download the file itself",
    ),
    Foreign(
        "a server's answer (JSON or XML), not the file",
        _is_answer,
        "it says why the file did not come: look into it, then download the file itself",
    ),
    Foreign(
        "text in UTF-16",
        _starts(b"\xff\xfe", b"\xfe\xff"),
        "save it as UTF-8, as by `iconv -f UTF-16 -t UTF-8 FILE > utf8.pbtxt`",
    ),
    Foreign(
        "text with a byte order mark",
        _starts(b"\xef\xbb\xbf"),
        "save it as UTF-8 without a mark, as by `tail -c +4 FILE > plain.pbtxt`",
    ),
    Foreign(
        "a program or library (ELF)",
        _starts(b"\x7fELF"),
        "a plugin is loaded by `drystone.plugins.load_library`; as a model, load the model itself",
    ),
    Foreign(
        "an OpenVINO model (IR)",
        lambda head, _tail: head.lstrip().startswith(b"<?xml") and b"<net " in head[:1024],
        "load the model that it was converted from: OpenVINO's own runtime runs this one",
    ),
    Foreign(
        "a TensorFlow Lite model",
        lambda head, _tail: head[4:8] == b"TFL3",
        "drystone reads no TensorFlow Lite so far (drystone-tflite is to come): load the "
        "SavedModel or the graph that it was converted from",
    ),
    Foreign(
        "an HDF5 file (Keras .h5 weights or model)",
        _starts(b"\x89HDF\r\n\x1a\n"),
        "`pip install drystone-keras`, and it is loaded from a name that ends in .h5; or in Keras, "
        "model.export(FOLDER) writes a SavedModel: load that folder",
    ),
    Foreign(
        "a Keras model (.keras)",
        _zip_with(b"metadata.json", b"model.weights.h5"),
        "`pip install drystone-keras`, and it is loaded from a name that ends in .keras; or in "
        "Keras, keras.models.load_model(FILE).export(FOLDER) writes a SavedModel: load that folder",
    ),
    Foreign(
        "a PyTorch checkpoint or program",
        lambda head, tail: (
            _zip_with(b"/data.pkl", b"/version")(head, tail)
            or (head[:1] == b"\x80" and _TORCH_PICKLE in head[:32])
        ),
        f"torch.onnx.export(model, ..., 'model.onnx') in PyTorch, then: {_FROM_ONNX}",
    ),
    Foreign(
        "a Core ML package",
        _zip_with(b"Manifest.json"),
        "load the model that it was made from",
    ),
    Foreign(
        "arrays of NumPy (.npz)",
        _zip_with(b".npy"),
        "these are values: give them as inputs (`--inputs FILE`), and the model as the model",
    ),
    Foreign("a zip archive", _starts(b"PK\x03\x04", b"PK\x05\x06"), _UNPACK),
    Foreign("a gzip archive", _starts(b"\x1f\x8b"), f"`tar xf FILE` or `gunzip FILE`: {_UNPACK}"),
    Foreign("a tar archive", _is_tar, f"`tar xf FILE`: {_UNPACK}"),
    Foreign("a 7z archive", _starts(b"7z\xbc\xaf\x27\x1c"), f"`7z x FILE`: {_UNPACK}"),
    Foreign("a RAR archive", _starts(b"Rar!\x1a\x07"), f"`unrar x FILE`: {_UNPACK}"),
    Foreign(
        "a compressed file (xz, bzip2 or zstd)",
        _starts(b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd"),
        f"`tar xf FILE`, `unxz`, `bunzip2` or `unzstd`: {_UNPACK}",
    ),
    Foreign("weights in safetensors", _is_safetensors, f"it holds no graph: {_EXPORT}"),
    Foreign(
        "weights in GGUF or GGML",
        _starts(b"GGUF", b"ggml", b"lmgg", b"tjgg"),
        "they are for llama.cpp and its kin, and hold no graph: run them with those",
    ),
    Foreign("a Core ML model", _is_coreml, "load the model that it was made from"),
    Foreign(
        "an ONNX model",
        _is_onnx,
        f"drystone reads no ONNX so far (drystone-onnx is to come): {_FROM_ONNX}; load that folder",
    ),
    Foreign(
        "MLIR bytecode (as of StableHLO)",
        _starts(b"ML\xefR"),
        "export the model as a SavedModel with TensorFlow or JAX (jax2tf), then load that folder",
    ),
    Foreign(
        "the state file of checkpoints",
        _is_state,
        "",
    ),
    Foreign("a part of a checkpoint", lambda _head, tail: tail.endswith(_TABLE_MAGIC), ""),
    Foreign("a pickle of Python objects", _starts(b"\x80\x02", b"\x80\x03", b"\x80\x04"), _EXPORT),
    Foreign(
        SAVED_MODEL,
        _starts(b"\x08\x01\x12"),
        "name it saved_model.pb, with its variables in the folder variables beside it, and load "
        "its folder",
    ),
)
"""In the order in which they are asked: what is told by more goes before what is told by less."""

_BY_NAME: Final = {
    ".onnx": "an ONNX model",
    ".tflite": "a TensorFlow Lite model",
    ".mlmodel": "a Core ML model",
}
"""What only the ends of names tell; bytes go first."""


def foreign_format(data: memoryview, name: str = "") -> Foreign | None:
    """What a file of another format is; None when nothing is recognised."""
    head, tail = bytes(data[:_HEAD]), bytes(data[max(len(data) - _HEAD, 0) :])
    for one in FOREIGN:
        if one.told_by(head, tail):
            return one
    what = next((what for end, what in _BY_NAME.items() if name.endswith(end)), None)
    if ".data-" in name and re.search(r"\.data-\d{5}-of-\d{5}\Z", name):
        what = "a part of a checkpoint"
    return next((one for one in FOREIGN if one.what == what), None)


def refuse_foreign(data: memoryview, path: str | Path, *, but: str = "") -> None:
    """Raise ``BadModelFile`` (``format-not-supported``) for what is no graph of TensorFlow's.

    ``but`` is a format that is in order.
    """
    kind = foreign_format(data, os.path.basename(path))
    if kind is None or kind.what == but:
        return
    raise BadModelFile(
        f"{path} is {kind.what}, which cannot be loaded",
        check="the file must be a TensorFlow graph",
        found=kind.what,
        needed="a SavedModel folder, a GraphDef (.pb, .pbtxt), a MetaGraph or model.json",
        remedy=remedy_of(kind, os.fspath(path)),
        code="format-not-supported",
        status="UNIMPLEMENTED",
    )


def remedy_of(kind: Foreign, path: str) -> str:
    """The next step of the person who has such a file."""
    remedy = kind.remedy or _of_checkpoint(path)
    return remedy.replace("FILE", os.path.basename(path))


def _of_checkpoint(path: str) -> str:
    """What to load instead of a file of a checkpoint: what is there, or what must be had."""
    prefix = re.sub(r"(\.index|\.data-\d{5}-of-\d{5}|\.meta)$", "", path)
    folder = os.path.dirname(path)
    above = os.path.dirname(os.path.abspath(folder))
    if os.path.isfile(os.path.join(above, "saved_model.pb")):
        return f"it holds the variables of a SavedModel: load that folder, {above}"
    if os.path.isfile(f"{prefix}.meta"):
        return f"it holds values without a graph: load {prefix}.meta, which finds them"
    return (
        "it holds values without a graph: load the model that they are of, as "
        f"drystone.load('MODEL.meta', checkpoint={prefix!r}), or the SavedModel"
    )
