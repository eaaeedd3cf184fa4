"""The textual form of a graph: protobuf text, as TensorFlow reads and writes it."""

from __future__ import annotations

import re
from typing import Final

from drystone_abi.protos import GraphDef
from drystone_base.core.errors import BadModelFile
from drystone_base.graph.graph import Graph

__all__ = ["from_text", "spelled_out", "to_text"]

_RUN: Final = re.compile(r"(?:\\\\){32,}")


def from_text(text: str | bytes) -> Graph:
    """A graph from protobuf text; raises ``BadModelFile`` (``bad-pbtxt``) with line and column."""
    from google.protobuf import text_format  # which most graphs do without

    try:
        shown = spelled_out(text.decode("utf-8") if isinstance(text, bytes) else text)
        return Graph.from_proto(text_format.Parse(shown, GraphDef(), allow_unknown_field=True))
    except (text_format.ParseError, ValueError, RecursionError) as error:
        raise BadModelFile(
            "cannot be read",
            subject="the graph",
            check="the text must be a GraphDef in protobuf text format",
            found=str(error),
            needed="node { ... } blocks",
            remedy="check the file at that line",
            code="bad-pbtxt",
            inner=error,
        ) from error


def spelled_out(text: str) -> str:
    """Text with long runs of escaped backslashes as numbers: protobuf is quadratic in such runs.

    A run begins an escape, so its backslashes are pairs; outside strings there are none.
    """
    return _RUN.sub(lambda run: "\\134" * (len(run[0]) // 2), text)


def to_text(graph: Graph) -> str:
    """The graph as protobuf text; the same graph always gives the same text."""
    from google.protobuf import text_format

    return text_format.MessageToString(graph.to_proto())
