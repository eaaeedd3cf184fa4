"""Files that are sent at once, when they are closed: until then they are kept on this machine."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Callable
from typing import IO, Final

from drystone_filesystem.store import Upload
from drystone_filesystem.transfer import plan, retried, tell

__all__ = ["SpooledUpload"]

_IN_MEMORY: Final = 32 << 20


class SpooledUpload(Upload):
    """Bytes on their way to a store; on disk (``TMPDIR``) when they are many.

    ``send(file, size)`` is called with all of them when the file is closed, up to ``attempts``
    times (those of reads by default) while its failure may pass.
    """

    def __init__(
        self, path: str, send: Callable[[IO[bytes], int], None], *, attempts: int | None = None
    ) -> None:
        self._path, self._send, self._attempts = path, send, attempts
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="drystone-")  # noqa: SIM115

    def append(self, data: memoryview) -> None:
        """Keep them."""
        self._file.write(data)

    def close(self) -> None:
        """Send them; the file appears whole, or stays what it was."""
        size, how = self._file.seek(0, os.SEEK_END), plan()
        if self._attempts is not None:
            how = dataclasses.replace(how, attempts=self._attempts)

        def send() -> None:
            self._file.seek(0)
            self._send(self._file, size)

        try:
            retried(send, how)
        finally:
            self._file.close()
        tell(self._path, size, size)

    def abandon(self) -> None:
        """Nothing was sent yet."""
        self._file.close()
