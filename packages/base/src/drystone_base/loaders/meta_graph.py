"""What a MetaGraph file holds, and how it is restored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from drystone_abi.protos import MetaGraphDef
from drystone_base.checkpoint.shards import index_path
from drystone_base.core.errors import BadModelFile
from drystone_base.files.local import is_text
from drystone_base.graph import Graph, parse_tensor_name
from drystone_base.loaders._cached_model import ModelFiles, Read
from drystone_base.loaders._default_signature import default_signature, with_optional
from drystone_base.loaders._foreign import refuse_foreign
from drystone_base.loaders._meta import (
    MetaParts,
    collection,
    from_message,
    parse_meta,
    parse_text,
    signatures,
)
from drystone_base.loaders._restore import Restored, restore

__all__ = ["parse", "read_meta_graph"]

_TABLES: Final = "table_initializer"
_GRADIENTS: Final = re.compile(r"gradients(_\d+)?/")


def read_meta_graph(parts: MetaParts, path: Path, files: ModelFiles) -> Read:
    """What the MetaGraph of the file ``path`` holds, and how it is restored."""
    graph, meta = parts.load_graph(), parts.meta
    restored = Restored([], {}, {})
    if files.prefix is not None:
        restored = restore(graph, meta, files.prefix, {}, files.access)
    tables = [name for name in collection(meta, _TABLES) if name in graph]
    steps = restored.steps + ([(tables, {})] if tables else [])
    found = with_optional(signatures(meta, str(path)), graph)
    if not found:
        plain = default_signature(graph, ignore=_helpers(graph, meta))
        found = {plain.name: plain}
    if files.prefix is not None and not index_path(files.prefix).is_file():
        meta.ClearField("saver_def")  # it writes V1 checkpoints, which are only read: save again
    return Read(graph, meta, found, restored, steps, {})


def _helpers(graph: Graph, meta: MetaGraphDef) -> frozenset[str]:
    """Nodes that are no answers: the saver's ends, and what ``tf.gradients`` added for training."""
    saver = meta.saver_def
    ends = (saver.filename_tensor_name, saver.save_tensor_name, saver.restore_op_name)
    gradients = (n.name for n in graph if _GRADIENTS.match(n.name))
    return frozenset([*(parse_tensor_name(name)[0] for name in ends), *gradients])


def parse(data: memoryview, path: Path) -> MetaParts:
    """The MetaGraph in the bytes of ``path``."""
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
