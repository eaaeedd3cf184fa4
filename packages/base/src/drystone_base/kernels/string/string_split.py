"""Cutting strings into tokens, and joining neighbouring tokens into n-grams."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._pieces import elements
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import attr_bytes, scalar_string


def _sparse_rows(rows: Sequence[list[bytes]]) -> tuple[Array, Array, Array]:
    """Rows of tokens as a sparse matrix: indices int64 ``[n, 2]``, values, dense shape."""
    counts = np.array([len(row) for row in rows], np.int64)
    flat = [token for row in rows for token in row]
    row_ids = np.repeat(np.arange(len(rows), dtype=np.int64), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    columns = np.arange(len(flat), dtype=np.int64) - starts
    shape = np.array([len(rows), counts.max(initial=0)], np.int64)
    return np.stack([row_ids, columns], axis=1), string_array(flat, (len(flat),)), shape


def _check_vector(call: Call, values: Array) -> None:
    call.require(
        values.ndim == 1, "the input must be a vector", found=list(values.shape), needed="rank 1"
    )


@kernel("StringSplit")
def string_split(call: Call, values: Array, delimiter: Array) -> tuple[Array, Array, Array]:
    """Tokens between any of the delimiter's bytes; an empty delimiter makes each byte a token."""
    _check_vector(call, values)
    cut = scalar_string(call, delimiter, "the delimiter")
    pattern = re.compile(b"[" + re.escape(cut) + b"]") if len(cut) > 1 else None

    def tokens(text: bytes) -> list[bytes]:
        if not text:
            return []
        if not cut:
            return [text[k : k + 1] for k in range(len(text))]
        found = pattern.split(text) if pattern else text.split(cut)
        return [t for t in found if t] if call.attrs["skip_empty"] else found

    return _sparse_rows([tokens(text) for text in elements(values)])


@kernel("StringSplitV2")
def string_split_v2(call: Call, values: Array, sep: Array) -> tuple[Array, Array, Array]:
    """Tokens between the separator, or between runs of whitespace when it is empty."""
    _check_vector(call, values)
    cut = scalar_string(call, sep, "the separator")
    limit = call.attrs["maxsplit"]
    if not cut and limit >= 0:
        return _sparse_rows([_words(text, limit) for text in elements(values)])
    return _sparse_rows([text.split(cut or None, limit) for text in elements(values)])


def _words(text: bytes, limit: int) -> list[bytes]:
    """At most ``limit`` words, then what is left, which may be nothing."""
    if limit == 0:
        return [text]
    words: list[bytes] = []
    rest = text.lstrip()
    while rest:
        word = rest.split(None, 1)[0]
        words.append(word)
        rest = rest[len(word) :].lstrip()
        if len(words) == limit:
            return [*words, rest]
    return words


@kernel("StringNGrams")
def string_ngrams(call: Call, data: Array, data_splits: Array) -> tuple[Array, Array]:
    """N-grams of each row of a ragged tensor of tokens: strings, and the rows' new splits."""
    _check_vector(call, data)
    splits = np.atleast_1d(data_splits).tolist()
    valid = not splits or (
        splits[0] == 0
        and splits[-1] == len(data)
        and all(a <= b for a, b in itertools.pairwise(splits))
    )
    call.require(
        valid,
        "row splits must lead from 0 to the number of tokens",
        found=splits[:10],
        needed=f"ascending, from 0 to {len(data)}",
    )
    widths = call.attrs["ngram_widths"]
    call.require(
        all(w > 0 for w in widths),
        "n-gram widths must be positive",
        found=widths,
        needed="1 or more",
    )
    tokens = data.tolist()
    if not tokens:  # not even padding
        return data, np.zeros_like(data_splits)
    out: list[bytes] = []
    ends = [0] if splits else []
    for start, end in itertools.pairwise(splits):
        out += _row_ngrams(call, tokens[start:end], widths)
        ends.append(len(out))
    return string_array(out, (len(out),)), np.array(ends, data_splits.dtype)


def _row_ngrams(call: Call, row: list[bytes], widths: list[int]) -> list[bytes]:
    pad = call.attrs["pad_width"]
    out: list[bytes] = []
    for width in widths:
        reach = min(width - 1 if pad < 0 else pad, width - 1)
        out += _windows(call, row, width, reach)
    if not out and row and call.attrs["preserve_short_sequences"]:
        reach = max(pad, 0)
        out += _windows(call, row, len(row) + 2 * reach, reach)
    return out


def _windows(call: Call, row: list[bytes], width: int, pad: int) -> Iterator[bytes]:
    """Windows of ``width`` tokens over the row with ``pad`` padding tokens at either end."""
    check_size(call, (max(len(row) + 2 * pad - width + 1, 0), width), np.dtype(object))
    left, right = [attr_bytes(call, "left_pad")] * pad, [attr_bytes(call, "right_pad")] * pad
    padded = left + row + right
    separator = attr_bytes(call, "separator")
    for start in range(len(padded) - width + 1):
        yield separator.join(padded[start : start + width])
