"""Whole files as strings, and file names by pattern; paths are local or have a scheme."""

from __future__ import annotations

import glob
import os
import re
from typing import Final

from drystone_base.core.tensor import string_array
from drystone_base.files.uris import as_path, uri_of
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string

_WILDCARD: Final = re.compile(rb"[*?\[]")


@kernel("ReadFile")
def read_file(call: Call, filename: Array) -> Array:
    """The file's bytes; NOT_FOUND when it cannot be read."""
    path = as_path(os.fsdecode(scalar_string(call, filename, "the file name")))
    call.runtime.access.check_read(call, path)
    try:
        return string_array([path.read_bytes()], ())
    except OSError as error:
        call.fail(
            "the file must be readable",
            found=str(path),
            needed="a file",
            status="NOT_FOUND",
            inner=error,
        )


@kernel("WriteFile")
def write_file(call: Call, filename: Array, contents: Array) -> tuple[()]:
    """Write the bytes; folders are made as needed."""
    path = as_path(os.fsdecode(scalar_string(call, filename, "the file name")))
    data = scalar_string(call, contents, "the contents")
    call.runtime.access.check_write(call, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        call.fail(
            "the file must be writable",
            found=str(path),
            needed="a path to a file",
            status="FAILED_PRECONDITION",
            inner=error,
        )
    return ()


@kernel("MatchingFiles")
def matching_files(call: Call, pattern: Array) -> Array:
    """Names that match any of the patterns (``*``, ``?``, ``[a-z]`` in one folder), sorted."""
    call.require(
        pattern.ndim <= 1,
        "patterns must be a scalar or a vector",
        found=list(pattern.shape),
        needed="rank 0 or 1",
    )
    found = {name for one in pattern.ravel().tolist() for name in _matches(call, one)}
    names = sorted(found)
    return string_array(names, (len(names),))


def _matches(call: Call, pattern: bytes) -> list[bytes]:
    """Names that match; the pattern up to its first wildcard, and every name, must be readable."""
    access = call.runtime.access
    access.check_read(call, os.fsdecode(_WILDCARD.split(pattern)[0]))
    names = _listed(pattern)
    for name in names:
        access.check_read(call, os.fsdecode(name))
    return names


def _listed(pattern: bytes) -> list[bytes]:
    """Names that match, of local files or by the filesystem of the pattern's scheme."""
    text = os.fsdecode(pattern)
    place = as_path(text)
    if uri_of(place) is None:
        return glob.glob(os.fsencode(place) if text.startswith("file://") else pattern)
    from drystone_base.host import filesystem

    return [os.fsencode(name) for name in filesystem.glob(text)]
