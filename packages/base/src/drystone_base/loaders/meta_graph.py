"""MetaGraph files (``.meta``) with the checkpoint that belongs to them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

import numpy as np

from drystone_abi.protos import MetaGraphDef
from drystone_base.errors import BadModelFile
from drystone_base.graph import Graph, parse_tensor_name
from drystone_base.loaders._default_signature import default_signature
from drystone_base.loaders._files import is_text, map_file
from drystone_base.loaders._loaded import InitStep, LoadedModel
from drystone_base.loaders._meta import (
    MetaParts,
    collection,
    from_message,
    parse_meta,
    parse_text,
    signatures,
)
from drystone_base.loaders._restore import restore
from drystone_base.loaders._source import GraphSource
from drystone_base.loaders.checkpoint import latest_checkpoint, v1_files
from drystone_base.loaders.checkpoint.shards import index_path
from drystone_base.loaders.graphdef import refuse_foreign
from drystone_base.policy import Access, checkpoint_files
from drystone_base.uris import as_path

__all__ = ["load_meta_graph"]

_TABLES: Final = "table_initializer"
_GRADIENTS: Final = re.compile(r"gradients(_\d+)?/")


def load_meta_graph(path: Path, checkpoint: str | os.PathLike[str] | None = None) -> LoadedModel:
    """A MetaGraph, restored from ``checkpoint`` or from the one found beside it.

    Beside it means: the file's own name without ``.meta``, else what the folder's ``checkpoint``
    file names, else the only one in the folder. Without any, variables have no value until the
    graph's own initializer is run. Raises ``BadModelFile`` (``bad-meta-graph``),
    ``CheckpointError``, ``GraphError``.
    """
    parts = _read(path)
    graph, meta = parts.load_graph(), parts.meta
    prefix = as_path(checkpoint) if checkpoint is not None else _beside(path)
    steps: list[InitStep] = []
    values: dict[str, np.ndarray[Any, Any]] = {}
    if prefix is not None:
        named = () if checkpoint is None else checkpoint_files(checkpoint)
        access = Access().with_read(path.parent, *named)
        steps, values = restore(graph, meta, prefix, {}, access)
    tables = [name for name in collection(meta, _TABLES) if name in graph]
    if tables:
        steps.append((tables, {}))
    found = signatures(meta, str(path))
    if not found:
        plain = default_signature(graph, ignore=_helpers(graph, meta))
        found = {plain.name: plain}
    if prefix is not None and not index_path(prefix).is_file():
        meta.ClearField("saver_def")  # it writes V1 checkpoints, which are only read: save anew
    return LoadedModel(
        GraphSource.of(graph),
        found,
        path,
        "metagraph",
        init_steps=steps,
        variables=values,
        tags=tuple(sorted(meta.meta_info_def.tags)),
        checkpoint=prefix,
        meta=meta,
        size=path.stat().st_size + _checkpoint_size(prefix),
    )


def _helpers(graph: Graph, meta: MetaGraphDef) -> frozenset[str]:
    """Nodes that are no answers: the saver's ends, and what ``tf.gradients`` added for training."""
    saver = meta.saver_def
    ends = (saver.filename_tensor_name, saver.save_tensor_name, saver.restore_op_name)
    gradients = (n.name for n in graph if _GRADIENTS.match(n.name))
    return frozenset([*(parse_tensor_name(name)[0] for name in ends), *gradients])


def _read(path: Path) -> MetaParts:
    data = map_file(path)
    refuse_foreign(data, path)
    if not data:
        raise BadModelFile(
            f"{path} is empty",
            check="a MetaGraph file must have content",
            found="0 bytes",
            needed="a MetaGraphDef",
            remedy="copy or export the file again",
            code="bad-meta-graph",
        )
    if is_text(data):
        return from_message(parse_text(data, MetaGraphDef(), str(path), "MetaGraphDef"))
    return parse_meta(data, str(path))


def _beside(path: Path) -> Path | None:
    own = path.with_suffix("")
    if index_path(own).is_file() or v1_files(own):
        return own
    stated = latest_checkpoint(path.parent)
    found = [p.with_suffix("") for p in path.parent.glob("*.index")]
    return found[0] if stated is None and len(found) == 1 else stated


def _checkpoint_size(prefix: Path | None) -> int:
    if prefix is None:
        return 0
    if not index_path(prefix).is_file():
        return sum(f.stat().st_size for f in v1_files(prefix))
    files = [index_path(prefix), *prefix.parent.glob(f"{prefix.name}.data-*")]
    return sum(f.stat().st_size for f in files)
