"""A file that a graph is read from, whose plans may be cached."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Self

from drystone_base.executor.plan_cache.digest_cache import (
    is_large,
    is_new_size,
    is_settled,
    note_digest,
    note_size,
    noted_digest,
    state_of,
)
from drystone_base.files.contents import sha256
from drystone_base.files.mapped import MappedFile
from drystone_base.loaders.load_manifest import read_loading

if TYPE_CHECKING:
    from drystone_base.files.store import Store
    from drystone_base.loaders.load_manifest import Loading

__all__ = ["GraphFile"]

_MOST_BYTES: Final = 1 << 28
"""Of a file whose plans are cached: to hash a larger one takes longer than making a plan."""


class GraphFile:
    """A file that says all there is to know of a graph: its bytes, mapped, and their SHA-256.

    ``loading``: what reading gave, once the graph has been read. A large file of a size that
    no earlier one had has no plans that could be found: it is hashed when one is cached.
    """

    __slots__ = (
        "_beside",
        "_digest",
        "_is_noted",
        "_is_settled",
        "_part",
        "_state",
        "data",
        "loading",
        "where",
    )

    def __init__(
        self, mapped: MappedFile, where: Store, part: Sequence[Any], beside: Sequence[Any]
    ) -> None:
        """Look whether its digest is noted. Raises ``OSError``."""
        self.where, self._part, self._beside = where, part, beside
        self.data = memoryview(mapped)
        self.loading: Loading | None = None
        self._state = state_of(mapped.descriptor)
        self._is_settled = is_settled(self._state)
        self._digest = noted_digest(where, self._state) if self._is_settled else None
        self._is_noted = self._digest is not None
        if self._digest is None and not (self._is_settled and is_new_size(where, self._state)):
            self._digest = self._read()

    @classmethod
    def of(
        cls, data: memoryview, part: Sequence[Any] = (), beside: Sequence[Any] = ()
    ) -> Self | None:
        """The file whose bytes these are, if its plans may be cached.

        ``part`` says which of the file's graphs it is, ``beside`` what else it takes to load the
        model; both are values that JSON has.
        """
        owner = data.obj
        if not isinstance(owner, MappedFile) or len(data) > _MOST_BYTES:
            return None
        from drystone_base.executor.plan_cache.folder import store

        where = store()
        try:
            return None if where is None else cls(owner, where, part, beside)
        except OSError:  # no /proc to read it by
            return None

    def key(self) -> list[Any] | None:
        """What tells the graph from all others; None until the file has been hashed."""
        return None if self._digest is None else [self._digest, *self._part]

    def key_of_loading(self) -> list[Any] | None:
        """What tells the model from all others, likewise."""
        key = self.key()
        return None if key is None else [*key, *self._beside]

    def read_loading(self) -> Loading | None:
        """What an earlier process noted of how the model is loaded, with the ops that it knew."""
        key = self.key_of_loading()
        return None if key is None else read_loading(self.where, key)

    def path(self) -> str:
        """Where the file is, for people; "" where the system does not say."""
        try:
            return os.readlink(f"/proc/self/fd/{self._descriptor()}")
        except OSError:
            return ""

    def is_to_note(self) -> bool:
        """Whether others are to be spared to hash it, which takes long."""
        return not self._is_noted and is_large(self._state)

    def has_same_bytes(self) -> bool:
        """Whether the file still holds the graph, as far as its digest is known."""
        try:
            return self._digest is None or self._digest == self._read()
        except OSError:
            return False

    def settle(self) -> bool:
        """Hash the file, unless that was done, and spare others that; takes as long as to read it.

        False where it may have been written to since it was mapped.
        """
        try:
            digest = self._digest or self._read()
            if state_of(self._descriptor()) != self._state:
                return False
        except OSError:
            return False
        self._digest = digest
        if not self._is_noted:
            self._note(digest)
        return True

    def _note(self, digest: str) -> None:
        self._is_noted = True
        if self._is_settled:
            note_digest(self.where, self._state, digest)
        note_size(self.where, self._state)

    def _descriptor(self) -> int:
        mapped = self.data.obj
        assert isinstance(mapped, MappedFile)
        return mapped.descriptor

    def _read(self) -> str:
        """Past the mapping, which takes no memory so; raises ``OSError``."""
        return sha256(f"/proc/self/fd/{self._descriptor()}").hex()
