"""Ops of datasets that read files, under the session's access policy."""

from __future__ import annotations

import os
from collections.abc import Sequence

from drystone_base.core.tensor import string_array
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.data._datasets.base import part, positive, scalar
from drystone_base.kernels.data._datasets.csv import CsvRecords, CsvSpec
from drystone_base.kernels.data._datasets.files import (
    COMPRESSIONS,
    FixedLength,
    Lines,
    Names,
    Records,
)
from drystone_base.kernels.io.files import matching_files
from drystone_base.state.variables import handle_array


def _names(call: Call, value: Array) -> Sequence[bytes]:
    call.require(
        value.ndim <= 1, "file names must be a scalar or a vector", found=list(value.shape)
    )
    names: list[bytes] = value.reshape(-1).tolist()
    return names


def _compression(call: Call, value: Array, known: bool = True) -> str:
    name = os.fsdecode(scalar_string(call, value, "the compression"))
    call.require(
        not known or name in COMPRESSIONS,
        "the compression must be known",
        found=repr(name),
        needed="'', 'ZLIB' or 'GZIP'",
    )
    return name


def _check_buffer(call: Call, value: Array, least: int = 0) -> None:
    size = scalar(call, "buffer_size", value)
    call.require(
        size >= least, "a buffer size must not be negative", found=size, needed=f"{least} or more"
    )


@kernel("TextLineDataset")
def text_line_dataset(call: Call, names: Array, compression: Array, buffer_size: Array) -> Array:
    """A dataset of the lines of files, each a scalar string without its end of line.

    ``names``: strings of any shape; ``compression``: "", ZLIB or GZIP. Raises ``KernelError``.
    """
    kind = _compression(call, compression)
    _check_buffer(call, buffer_size)
    return handle_array(Lines(call, _names(call, names), kind))


@kernel("TFRecordDataset", "TFRecordDatasetV2")
def tf_record_dataset(
    call: Call, names: Array, compression: Array, buffer_size: Array, *offsets: Array
) -> Array:
    """A dataset of the records of TFRecord files, each a scalar string.

    ``names``: strings; ``offsets``: int64, where to begin in each file. Raises ``KernelError``.
    """
    kind = _compression(call, compression, known=False)
    _check_buffer(call, buffer_size, least=-1)
    files = _names(call, names)
    starts = [int(v) for value in offsets for v in value.reshape(-1)]
    call.require(
        not starts or len(starts) >= len(files),
        "there must be a place to begin for each file, or none",
        found=starts,
        needed=f"{len(files)} offsets",
    )
    return handle_array(Records(call, files, kind, starts))


@kernel("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2")
def fixed_length_record_dataset(
    call: Call, names: Array, header: Array, record: Array, footer: Array, *more: Array
) -> Array:
    """A dataset of records of ``record`` bytes, each a scalar string.

    Int64 scalars say how long header, records and footer are. Raises ``KernelError``.
    """
    kind = _compression(call, more[1]) if len(more) > 1 else ""
    sizes = (
        scalar(call, "header_bytes", header),
        positive(call, "record_bytes", record),
        scalar(call, "footer_bytes", footer),
    )
    call.require(
        min(sizes) >= 0, "sizes must not be negative", found=list(sizes), needed="0 or more"
    )
    _check_buffer(call, more[0])
    return handle_array(FixedLength(call, _names(call, names), kind, sizes))


@kernel("MatchingFilesDataset", "ExperimentalMatchingFilesDataset")
def matching_files_dataset(call: Call, patterns: Array) -> Array:
    """The names of files that match patterns."""

    def find(node: Call, pattern: bytes) -> Array:
        found: Array = matching_files(node, string_array([pattern], ()))
        return found

    return handle_array(Names(call, _names(call, patterns), find))


@kernel("CSVDataset", "CSVDatasetV2", "ExperimentalCSVDataset")
def csv_dataset(call: Call, *inputs: Array) -> Array:
    """A dataset of the records of CSV files: scalars of the dtypes in ``output_types``.

    A default is a vector of one value, or of none for a column that must be there. Raises
    ``KernelError``.
    """
    one = {n: inputs[w][0] for n, w in call.input_slices.items() if w.stop == w.start + 1}
    delimiter = scalar_string(call, one["field_delim"], "the delimiter")
    call.require(
        len(delimiter) == 1, "the delimiter must be one byte", found=repr(delimiter), needed="one"
    )
    defaults = part(call, "record_defaults", inputs)
    for default in defaults:
        call.require(
            default.ndim <= 1 and default.size <= 1,
            "a default must be one value, or none",
            found=list(default.shape),
            needed="[0], [1] or a scalar",
        )
    chosen, left_out = _columns(call, one, len(defaults))
    spec = CsvSpec(
        bool(one["header"]),
        delimiter,
        bool(one["use_quote_delim"]),
        scalar_string(call, one["na_value"], "the mark of missing values"),
        defaults,
        chosen,
        left_out,
    )
    _check_buffer(call, one["buffer_size"], least=1)
    kind = _compression(call, one["compression_type"])
    return handle_array(CsvRecords(call, _names(call, one["filenames"]), kind, spec))


def _columns(call: Call, one: dict[str, Array], count: int) -> tuple[list[int], list[int]]:
    """The columns that are taken (all for none), and those that are left out."""
    chosen = [int(v) for v in one["select_cols"]]
    left_out = [int(v) for v in one["exclude_cols"]] if "exclude_cols" in one else []
    call.require(
        not chosen or not left_out,
        "columns are either selected or excluded",
        found=f"{chosen} and {left_out}",
        needed="one of them",
    )
    for columns in (chosen, left_out):
        call.require(
            columns == sorted(set(columns)) and min(columns, default=0) >= 0,
            "columns must be ascending and not negative",
            found=columns,
            needed="0 <= a < b < ...",
        )
    call.require(
        not chosen or len(chosen) == count,
        "there must be one default for each selected column",
        found=count,
        needed=len(chosen),
    )
    return chosen, left_out
