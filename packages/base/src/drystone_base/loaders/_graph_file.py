"""A file that a graph is read from, where plans of it may be kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Self

from drystone_base.kept.circumstances import has_own_ops
from drystone_base.kept.loadings import kept_loading
from drystone_base.kept.seen_files import State, is_worth_noting, noted_digest, state_of
from drystone_base.ops._mapped import MappedFile
from drystone_base.plugins._contents import sha256

if TYPE_CHECKING:
    from drystone_base.kept.loadings import Loading
    from drystone_base.store import Store

__all__ = ["GraphFile"]

_MOST_BYTES: Final = 1 << 28
"""Of a file whose plans are kept: to hash a larger one takes longer than making a plan."""


class GraphFile:
    """A file that says all there is to know of a graph: its bytes, mapped, and their SHA-256.

    ``key`` tells the graph from all others: that digest, and which of the file's graphs it is.
    ``beside`` says what else it takes to load the model. ``loading``: what reading gave, once
    somebody has read the graph; ``to_note``: the state of the file, where a note of its digest
    would spare others to read it.
    """

    __slots__ = ("beside", "data", "digest", "key", "loading", "to_note", "where")

    def __init__(
        self, mapped: MappedFile, where: Store, part: Sequence[Any], beside: Sequence[Any]
    ) -> None:
        """Read the file, unless its digest is noted; past the mapping, which takes no memory so.

        Raises ``OSError``.
        """
        self.where = where
        self.data = memoryview(mapped)
        self.loading: Loading | None = None
        self.to_note: State | None = None
        before = state_of(mapped.descriptor)
        noted = noted_digest(where, before)
        self.digest = noted or sha256(f"/proc/self/fd/{mapped.descriptor}").hex()
        if not noted and is_worth_noting(before) and state_of(mapped.descriptor) == before:
            self.to_note = before
        self.key = [self.digest, *part]
        self.beside = [*self.key, *beside]

    @classmethod
    def of(
        cls, data: memoryview, part: Sequence[Any] = (), beside: Sequence[Any] = ()
    ) -> Self | None:
        """The file whose bytes these are, where plans of it may be kept.

        ``part`` and ``beside`` are values that JSON has.
        """
        owner = data.obj
        if not isinstance(owner, MappedFile) or len(data) > _MOST_BYTES:
            return None
        from drystone_base.kept.folder import store

        where = store()
        try:
            return None if where is None else cls(owner, where, part, beside)
        except OSError:  # no /proc to read it by
            return None

    def kept_loading(self) -> Loading | None:
        """What an earlier process noted of how the model is loaded, with the ops that it knew."""
        return None if has_own_ops() else kept_loading(self.where, self.beside)
