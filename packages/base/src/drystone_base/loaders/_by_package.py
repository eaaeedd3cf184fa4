"""Formats that other packages read: entry points of one group, by the ends of files' names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drystone_base.core.installed import points
from drystone_base.loaders._loaded import LoadedModel
from drystone_base.loaders._source import GraphSource

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["GROUP", "read_by_package"]

GROUP: Final = "drystone.model_files"
"""Each names a function of a path, and is named as files end: ``keras`` for ``m.keras``.

The function gives the graph, signatures by name (:class:`~drystone_base.loaders.Signature`), and
the values of variables by shared name. It raises ``BadModelFile``.
"""


def read_by_package(file: Path) -> LoadedModel | None:
    """The model of a file that an installed package reads; None where none does."""
    ending = file.suffix[1:].lower()
    for point in points(GROUP):
        if point.name == ending:
            graph, signatures, variables = point.load()(file)
            source = GraphSource.of(graph)
            return LoadedModel(source, signatures, file, ending, variables=variables)
    return None
