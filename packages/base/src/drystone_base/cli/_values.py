"""Arrays between files, models and people: npz in and out, summaries, made-up inputs."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

import click
import numpy as np

from drystone_base.dtypes import DType, from_numpy
from drystone_base.errors import BadRequest
from drystone_base.loaders._files import missing_file, writing
from drystone_base.tensor import string_array
from drystone_base.uris import uri_of

__all__ = ["Array", "made_up", "read_npz", "summary", "write_npz"]

Array: TypeAlias = np.ndarray[Any, Any]

_BATCH: Final = 1
_OTHER: Final = 32
_WORDS: Final = (b"stone", b"wall", b"graph", b"node", b"edge", b"field", b"rain", b"hill")
_MAX_MADE_UP: Final = 2**28  # elements; more is a mistake in a shape rather than an input


def read_npz(path: Path) -> dict[str, Array]:
    """The arrays of a ``.npz`` file by name.

    Raises ``BadRequest`` (``bad-array-file``) for a file that is no npz, or holds pickled objects,
    and for one that is not there (``file-not-found``).
    """
    try:
        if not path.exists():
            missing_file(path, BadRequest)
        with path.open("rb") as stream:
            file = np.load(stream, allow_pickle=False)
            if isinstance(file, np.ndarray):
                _bad_file(path, "one array without a name, as numpy.save writes it", None)
            with file:
                return {name: file[name] for name in file.files}
    except BadRequest:
        raise
    except OSError as error:
        _bad_file(path, "a file that cannot be read", error)
    except (ValueError, EOFError, KeyError, MemoryError, SyntaxError) as error:
        _bad_file(path, "what NumPy refuses", error)
    except Exception as error:  # zipfile and zlib have exceptions of their own
        _bad_file(path, "a damaged archive", error)


def _bad_file(path: Path, found: str, inner: Exception | None) -> NoReturn:
    raise BadRequest(
        f"the arrays in {str(path)!r} cannot be read",
        check="a file of arrays must be an .npz without pickled objects",
        found=found,
        needed="what numpy.savez writes; strings as fixed-width bytes (dtype 'S')",
        remedy="write it with numpy.savez(path, name=array, ...)",
        code="bad-array-file",
        inner=inner,
    ) from inner


def write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name. Strings become fixed-width bytes, narrow floats and ints wider ones.

    Raises ``BadRequest`` (``cannot-write``) for a path that cannot be written, and for values that
    no file holds: resources and variants.
    """
    storable = {name: _storable(name, np.asarray(a)) for name, a in arrays.items()}
    with writing(path):
        if uri_of(path) is None:
            with path.open("wb") as file:
                np.savez(file, **storable)  # type: ignore[arg-type]
        else:  # np.savez goes back in what it writes, and stores write on
            whole = io.BytesIO()
            np.savez(whole, **storable)  # type: ignore[arg-type]
            path.write_bytes(whole.getbuffer())


def _storable(name: str, array: Array) -> Array:
    if array.dtype == object:
        flat = array.ravel().tolist()
        if not all(isinstance(v, bytes) for v in flat):
            raise BadRequest(
                f"output {name!r} cannot be saved",
                check="a saved output must hold numbers or strings",
                found="a resource or a variant",
                needed="numbers or strings",
                remedy="fetch a tensor that is computed from it",
                code="cannot-write",
            )
        if any(v.endswith(b"\0") for v in flat):
            click.echo(f"warning: trailing NUL bytes of {name!r} are lost in an .npz", err=True)
        return np.array(flat, dtype="S").reshape(array.shape)
    if array.dtype.kind == "V" or array.dtype.isbuiltin == 2:  # what ml_dtypes adds to NumPy
        return array.astype(np.float32 if from_numpy(array.dtype).is_floating else np.int32)
    return array


def summary(array: Array) -> dict[str, Any]:
    """Dtype, shape and contents of an array, ready for a table row or JSON."""
    facts: dict[str, Any] = {"dtype": _label(array), "shape": list(array.shape)}
    if array.dtype == object or array.dtype.kind in "SU":
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
    if array.dtype.kind in "SU" or array.dtype == object:
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
