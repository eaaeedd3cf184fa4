"""SavedModel folders written: the MetaGraph, assets, and what tells how the model is called."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from drystone_abi.protos import AssetFileDef, MetaGraphDef, SignatureDef, TensorInfo
from drystone_base.checkpoint.shards import index_path
from drystone_base.core.errors import BadRequest
from drystone_base.core.wire import write_varint
from drystone_base.files.uris import as_path, uri_of
from drystone_base.files.writing import copy_file, draft_folder, replace_file, writing
from drystone_base.graph import Graph
from drystone_base.loaders._assets import COLLECTION, asset_defs
from drystone_base.loaders._fingerprint_file import FILE, fingerprint
from drystone_base.loaders._loaded import Signature, TensorSpec
from drystone_base.loaders._meta import hidden_signature
from drystone_base.loaders.saved_model import init_ops
from drystone_base.ops.attrs import encode_shape

__all__ = ["new_folder", "set_assets", "set_init", "set_signatures", "write_saved_model"]

_INIT: Final = "__saved_model_init_op"
_PREDICT: Final = "tensorflow/serving/predict"
_SCHEMA: Final = b"\x08\x01"  # saved_model_schema_version: 1


def set_signatures(meta: MetaGraphDef, signatures: Iterable[Signature]) -> None:
    """Replace the signatures that a person may call."""
    for name in list(meta.signature_def):
        if not hidden_signature(name):
            del meta.signature_def[name]
    for signature in signatures:
        meta.signature_def[signature.name].CopyFrom(
            SignatureDef(
                inputs={n: _info(s) for n, s in signature.inputs.items()},
                outputs={n: _info(s) for n, s in signature.outputs.items()},
                method_name=signature.method or _PREDICT,
            )
        )


def _info(spec: TensorSpec) -> TensorInfo:
    info = TensorInfo(name=spec.tensor, dtype=spec.dtype.number)  # type: ignore[arg-type]
    known = None if spec.shape is None else tuple(max(d, -1) for d in spec.shape)
    info.tensor_shape.CopyFrom(encode_shape(known))
    return info


def set_init(graph: Graph, meta: MetaGraphDef, nodes: Iterable[str]) -> None:
    """Have these nodes run whenever the model is loaded, after those that do so already."""
    wanted = [graph[name] for name in nodes]
    if not wanted:
        return
    wanted += [graph.output(name)[0] for name in init_ops(meta, graph)]
    node = graph.add("NoOp", graph.unique_name("saved_model_init"), controls=wanted)
    stated = TensorInfo(name=node.name)
    meta.signature_def[_INIT].CopyFrom(SignatureDef(outputs={_INIT: stated}))


def set_assets(
    meta: MetaGraphDef, known: Mapping[str, Path], added: Mapping[str, str | os.PathLike[str]]
) -> dict[str, Path]:
    """State the added assets in ``meta``; all files to copy, by their name in the folder.

    ``known`` and ``added`` tell the file of a tensor; assets of one file name get different names.
    """
    stated = asset_defs(meta, "the model")
    del meta.asset_file_def[:]
    meta.asset_file_def.extend(stated)  # where it has some, the collection is not looked at
    meta.collection_def.pop(COLLECTION, None)
    files = {a.filename: known[a.tensor_info.name] for a in stated}
    for tensor, source in added.items():
        stem, suffix = as_path(source).stem, as_path(source).suffix
        name, number = f"{stem}{suffix}", 0
        while name in files:
            number += 1
            name = f"{stem}_{number}{suffix}"
        files[name] = as_path(source)
        meta.asset_file_def.append(AssetFileDef(tensor_info=TensorInfo(name=tensor), filename=name))
    return files


def new_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder that appears complete or not at all.

    Raises ``BadRequest`` (``path-taken``, ``cannot-write``).
    """
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise BadRequest(
            f"{path} is there already",
            check="a SavedModel must be written to a new or empty folder",
            found="a folder with files in it" if path.is_dir() else "a file",
            needed="a path that is free",
            remedy="remove it, or choose another path",
            code="path-taken",
            status="ALREADY_EXISTS",
        )
    if uri_of(path) is not None:
        _upload_folder(path, fill)
        return
    with draft_folder(path) as staging:
        fill(staging)


def _upload_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Fill a local folder, then upload it: the model's own file, which makes it one, comes last.

    When an upload fails, what was uploaded is deleted again, as far as that works.
    """
    done: list[Path] = []
    with tempfile.TemporaryDirectory(prefix="drystone-") as name:
        folder = Path(name) / "model"
        folder.mkdir()
        fill(folder)
        files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        files.sort(key=lambda file: file.parent == folder)
        try:
            with writing(path):
                for file in files:
                    target = path / file.relative_to(folder).as_posix()
                    target.parent.mkdir(parents=True, exist_ok=True)
                    done.append(target)
                    copy_file(file, target)
        except BaseException:
            for target in done:
                with suppress(OSError):
                    target.unlink(missing_ok=True)
            raise


def write_saved_model(
    folder: Path, graph: Graph, meta: MetaGraphDef, assets: Mapping[str, Path]
) -> None:
    """``saved_model.pb``, its fingerprint and the assets, in a folder that has the variables."""
    rest, nodes = meta.SerializeToString(deterministic=True), graph.to_bytes()
    body = [rest, b"\x12", write_varint(len(nodes)), nodes]
    size = sum(len(piece) for piece in body)
    whole = [_SCHEMA, b"\x12", write_varint(size), *body]
    index = index_path(folder / "variables" / "variables")
    found = fingerprint(whole, meta, nodes, index)
    replace_file(folder / FILE, [found.SerializeToString(deterministic=True)])
    replace_file(folder / "saved_model.pb", whole)
    for name, source in assets.items():
        target = folder / "assets" / name
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_file(source, target)
