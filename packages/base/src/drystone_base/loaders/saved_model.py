"""SavedModel folders: a MetaGraph chosen by its tags, variables, assets, initialisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from drystone_abi.protos import MetaGraphDef, SavedModel
from drystone_base.checkpoint.shards import index_path
from drystone_base.core.errors import BadModelFile, CheckpointError
from drystone_base.files.local import is_text
from drystone_base.graph import Graph, parse_tensor_name, reachable
from drystone_base.loaders._cached_model import ModelFiles, Read
from drystone_base.loaders._default_signature import default_signature, with_optional
from drystone_base.loaders._loaded import Signature
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
from drystone_base.loaders._restore import Restored, restore, variable_names

__all__ = ["choose", "init_ops", "read_saved_model"]

_META_GRAPHS: Final = 2
_SERVE: Final = frozenset({"serve"})
_INIT_SIGNATURES: Final = ("__saved_model_init_op", "__saved_model_main_op")
_INIT_COLLECTIONS: Final = ("saved_model_main_op", "legacy_init_op", "saved_model_init_op")


def read_saved_model(
    parts: MetaParts, path: Path, files: ModelFiles, needed: Sequence[str] | None
) -> Read:
    """What the MetaGraph that was chosen in ``path`` holds, and how it is restored."""
    graph, meta = parts.load_graph(), parts.meta
    assets = asset_files(meta, files.path / "assets")
    feeds = asset_feeds(assets, graph)
    found = with_optional(signatures(meta, str(path)), graph)
    if not found and not _has_functions(meta):
        plain = default_signature(graph)
        found = {plain.name: plain}
    last = [name for name in init_ops(meta, graph) if _does_something(graph, name)]
    if files.prefix is None:
        _need_no_variables(files.path, graph)
        restored = Restored([], {}, {})
    else:
        tensors = None if needed is None else [*_tensors(found, needed), *last]
        restored = restore(graph, meta, files.prefix, feeds, files.access, tensors)
    steps = restored.steps + [([name], feeds) for name in last]
    return Read(graph, meta, found, restored, steps, assets)


def _has_functions(meta: MetaGraphDef) -> bool:
    """Whether objects say how the model is called: then its graph only saves and restores."""
    kinds = ("function", "bare_concrete_function")
    return any(n.WhichOneof("kind") in kinds for n in meta.object_graph_def.nodes)


def _tensors(found: Mapping[str, Signature], needed: Iterable[str]) -> list[str]:
    """The tensors that are meant: a signature stands for its outputs."""
    return [
        tensor
        for name in needed
        for tensor in (
            [spec.tensor for spec in found[name].outputs.values()] if name in found else [name]
        )
    ]


def _read(data: memoryview, path: Path) -> list[MetaParts]:
    if data and is_text(data):
        message = parse_text(data, SavedModel(), str(path), "SavedModel")
        return [from_message(meta) for meta in message.meta_graphs]
    _, metas = split_field(data, _META_GRAPHS, str(path), "SavedModel")
    return [parse_meta(meta, str(path), "SavedModel") for meta in metas]


def choose(data: memoryview, tags: Iterable[str] | None, path: Path) -> MetaParts:
    """The MetaGraph that is meant, of those in the bytes of ``path``."""
    metas = _read(data, path)
    if not metas:
        raise bad_file(str(path), "SavedModel", "no MetaGraph in it", None)
    sets = [frozenset(m.meta.meta_info_def.tags) for m in metas]
    if tags is None:
        if len(metas) == 1:
            return metas[0]
        # Hub modules leave the graph for inference without tags.
        wanted = frozenset() if _SERVE not in sets and frozenset() in sets else _SERVE
    else:
        wanted = frozenset(tags)
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


def _need_no_variables(folder: Path, graph: Graph) -> None:
    """Raise ``CheckpointError`` for a graph with variables: there is no checkpoint."""
    names = variable_names(graph)
    if not names:
        return
    raise CheckpointError(
        f"{folder} has variables but no checkpoint",
        check="variables/variables.index must be present when the graph has variables",
        found=f"{len(names)} variables, such as {names[0]!r}",
        needed=str(index_path(folder / "variables" / "variables")),
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
