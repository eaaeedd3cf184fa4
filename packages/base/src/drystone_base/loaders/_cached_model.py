"""Models of a MetaGraph: read again, or as the plan cache has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from drystone_base.checkpoint.shards import Shards, index_path
from drystone_base.core.errors import CheckpointError
from drystone_base.files.access import Access
from drystone_base.files.contents import sha256
from drystone_base.files.mapped import MappedFile
from drystone_base.loaders._assets import path_tensor
from drystone_base.loaders._graph_file import GraphFile
from drystone_base.loaders._loaded import LoadedModel
from drystone_base.loaders._source import GraphSource
from drystone_base.loaders.load_manifest import Loading

if TYPE_CHECKING:
    from drystone_abi.protos import MetaGraphDef
    from drystone_base.graph import Graph
    from drystone_base.loaders._loaded import InitStep, Signature
    from drystone_base.loaders._meta import MetaParts
    from drystone_base.loaders._restore import Restored

__all__ = ["ModelFiles", "Read", "load_files"]


class ModelFiles(NamedTuple):
    """The files of a model; ``data`` is what the one with its graph holds.

    ``path``: what it is known by. ``prefix``: of its checkpoint, if it has one, which ``access``
    reaches where it belongs to the model or the caller has named it; whether another is read, the
    session decides.
    """

    kind: Literal["savedmodel", "metagraph"]
    path: Path
    data: memoryview
    prefix: Path | None
    access: Access
    size: Callable[[], int]
    """Bytes of all of them."""


class Read(NamedTuple):
    """What the files of a model hold: ``steps`` are to be run once variables have their values."""

    graph: Graph
    meta: MetaGraphDef
    signatures: dict[str, Signature]
    restored: Restored
    steps: list[InitStep]
    assets: Mapping[str, Path]

    def tags(self) -> tuple[str, ...]:
        """The tags of the MetaGraph."""
        return tuple(sorted(self.meta.meta_info_def.tags))

    def loading(self, files: ModelFiles) -> Loading | None:
        """What may be noted of it: nothing where variables take a run."""
        entries, shards = self.restored.entries, self.restored.shards
        if entries is None:
            return None
        steps = [(targets, list(feeds)) for targets, feeds in self.steps]
        folder = files.path / "assets"
        assets = {t: path.relative_to(folder).as_posix() for t, path in self.assets.items()}
        return Loading(self.signatures, self.tags(), entries, shards, steps, assets)


def load_files(
    files: ModelFiles,
    asked: Sequence[Any],
    parts: Callable[[], MetaParts],
    read: Callable[[MetaParts], Read],
) -> LoadedModel:
    """The model as it was noted, without its graph, else as ``read`` gives it, which is noted then.

    ``asked`` are values that JSON has: which graph of the file, and which of its variables.
    """
    before = _checkpoint_digest(files)
    file = None if before is None else GraphFile.of(files.data, [files.kind, *asked], [before])
    kept = None if file is None else file.read_loading()
    if file is not None and kept is not None and _has_assets(files, kept):
        with suppress(
            CheckpointError
        ):  # the note is wrong or the checkpoint: to read it again tells
            return _as_cached(files, file, kept, parts)
    found = read(parts())
    if file is not None and _checkpoint_digest(files) == before:
        file.loading = found.loading(files)
    return _as_read(files, file, found)


def _checkpoint_digest(files: ModelFiles) -> str | None:
    """What tells a checkpoint from others, "" for none; None where nothing is kept.

    The index has a checksum of each tensor.
    """
    prefix = files.prefix
    if not isinstance(files.data.obj, MappedFile):
        return None
    if prefix is None:
        return ""
    if not files.access.may_read_checkpoint(prefix):
        return None
    try:
        return sha256(str(index_path(prefix))).hex()
    except OSError:  # a V1 checkpoint, or none
        return None


def _asset(files: ModelFiles, name: str) -> Path:
    return files.path / "assets" / name


def _has_assets(files: ModelFiles, kept: Loading) -> bool:
    """Whether what the model reads is there; who reads it again says what is not."""
    return all(_asset(files, name).is_file() for name in kept.assets.values())


def _as_cached(
    files: ModelFiles, file: GraphFile, kept: Loading, parts: Callable[[], MetaParts]
) -> LoadedModel:
    shards = Shards(files.prefix or "", kept.shards)
    assets = {tensor: _asset(files, name) for tensor, name in kept.assets.items()}
    steps = [
        (list(targets), {tensor: path_tensor(assets[tensor]) for tensor in fed})
        for targets, fed in kept.steps
    ]
    return LoadedModel(
        GraphSource(lambda: parts().load_graph(), file, file.data),
        dict(kept.signatures),
        files.path,
        files.kind,
        init_steps=steps,
        assets=assets,
        variables={name: shards.read(entry) for name, entry in kept.variables.items()},
        tags=kept.tags,
        checkpoint=files.prefix,
        read_meta=lambda: parts().meta,
        size=files.size(),
    )


def _as_read(files: ModelFiles, file: GraphFile | None, read: Read) -> LoadedModel:
    meta = read.meta
    return LoadedModel(
        GraphSource.of(read.graph, file, files.data),
        read.signatures,
        files.path,
        files.kind,
        init_steps=read.steps,
        variables=read.restored.values,
        tags=read.tags(),
        assets=read.assets,
        checkpoint=files.prefix,
        read_meta=lambda: meta,  # not the values of variables
        size=files.size(),
    )
