"""One entry point for every kind of model: what a path holds is told by looking at it.

A kind's reader is imported where a path holds that kind: a first answer waits for one, not four.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from drystone_base.core.errors import BadModelFile
from drystone_base.files.local import missing_file, unreadable_file
from drystone_base.files.uris import as_path, local_text, uri_of
from drystone_base.loaders._loaded import LoadedModel
from drystone_base.loaders.graphdef import load_graphdef

if TYPE_CHECKING:
    from pathlib import Path

    from drystone_base.files.access import Access

__all__ = ["load_model"]

SAVED_MODEL_FILES: Final = ("saved_model.pb", "saved_model.pbtxt")
TFJS_FILE: Final = "model.json"
GRAPH_SUFFIXES: Final = (".pb", ".pbtxt")
MODEL_SUFFIXES: Final = (*GRAPH_SUFFIXES, ".meta", ".json")


def load_model(
    path: str | os.PathLike[str],
    *,
    tags: Iterable[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    needed: Iterable[str] | None = None,
    access: Access | None = None,
) -> LoadedModel:
    """Read a SavedModel, MetaGraph (``.meta``), GraphDef (``.pb``, ``.pbtxt``) or ``model.json``.

    A folder that holds one of them stands for that file; of several MetaGraphs the one of the
    latest checkpoint counts. ``model.json`` is a TensorFlow.js graph model. Other files are read by
    installed packages that name them (entry points of the group ``drystone.model_files``): with
    drystone-keras ``.keras`` and ``.h5``. ``tags`` choose a
    MetaGraph of a SavedModel, ``checkpoint`` is the prefix that a MetaGraph is restored from. Of a
    SavedModel, variables that none of the tensors and signatures ``needed`` reaches stay unread.
    ``access``: where files of the model may lie or links of theirs lead, beside its own folder.
    Raises ``BadModelFile`` and ``CheckpointError``, ``GraphError``.
    """
    text = local_text(path)
    if text is not None and _is_graph(text):
        return load_graphdef(text)
    given = as_path(path)
    try:
        return _load_file(_place(given), tags, checkpoint, needed, access)
    except FileNotFoundError:
        missing_file(given)
    except OSError as error:  # of a folder that may not be listed, of a store that does not answer
        unreadable_file(given, error)


def _load_file(
    found: Path,
    tags: Iterable[str] | None,
    checkpoint: str | os.PathLike[str] | None,
    needed: Iterable[str] | None,
    access: Access | None,
) -> LoadedModel:
    if found.name in SAVED_MODEL_FILES:
        from drystone_base.loaders.saved_folder import load_saved_model

        return load_saved_model(found, tags, needed, access)
    if found.suffix == ".meta":
        from drystone_base.loaders.meta_file import load_meta_graph

        return load_meta_graph(found, checkpoint, access)
    if found.suffix == ".json":
        from drystone_base.loaders.tfjs import load_tfjs

        return load_tfjs(found, access)
    if found.suffix not in GRAPH_SUFFIXES:
        from drystone_base.loaders._by_package import read_by_package

        read = read_by_package(found)
        if read is not None:
            return read
    return load_graphdef(found)


def _is_graph(file: str) -> bool:
    """Whether it is there, under the name of a GraphDef: quick, for what most programs load."""
    named = file.endswith(GRAPH_SUFFIXES) and os.path.basename(file) not in SAVED_MODEL_FILES
    return named and os.path.isfile(file)


def _place(given: Path) -> Path:
    """The file that the model is in."""
    found = _unlisted(given) or given
    if not found.exists():
        missing_file(found)
    return _inside(found) if found.is_dir() else found


def _unlisted(path: Path) -> Path | None:
    """The model file of a folder on a server that tells no names, found by asking for it."""
    if uri_of(path) is None or path.suffix in MODEL_SUFFIXES or path.is_dir():
        return None
    likely = (path / name for name in (*SAVED_MODEL_FILES, TFJS_FILE))
    return next((file for file in likely if file.is_file()), None)


def _inside(folder: Path) -> Path:
    """The one model file of a folder."""
    for name in SAVED_MODEL_FILES:
        if (folder / name).is_file():
            return folder / name
    files = [p for p in sorted(folder.iterdir()) if p.is_file()]
    for suffixes in ((".meta",), GRAPH_SUFFIXES):
        found = [p for p in files if p.suffix in suffixes]
        if len(found) == 1:
            return found[0]
        if found and suffixes == (".meta",):
            from drystone_base.checkpoint import latest_checkpoint

            latest = latest_checkpoint(folder)
            named = [p for p in found if latest is not None and p.with_suffix("") == latest]
            if named:
                return named[0]
        if found:
            break
    if (folder / TFJS_FILE).is_file():
        return folder / TFJS_FILE
    inner = [p.parent for name in SAVED_MODEL_FILES for p in sorted(folder.glob(f"*/{name}"))]
    raise BadModelFile(
        f"{folder} does not hold one model",
        check="a folder must hold a SavedModel or model.json, or exactly one MetaGraph or GraphDef",
        found=", ".join(p.name for p in sorted(folder.iterdir())[:8]) or "an empty folder",
        needed="saved_model.pb, one *.meta, one *.pb, or model.json",
        remedy=f"did you mean {inner[0]}?" if inner else _instead(folder, files),
        code="no-model-found",
        status="NOT_FOUND",
    )


def _instead(folder: Path, files: list[Path]) -> str:
    """What helps with a folder that holds no model: the model it is a part of, or its only file."""
    above = folder.absolute().parent
    if any((above / name).is_file() for name in SAVED_MODEL_FILES):
        return f"it is a part of a SavedModel: load {above}"
    if uri_of(folder) is None:
        from drystone_base.files.local import map_file
        from drystone_base.loaders._foreign import foreign_format, remedy_of

        for file in files[:20]:
            kind = foreign_format(map_file(file), file.name)
            if kind is not None:
                return f"{file.name} is {kind.what}: {remedy_of(kind, str(file))}"
    return "give the path of the file that you mean"
