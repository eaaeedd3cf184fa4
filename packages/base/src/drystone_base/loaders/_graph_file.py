"""A file that a graph is read from, where plans of it may be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone_base.kept.seen_files import State, is_worth_noting, noted_digest, state_of
from drystone_base.ops._mapped import MappedFile
from drystone_base.plugins._contents import sha256

if TYPE_CHECKING:
    from drystone_base.loaders._loaded import Signature
    from drystone_base.store import Store

__all__ = ["GraphFile"]


class GraphFile:
    """A file that holds a graph and nothing else: its bytes, mapped, and their SHA-256.

    ``read_as``: the signature of the graph, once somebody has read it. ``to_note``: the state of
    the file, where a note of its digest would spare others to read it.
    """

    __slots__ = ("data", "digest", "read_as", "to_note")

    def __init__(self, mapped: MappedFile, where: Store) -> None:
        """Read the file, unless its digest is noted; past the mapping, which takes no memory so.

        Raises ``OSError``.
        """
        self.data = memoryview(mapped)
        self.read_as: Signature | None = None
        self.to_note: State | None = None
        before = state_of(mapped.descriptor)
        noted = noted_digest(where, before)
        self.digest = noted or sha256(f"/proc/self/fd/{mapped.descriptor}").hex()
        if not noted and is_worth_noting(before) and state_of(mapped.descriptor) == before:
            self.to_note = before
