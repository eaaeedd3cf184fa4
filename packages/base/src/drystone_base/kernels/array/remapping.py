"""Warm starts: a matrix of a checkpoint, its rows and columns put where new words are.

Source: TensorFlow ops LoadAndRemapMatrix, GenerateVocabRemapping.
"""

from __future__ import annotations

import numpy as np

from drystone_base.checkpoint import BundleReader
from drystone_base.core.dtypes import FLOAT32
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.state.checkpoint import readable_prefix
from drystone_base.kernels.state.lookup_file import vocabulary


@kernel("GenerateVocabRemapping")
def generate_vocab_remapping(call: Call, new_file: Array, old_file: Array) -> tuple[Array, Array]:
    """The old line number of each new word, -1 for words that are new, and how many are not."""
    a = call.attrs
    names = [scalar_string(call, v, "a file name") for v in (new_file, old_file)]
    call.require(all(names), "a file name must not be empty", found=names)
    new = vocabulary(call, names[0], -1)
    first, count = a["new_vocab_offset"], a["num_new_vocab"]
    call.require(
        first + count <= len(new),
        "the new file must have a line for each new word",
        found=f"{len(new)} lines",
        needed=first + count,
    )
    old = vocabulary(call, names[1], a["old_vocab_size"])
    place: dict[bytes, int] = {}
    for k, word in enumerate(old):
        call.require(
            place.setdefault(word, k) == k,
            "a word must have one line",
            found=f"{word!r} in lines {place[word]} and {k}",
            status="FAILED_PRECONDITION",
        )
    found = np.array([place.get(w, -1) for w in new[first : first + count]], np.int64)
    return found, np.array((found >= 0).sum(), np.int32)


def _mapped(call: Call, mapping: Array, name: str, count: int) -> Array:
    call.require(
        mapping.shape == (count,),
        f"{name} must have an entry for each one of the result",
        found=list(mapping.shape),
        needed=[count],
    )
    known = mapping[mapping >= 0]
    call.require(
        np.unique(known).size == known.size,
        f"an entry of {name} must not occur twice",
        found=known[:8].tolist(),
        status="UNIMPLEMENTED",
    )
    return np.maximum(mapping, -1)


def _matrix(call: Call, prefix: Array, name: Array) -> Array:
    """The matrix of the checkpoint."""
    reader = BundleReader(readable_prefix(call, prefix))
    text = scalar_string(call, name, "old_tensor_name").decode("utf-8", "surrogateescape")
    entry = reader.entry(text)
    call.require(
        entry.dtype is FLOAT32,
        f"tensor {text!r} must be of type float32",
        found=entry.dtype,
        needed=FLOAT32,
    )
    call.require(
        len(entry.shape) == 2, f"tensor {text!r} must be a matrix", found=list(entry.shape)
    )
    return reader.tensor(text)


@kernel("LoadAndRemapMatrix")
def load_and_remap_matrix(
    call: Call, prefix: Array, name: Array, rows: Array, columns: Array, initial: Array
) -> Array:
    """Rows and columns of a checkpoint's matrix, by their old places; -1 takes initial values."""
    height, width = call.attrs["num_rows"], call.attrs["num_cols"]
    at = _mapped(call, rows, "row_remapping", height)
    across = _mapped(call, columns, "col_remapping", width) if columns.size else None
    old = _matrix(call, prefix, name)
    across = np.arange(width) if across is None else across
    for limit, places, what in ((old.shape[0], at, "row"), (old.shape[1], across, "column")):
        call.require(
            not places.size or int(places.max()) < limit,
            f"an old {what} must be one of the matrix",
            found=int(places.max(initial=-1)),
            needed=f"less than {limit}",
        )
    call.require(
        columns.size > 0 or width == old.shape[1],
        "without col_remapping there must be as many columns as before",
        found=old.shape[1],
        needed=width,
    )
    out = np.zeros(check_size(call, (height, width), np.dtype(np.float32)), np.float32)
    kept = np.ix_(at >= 0, across >= 0)
    out[kept] = old[np.ix_(at[at >= 0], across[across >= 0])]
    missing = ~((at >= 0)[:, None] & (across >= 0)[None, :])
    call.require(
        int(missing.sum()) == initial.size,
        "there must be an initial value for each missing number",
        found=initial.size,
        needed=int(missing.sum()),
    )
    out[missing] = initial.reshape(-1)
    return out
