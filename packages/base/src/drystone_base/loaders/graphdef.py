"""GraphDef files: binary and text, read and written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadModelFile
from drystone_base.files.local import is_text, map_file
from drystone_base.files.uris import as_path
from drystone_base.loaders._graph_file import GraphFile
from drystone_base.loaders._loaded import LoadedModel, Signature
from drystone_base.loaders._source import GraphSource

if TYPE_CHECKING:
    from pathlib import Path

    from drystone_base.graph import Graph

__all__ = ["load_graphdef", "read_graph", "write_graph"]


@checked
def read_graph(source: str | os.PathLike[str] | bytes | memoryview) -> Graph:
    """A graph from a GraphDef file or its bytes; binary or text is told by the content.

    Large constants of a binary file stay mapped. Raises ``BadModelFile`` (``file-not-found``,
    ``file-unreadable``, ``bad-graphdef``, ``bad-pbtxt``, ``format-not-supported``), ``GraphError``.
    """
    if isinstance(source, bytes | memoryview):
        return _parse(memoryview(source), "the graph")
    path = as_path(source)
    data = map_file(path)
    return _parse_file(data, path)


def _parse_file(data: memoryview, path: str | Path) -> Graph:
    from drystone_base.loaders._foreign import refuse_foreign

    refuse_foreign(data, path)
    return _parse(data, str(path))


def _parse(data: memoryview, what: str) -> Graph:
    from drystone_base.graph import Graph

    if not data:
        raise _empty(f"{what} is empty", "0 bytes")
    try:
        graph = _parse_text(data) if is_text(data) else Graph.from_bytes(data)
    except BadModelFile as error:  # who reads bytes does not know what file they are of
        error.name_file(what)
        raise
    # Protobuf takes much for unknown fields of a message: a graph that has nothing is no graph.
    if not (len(graph) or len(graph.functions) or graph.producer):
        raise _empty(f"{what} is not a graph", f"{len(data)} bytes without a node")
    return graph


def _parse_text(data: memoryview) -> Graph:
    from drystone_base.graph import from_text

    return from_text(bytes(data))


def _empty(what: str, found: str) -> BadModelFile:
    return BadModelFile(
        what,
        check="a graph file must hold nodes",
        found=found,
        needed="a GraphDef",
        remedy="check that the file is a TensorFlow graph, and copy or export it again",
        code="bad-graphdef",
    )


@checked
def write_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph as a GraphDef: text when the name ends in ``.pbtxt``, binary otherwise.

    The file appears complete or not at all; the same graph always gives the same bytes.
    """
    from drystone_base.graph import to_text

    target = as_path(path)
    data = to_text(graph).encode() if target.suffix == ".pbtxt" else graph.to_bytes()
    from drystone_base.files.writing import replace_file

    replace_file(target, [data])


def load_graphdef(path: str | Path) -> LoadedModel:
    """A GraphDef file as a model whose signature is its placeholders and sinks.

    The graph is read when it is needed, where an earlier process has read this very file: it is
    one, then, and no file of another format.
    """
    data = map_file(path)
    file = GraphFile.of(data)
    source = GraphSource(lambda: _parse_file(data, path), file, data)
    kept = None if file is None else file.read_loading()
    signatures = _signatures(source, file) if kept is None else dict(kept.signatures)
    return LoadedModel(source, signatures, path, "graphdef", size=len(data))


def _signatures(source: GraphSource, file: GraphFile | None) -> dict[str, Signature]:
    from drystone_base.loaders._default_signature import default_signature

    signature = default_signature(source.graph())
    if file is not None:
        from drystone_base.loaders.load_manifest import Loading

        file.loading = Loading({signature.name: signature}, (), {}, 0)
    return {signature.name: signature}
