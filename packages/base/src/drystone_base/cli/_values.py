"""Arrays between files, models and people: npz in and out, summaries, made-up inputs."""

from __future__ import annotations

import io
import itertools
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, TypeAlias

import numpy as np

from drystone_base.core.dtypes import DType, from_numpy
from drystone_base.core.errors import BadRequest
from drystone_base.core.tensor import as_strings, string_array
from drystone_base.files.local import missing_file
from drystone_base.files.uris import as_path, uri_of
from drystone_base.files.writing import Draft, writing

__all__ = [
    "Array",
    "bad_array_file",
    "made_up",
    "read_arrays",
    "read_npz",
    "summary",
    "write_npz",
]

Array: TypeAlias = np.ndarray[Any, Any]

_BYTES: Final = "#bytes"
_LENGTHS: Final = "#lengths"
_LIKE_A_MEMBER: Final = re.compile(f"(?:{_BYTES}|{_LENGTHS})#*$")
"""Of a name that ends as those of members do, and is stored with another # at its end."""
_SPARE: Final = 1 << 20  # bytes that strings of one width may take more than their own
_BATCH: Final = 1
_OTHER: Final = 32
_WORDS: Final = (b"stone", b"wall", b"graph", b"node", b"edge", b"field", b"rain", b"hill")
_LONGEST_NAME: Final = (1 << 16) - 64  # bytes: what a zip archive can state, with room for more
_MAX_MADE_UP: Final = 2**28  # elements; more is a mistake in a shape rather than an input


def read_npz(path: Path) -> dict[str, Array]:
    """The arrays of a ``.npz`` file by name.

    Raises ``BadRequest`` (``bad-array-file``) for a file that is no npz, or holds pickled objects,
    and for one that is not there (``file-not-found``).
    """
    found = _loaded(path)
    if isinstance(found, np.ndarray):
        bad_array_file(path, "one array without a name, as numpy.save writes it", None)
    return found


def read_arrays(path: Path) -> dict[str, Array]:
    """The arrays of a ``.npz`` file by name, or the only one of a ``.npy`` file, named ``""``.

    Raises ``BadRequest`` (``bad-array-file``) for a file that is neither, or holds pickled objects,
    and for one that is not there (``file-not-found``).
    """
    found = _loaded(path)
    return {"": found} if isinstance(found, np.ndarray) else found


def _loaded(path: Path) -> Array | dict[str, Array]:
    try:
        if not path.exists():
            missing_file(path, BadRequest)
        with path.open("rb") as stream:
            file = np.load(stream, allow_pickle=False)
            if isinstance(file, np.ndarray):
                return file
            with file:
                entries = file.zip.namelist()  # by entry: NumPy takes x.npy for x where both are
                return whole_strings({e.removesuffix(".npy"): file[e] for e in entries})
    except BadRequest:
        raise
    except OSError as error:
        bad_array_file(path, "a file that cannot be read", error)
    except (ValueError, EOFError, KeyError, MemoryError, SyntaxError) as error:
        bad_array_file(path, "what NumPy refuses", error)
    except Exception as error:  # zipfile and zlib have exceptions of their own
        bad_array_file(path, "a damaged archive", error)


def bad_array_file(
    path: Path, found: str, inner: Exception | None, needed: str = "what numpy.savez writes"
) -> NoReturn:
    """Raise ``BadRequest`` (``bad-array-file``) for a file of values."""
    raise BadRequest(
        f"the arrays in {str(path)!r} cannot be read",
        check="a file of values must hold numbers or strings by name, and no pickled objects",
        found=found,
        needed=needed,
        remedy="write it with numpy.savez(path, name=array, ...); feed strings of any bytes "
        'with --input NAME=@FILE, or as {"b64": "..."} in JSON',
        code="bad-array-file",
        inner=inner,
    ) from inner


def write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name. Narrow floats and ints become wider ones.

    Strings become fixed-width bytes where these hold all of them and take little more room, else
    two arrays: ``NAME#bytes``, all of them in a row, and ``NAME#lengths``. :func:`read_npz` reads
    both. Names that end so themselves get another ``#``. Raises ``BadRequest`` (``cannot-write``)
    for a path that cannot be written, and for values that no file holds: resources and variants.
    """
    storable: dict[str, Array] = {}
    for name, array in arrays.items():
        storable |= _storable(f"{name}#" if _LIKE_A_MEMBER.search(name) else name, array)
    named = {f"{_entry_name(name)}.npy": array for name, array in storable.items()}
    with writing(path):
        if path.exists() and not (path.is_file() or path.is_dir()):  # a device or a pipe
            path.write_bytes(_archive(named))
        else:
            with Draft(as_path(os.path.realpath(path)) if uri_of(path) is None else path) as draft:
                _write_archive(draft.file, named)
                draft.put_in_place()


def _entry_name(name: str) -> str:
    """The name, if an archive can state it. Raises ``BadRequest`` (``cannot-write``)."""
    with suppress(UnicodeEncodeError):
        if "\0" not in name and len(name.encode()) <= _LONGEST_NAME:
            return name
    raise BadRequest(
        f"an output named {name[:40]!r} cannot be saved",
        check="a name in an .npz must be UTF-8 without NUL, and of a bounded length",
        found=f"a name of {len(name)} characters",
        needed=f"{_LONGEST_NAME} bytes of UTF-8 at most, none of them 0",
        remedy="fetch the tensor by its own name: --fetch NODE:0",
        code="cannot-write",
    )


def _write_archive(file: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """As ``numpy.savez``, whose own arguments take some names (``file``)."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(name, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _archive(arrays: Mapping[str, Array]) -> bytes:
    whole = io.BytesIO()
    _write_archive(whole, arrays)
    return whole.getvalue()


def _storable(name: str, array: Array) -> dict[str, Array]:
    if array.dtype.kind in "OSUT":
        try:
            return _string_members(name, as_strings(array))
        except TypeError as error:
            raise BadRequest(
                f"output {name!r} cannot be saved",
                check="a saved output must hold numbers or strings",
                found="a resource or a variant",
                needed="numbers or strings",
                remedy="fetch a tensor that is computed from it",
                code="cannot-write",
            ) from error
    if array.dtype.kind == "V" or array.dtype.isbuiltin == 2:  # what ml_dtypes adds to NumPy
        wide = array.astype(np.float32 if from_numpy(array.dtype).is_floating else np.int32)
        return {name: wide}
    return {name: array}


def _string_members(name: str, array: Array) -> dict[str, Array]:
    values = array.ravel().tolist()
    lengths = np.array([len(v) for v in values], np.int64)
    padded = int(lengths.max(initial=0)) * len(values)
    if padded <= 4 * int(lengths.sum()) + _SPARE and not any(v.endswith(b"\0") for v in values):
        return {name: np.array(values, dtype="S").reshape(array.shape)}
    whole = np.frombuffer(b"".join(values), np.uint8)
    return {name + _BYTES: whole, name + _LENGTHS: lengths.reshape(array.shape)}


def whole_strings(arrays: dict[str, Array]) -> dict[str, Array]:
    """The arrays of a file, strings that lie in two of them put together; raises ``ValueError``.

    Names that end as those of such members, and in another ``#``, lose that.
    """
    found: dict[str, Array] = {}
    for name, array in arrays.items():
        owner = name.removesuffix(_LENGTHS)
        if owner != name and owner + _BYTES in arrays:
            found[owner] = _joined(arrays[owner + _BYTES], array)
        elif name.removesuffix(_BYTES) + _LENGTHS not in arrays or not name.endswith(_BYTES):
            found[name] = array
    return {_own_name(name): array for name, array in found.items()}


def _own_name(name: str) -> str:
    like = _LIKE_A_MEMBER.search(name)
    return name[:-1] if like and like[0] not in (_BYTES, _LENGTHS) else name


def _joined(whole: Array, lengths: Array) -> Array:
    fits = lengths.dtype.kind in "iu" and whole.dtype == np.uint8
    if not fits or lengths.min(initial=0) < 0 or int(lengths.sum()) != whole.size:
        raise ValueError("the lengths of strings do not fit their bytes")
    data, ends = whole.tobytes(), np.cumsum(lengths.ravel()).tolist()
    return string_array([data[a:b] for a, b in itertools.pairwise([0, *ends])], lengths.shape)


def summary(array: Array) -> dict[str, Any]:
    """Dtype, shape and contents of an array, ready for a table row or JSON."""
    facts: dict[str, Any] = {"dtype": _label(array), "shape": list(array.shape)}
    if array.dtype == object or array.dtype.kind in "SUT":
        facts["values"] = [_shown(v) for v in array.ravel()[:4].tolist()]
        return facts
    numbers = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    finite = numbers[np.isfinite(numbers)] if numbers.size else numbers
    facts["not_finite"] = int(numbers.size - finite.size)
    if finite.size and numbers.dtype.kind != "c":
        facts |= {
            "min": float(finite.min()), "mean": float(finite.mean()), "max": float(finite.max()),
        }  # fmt: skip
    facts["values"] = [v.item() for v in numbers.ravel()[:4]]
    return facts


def _label(array: Array) -> str:
    if array.dtype.kind in "SUT" or array.dtype == object:
        return "string"
    return from_numpy(array.dtype).label


def _shown(value: Any) -> str:
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return text if len(text) <= 32 else text[:31] + "…"


def made_up(
    name: str,
    dtype: DType,
    shape: Sequence[int] | None,
    rng: np.random.Generator,
) -> Array:
    """An input of that dtype: numbers in [0, 1), ints 0 and 1, words. Unknown sizes get a default.

    Raises ``BadRequest`` (``cannot-make-input``) for resources, variants and absurd shapes.
    """
    full = fill_shape(shape)
    count = 1
    for dim in full:
        count *= dim
    if count > _MAX_MADE_UP:
        _cannot(name, f"shape {list(full)}", f"at most {_MAX_MADE_UP} elements")
    if dtype.label == "string":
        return string_array([_WORDS[k] for k in rng.integers(0, len(_WORDS), count)], full)
    if dtype.is_object:
        _cannot(name, f"a {dtype} input", "numbers or strings")
    if dtype.label == "bool":
        return rng.integers(0, 2, full).astype(bool)
    if dtype.is_integer or dtype.is_quantized:
        # 0 and 1 are valid indices of nearly everything that a model looks up.
        return rng.integers(0, 2, full).astype(dtype.np)
    values = rng.random(full)
    return (values + 1j * rng.random(full) if dtype.is_complex else values).astype(dtype.np)


def fill_shape(shape: Sequence[int] | None) -> tuple[int, ...]:
    """The shape with sizes in place of unknown ones: 1 for the first dimension, 32 for others.

    An input of unknown rank is a scalar: most often a flag or a rate.
    """
    if shape is None:
        return ()
    return tuple(d if d >= 0 else (_OTHER if k else _BATCH) for k, d in enumerate(shape))


def _cannot(name: str, found: str, needed: str) -> NoReturn:
    raise BadRequest(
        f"input {name!r} cannot be made up",
        check="an input without a value must be one that can be made from its signature",
        found=found,
        needed=needed,
        remedy="give it with --inputs FILE.npz, or its sizes with --shape NAME=SIZES",
        code="cannot-make-input",
    )
