"""Pages of model files that a graph's constants were read from."""

from __future__ import annotations

from drystone_base.files.mapped import MappedFile
from drystone_base.graph.graph import Graph

__all__ = ["let_go_of_files"]


def let_go_of_files(graph: Graph) -> None:
    """Take the pages of files that hold the graph's large constants out of memory.

    A constant is read from its file again.
    """
    held = (node._content.obj for node in graph if node._content is not None)
    for file in {id(owner): owner for owner in held}.values():
        if isinstance(file, MappedFile):
            file.let_go()
