"""Whether any installed package declares entry points of a group, without importlib.metadata.

Importing that module alone takes a good part of what a first answer may take; most processes have
nothing to find. Only where something is declared is it worth asking it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache

__all__ = ["declared"]


@cache
def declared(group: str) -> bool:
    """Whether the metadata of some package on ``sys.path`` has a section of that name."""
    header = f"[{group}]".encode()
    return any(header in text for text in _texts(sys.path))


def _texts(places: Iterable[str]) -> Iterator[bytes]:
    """Every ``entry_points.txt``; for what is no folder (a zip file), the answer that may be."""
    for place in dict.fromkeys(places):
        try:
            names = os.listdir(place or os.curdir)
        except NotADirectoryError:
            yield b"[drystone.modules][drystone.plugins][drystone.graph_optimizers]"
            continue
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    with open(os.path.join(place, name, "entry_points.txt"), "rb") as file:
                        yield file.read()
                except OSError:
                    continue
