"""SavedModel folders: a MetaGraph chosen by its tags, variables, assets, initialisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from drystone_abi.protos import MetaGraphDef, SavedModel
from drystone_base.errors import BadModelFile, CheckpointError
from drystone_base.graph import Graph, parse_tensor_name, reachable
from drystone_base.loaders._default_signature import default_signature
from drystone_base.loaders._files import is_text, map_file
from drystone_base.loaders._loaded import InitStep, LoadedModel, Signature
from drystone_base.loaders._meta import (
    MetaParts,
    asset_feeds,
    asset_files,
    bad_file,
    collection,
    from_message,
    parse_meta,
    parse_text,
    signatures,
    split_field,
)
from drystone_base.loaders._restore import restore, variable_names
from drystone_base.loaders._source import GraphSource
from drystone_base.loaders.checkpoint.shards import index_path
from drystone_base.policy import Access

__all__ = ["init_ops", "load_saved_model"]

_META_GRAPHS: Final = 2
_SERVE: Final = frozenset({"serve"})
_INIT_SIGNATURES: Final = ("__saved_model_init_op", "__saved_model_main_op")
_INIT_COLLECTIONS: Final = ("saved_model_main_op", "legacy_init_op", "saved_model_init_op")


def load_saved_model(
    path: Path, tags: Iterable[str] | None = None, needed: Iterable[str] | None = None
) -> LoadedModel:
    """The SavedModel whose ``saved_model.pb`` (or ``.pbtxt``) is ``path``.

    Variables that none of the tensors and signatures ``needed`` reaches are not restored.

    ``tags`` must equal the tags of one of its MetaGraphs; without them it is the only one, the
    one for serving, or the one without tags. Raises ``BadModelFile`` (``bad-saved-model``,
    ``no-such-tags``, ``unsafe-asset``, ``missing-asset``), ``CheckpointError``, ``GraphError``.
    """
    folder = path.parent
    parts = _choose(_read(path), tags, path)
    graph, meta = parts.load_graph(), parts.meta
    assets = asset_files(meta, folder / "assets")
    feeds = asset_feeds(assets, graph)
    prefix = _variables(folder, graph)
    steps: list[InitStep] = []
    values: dict[str, np.ndarray[Any, Any]] = {}
    found = signatures(meta, str(path))
    if not found:
        plain = default_signature(graph)
        found = {plain.name: plain}
    last = [name for name in init_ops(meta, graph) if _does_something(graph, name)]
    if prefix is not None:
        tensors = None if needed is None else [*_tensors(found, needed), *last]
        steps, values = restore(graph, meta, prefix, feeds, Access().with_read(folder), tensors)
    steps += [([name], feeds) for name in last]
    return LoadedModel(
        GraphSource.of(graph),
        found,
        folder,
        "savedmodel",
        init_steps=steps,
        variables=values,
        tags=tuple(sorted(meta.meta_info_def.tags)),
        assets=assets,
        checkpoint=prefix,
        meta=meta,
        size=sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()),
    )


def _tensors(found: Mapping[str, Signature], needed: Iterable[str]) -> list[str]:
    """The tensors that are meant: a signature stands for its outputs."""
    return [
        tensor
        for name in needed
        for tensor in (
            [spec.tensor for spec in found[name].outputs.values()] if name in found else [name]
        )
    ]


def _read(path: Path) -> list[MetaParts]:
    data = map_file(path)
    if data and is_text(data):
        message = parse_text(data, SavedModel(), str(path), "SavedModel")
        return [from_message(meta) for meta in message.meta_graphs]
    _, metas = split_field(data, _META_GRAPHS, str(path), "SavedModel")
    return [parse_meta(meta, str(path), "SavedModel") for meta in metas]


def _choose(metas: Sequence[MetaParts], tags: Iterable[str] | None, path: Path) -> MetaParts:
    if not metas:
        raise bad_file(str(path), "SavedModel", "no MetaGraph in it", None)
    sets = [frozenset(m.meta.meta_info_def.tags) for m in metas]
    if tags is None:
        if len(metas) == 1:
            return metas[0]
        # Hub modules leave the graph for inference without tags.
        wanted = frozenset() if _SERVE not in sets and frozenset() in sets else _SERVE
    else:
        wanted = frozenset([tags] if isinstance(tags, str) else tags)
    if wanted in sets:
        return metas[sets.index(wanted)]
    raise BadModelFile(
        f"{path} has no MetaGraph with these tags",
        check="the tags must be exactly those of one MetaGraph",
        found="; ".join(_show(s) for s in sets),
        needed=_show(wanted),
        remedy=f"choose one of them, such as tags={sorted(sets[0])}",
        code="no-such-tags",
        status="NOT_FOUND",
    )


def _show(tags: frozenset[str]) -> str:
    return "{" + ", ".join(sorted(tags)) + "}"


def _variables(folder: Path, graph: Graph) -> Path | None:
    """The prefix of the model's checkpoint, or None for a model without variables."""
    prefix = folder / "variables" / "variables"
    if index_path(prefix).is_file():
        return prefix
    names = variable_names(graph)
    if not names:
        return None
    raise CheckpointError(
        f"{folder} has variables but no checkpoint",
        check="variables/variables.index must be present when the graph has variables",
        found=f"{len(names)} variables, such as {names[0]!r}",
        needed=str(index_path(prefix)),
        remedy="copy the variables folder beside saved_model.pb",
        code="checkpoint-missing-index",
        status="NOT_FOUND",
    )


def init_ops(meta: MetaGraphDef, graph: Graph) -> list[str]:
    """The nodes that fill tables and the like: named by a signature, else by a collection."""
    for key in _INIT_SIGNATURES:
        if key in meta.signature_def:
            outputs = meta.signature_def[key].outputs
            names = [outputs[k].name for k in sorted(outputs)]
            break
    else:
        names = next(filter(None, (collection(meta, k) for k in _INIT_COLLECTIONS)), [])
    return [n for n in dict.fromkeys(names) if n in graph or n.rpartition(":")[0] in graph]


def _does_something(graph: Graph, name: str) -> bool:
    """Whether a node or anything that it waits for does: Keras writes a NoOp for who asks."""
    node = graph[parse_tensor_name(name)[0]]
    return any(found.op != "NoOp" for found in reachable([node]))
