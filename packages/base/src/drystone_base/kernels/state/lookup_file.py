"""Lookup tables filled from a text file, one entry a line."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import INT64, STRING, DType
from drystone_base.core.tensor import string_array
from drystone_base.files.uris import as_path
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.state._tables import table_of
from drystone_base.kernels.state.lookup import fill_once

_WHOLE_LINE: Final = -2
_LINE_NUMBER: Final = -1


@kernel("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
def initialize_from_text_file(call: Call, handle: Any, filename: Array) -> tuple[()]:
    """Fill a table from columns of a file.

    An index of -2 is the whole line, -1 its number (plus ``offset``), else a column between
    delimiters. ``vocab_size`` lines are read, or all for -1.
    """
    table = table_of(call, handle)
    a = call.attrs
    call.require(
        len(a["delimiter"].encode()) == 1,
        "the delimiter must be one byte",
        found=repr(a["delimiter"]),
        needed="one byte",
    )
    for index, dtype in ((a["key_index"], table.key_dtype), (a["value_index"], table.value_dtype)):
        call.require(
            index != _LINE_NUMBER or dtype is INT64,
            "line numbers are int64",
            found=dtype,
            needed="int64",
        )
    lines = vocabulary(call, scalar_string(call, filename, "the file name"), a["vocab_size"])
    keys = _column(call, lines, a["key_index"], table.key_dtype)
    values = _column(call, lines, a["value_index"], table.value_dtype)
    fill_once(call, table, keys, values)
    return ()


def vocabulary(call: Call, filename: bytes, count: int) -> list[bytes]:
    """The first ``count`` lines of a file, or all for -1; none is empty."""
    path = as_path(filename.decode("utf-8", "surrogateescape"))
    call.runtime.access.check_read(call, path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        call.fail(
            "the vocabulary file must be readable",
            found=str(path),
            needed="a text file",
            status="NOT_FOUND",
            inner=error,
        )
    lines = raw.replace(b"\r", b"").split(b"\n")
    lines = lines[:-1] if lines[-1] == b"" else lines
    call.require(
        count <= len(lines),
        "the file must have vocab_size lines",
        found=f"{len(lines)} lines in {path}",
        needed=count,
    )
    lines = lines[:count] if count >= 0 else lines
    call.require(
        b"" not in lines, "lines must not be empty", found=f"an empty line in {path}", needed="text"
    )
    return lines


def _column(call: Call, lines: list[bytes], index: int, dtype: DType) -> Array:
    if index == _LINE_NUMBER:
        start = int(call.attrs["offset"])
        return np.arange(start, start + len(lines), dtype=np.int64)
    cells = lines if index == _WHOLE_LINE else [_cell(call, line, index) for line in lines]
    if dtype is STRING:
        return string_array(cells, (len(cells),))
    try:
        read = float if dtype.is_floating else int
        return np.array([read(c) for c in cells], dtype.np)
    except (ValueError, OverflowError) as error:
        call.fail("a cell must hold the table's type", found=str(error), needed=dtype, inner=error)


def _cell(call: Call, line: bytes, index: int) -> bytes:
    cells = line.split(call.attrs["delimiter"].encode())
    call.require(
        index < len(cells),
        "a line must have the column",
        found=f"{len(cells)} columns in {line[:80]!r}",
        needed=f"at least {index + 1}",
    )
    return cells[index]
