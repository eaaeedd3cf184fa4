"""Files on disk: read-only maps, and guesses at what a file is."""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, Final, NoReturn

from drystone_base.core.errors import BadModelFile, DrystoneError, HostError, near_matches
from drystone_base.files.mapped import MappedFile
from drystone_base.files.uris import Ranges, as_path, uri_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "is_text",
    "map_file",
    "map_ranges",
    "missing_file",
    "unreadable_file",
]

# The first thing in a textual proto that is no comment: a field name with its value or block.
_TEXT_START: Final = rb"\s*(?:#[^\n]*\n\s*)*[A-Za-z_]\w*\s*[:{<]"
_NOT_TEXT: Final = bytes((*range(9), 11, *range(14, 32)))
_SAMPLE: Final = 4096


def map_file(path: str | Path) -> memoryview:
    """The bytes of a file, mapped read-only; they are read from disk when first touched.

    Raises ``BadModelFile`` (``file-not-found``, ``file-unreadable``).
    """
    try:
        there = uri_of(path)
        if there is not None:
            return Ranges(there)[:]
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError(f"{os.path.basename(path)} is not a plain file")
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return memoryview(b"")
            return memoryview(MappedFile.of(file))
    except FileNotFoundError:
        missing_file(path)
    except (OSError, ValueError) as error:
        unreadable_file(path, error)


def unreadable_file(path: str | Path, error: OSError | ValueError) -> NoReturn:
    """Raise ``BadModelFile`` (``file-unreadable``) with what the system said."""
    many = isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)
    store = error.__cause__ if isinstance(error.__cause__, HostError) else None
    if store is not None:
        _unanswered(path, error, store)
    raise BadModelFile(
        f"{path} cannot be read",
        check="the file must be readable",
        found=str(error),
        needed="a plain file that may be read",
        remedy="drop models that are not in use, which keep their files open, or raise the "
        "limit: `ulimit -n`"
        if many
        else "check the path and its permissions",
        code="file-unreadable",
        status="FAILED_PRECONDITION",
        inner=error,
    ) from error


def _unanswered(path: str | Path, error: Exception, store: HostError) -> NoReturn:
    raise BadModelFile(
        f"{path} cannot be read",
        check="the store that the file is in must answer",
        found=store.found,
        needed="its bytes",
        remedy="check the address, and that you may read there"
        if store.status in ("PERMISSION_DENIED", "UNAUTHENTICATED")
        else "check the address and the network, and try again",
        code="file-unreadable",
        status=store.status,
        inner=error,
    ) from error


def missing_file(given: str | Path, kind: type[DrystoneError] = BadModelFile) -> NoReturn:
    """Raise ``kind`` (``file-not-found``) with near matches from the folder."""
    path = as_path(given)
    try:
        beside = sorted(p.name for p in path.parent.iterdir())
    except (OSError, ValueError):
        beside = []
    near = near_matches(path.name, beside)
    raise kind(
        f"{path} does not exist",
        check="the path must exist",
        found=f"in {path.parent}: {', '.join(beside[:8])}"
        if beside
        else f"no folder {path.parent}",
        needed=path.name,
        remedy=f"did you mean {', '.join(near)}?" if near else "check the path",
        code="file-not-found",
        status="NOT_FOUND",
    )


def map_ranges(path: Path) -> memoryview | Ranges:
    """The bytes of a file as :func:`map_file` has them; behind a scheme, parts when asked for."""
    there = uri_of(path)
    return map_file(path) if there is None else Ranges(there)


def is_text(data: memoryview) -> bool:
    """Whether bytes look like a proto in text form rather than a binary one."""
    sample = bytes(data[:_SAMPLE])
    if sample.translate(None, _NOT_TEXT) != sample:
        return False
    return re.match(_TEXT_START, sample) is not None or sample.lstrip().startswith(b"#")
