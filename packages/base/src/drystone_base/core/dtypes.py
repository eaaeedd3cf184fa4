"""Data types: TensorFlow's ``DataType`` numbers and the NumPy types that hold them.

Strings, resources and variants are held in NumPy object arrays. Quantized types are held in the
plain integer of the same width. What NumPy has no type for is one of ``ml_dtypes``, a library that
is opened when the first such type is asked for, which few graphs have. Source: TensorFlow
``DataType``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core.arguments import blame, explaining
from drystone_base.core.errors import GraphError
from drystone_base.core.printable import described

__all__ = ["DType", "all_dtypes", "as_dtype", "from_number", "from_numpy"]

_REF_OFFSET: Final = 100
_REF: Final = "_ref"
_LATE: Final = object()
"""Stands for the type of the same name in ``ml_dtypes``."""


@explaining("__init__")
class DType:
    """One element type. Instances are unique: compare with ``is`` or ``==``.

    ``number`` is TensorFlow's; ``label`` its lower-case name; ``np`` the NumPy type of arrays.
    """

    __slots__ = ("kind", "label", "np", "number")

    def __init__(self, number: int, label: str, np_type: Any, kind: str) -> None:
        self.number = number
        self.label = label
        if np_type is not _LATE:
            self.np: np.dtype[Any] = _numpy_type(np_type)
        self.kind = kind

    def __getattr__(self, name: str) -> Any:
        """``np`` of a type of ``ml_dtypes``, which has not been asked for before."""
        if name != "np":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        import ml_dtypes

        self.np = np.dtype(getattr(ml_dtypes, self.label.removesuffix(_REF)))
        return self.np

    def __repr__(self) -> str:
        return self.label

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return (from_number, (self.number,))

    @property
    def ref(self) -> bool:
        """Whether this is a reference type (the output of ``VariableV2`` and friends)."""
        return self.number > _REF_OFFSET

    @property
    def base(self) -> DType:
        """The type without its reference mark."""
        return from_number(self.number - _REF_OFFSET) if self.ref else self

    @property
    def is_floating(self) -> bool:
        """Whether it is a real floating type, half and 8-bit ones included."""
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether it is a plain (not quantized) integer."""
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether it is a plain unsigned integer."""
        return self.kind == "u"

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex type."""
        return self.kind == "c"

    @property
    def is_quantized(self) -> bool:
        """Whether it is one of ``qint8`` ... ``quint16``."""
        return self.kind == "q"

    @property
    def is_object(self) -> bool:
        """Whether arrays of it hold Python objects (string, resource, variant)."""
        return self.kind == "o"

    @property
    def is_of_numpy(self) -> bool:
        """Whether NumPy itself has the type of its arrays."""
        return self.base not in _OF_ML_DTYPES

    @property
    def size(self) -> int:
        """Bytes an element takes in a file; 0 where the size varies."""
        return 0 if self.is_object else self.np.itemsize


def _numpy_type(given: Any) -> np.dtype[Any]:
    """What NumPy takes something for; raises ``GraphError`` (``bad-dtype``)."""
    try:
        found: np.dtype[Any] = np.dtype(given)
    except Exception as error:  # NumPy raises what it likes, and so does what it asks
        raise GraphError(
            f"NumPy has no dtype {described(given, 100)}",
            check="the arrays of a dtype must have one that NumPy has",
            found=f"{type(given).__name__}: {described(given, 100)}",
            needed="what numpy.dtype takes",
            remedy='give a name such as "float32", or numpy.float32',
            code="bad-dtype",
            inner=error,
        ) from error
    return found


FLOAT32: Final = DType(1, "float32", np.float32, "f")
FLOAT64: Final = DType(2, "float64", np.float64, "f")
INT32: Final = DType(3, "int32", np.int32, "i")
UINT8: Final = DType(4, "uint8", np.uint8, "u")
INT16: Final = DType(5, "int16", np.int16, "i")
INT8: Final = DType(6, "int8", np.int8, "i")
STRING: Final = DType(7, "string", np.object_, "o")
COMPLEX64: Final = DType(8, "complex64", np.complex64, "c")
INT64: Final = DType(9, "int64", np.int64, "i")
BOOL: Final = DType(10, "bool", np.bool_, "b")
QINT8: Final = DType(11, "qint8", np.int8, "q")
QUINT8: Final = DType(12, "quint8", np.uint8, "q")
QINT32: Final = DType(13, "qint32", np.int32, "q")
BFLOAT16: Final = DType(14, "bfloat16", _LATE, "f")
QINT16: Final = DType(15, "qint16", np.int16, "q")
QUINT16: Final = DType(16, "quint16", np.uint16, "q")
UINT16: Final = DType(17, "uint16", np.uint16, "u")
COMPLEX128: Final = DType(18, "complex128", np.complex128, "c")
FLOAT16: Final = DType(19, "float16", np.float16, "f")
RESOURCE: Final = DType(20, "resource", np.object_, "o")
VARIANT: Final = DType(21, "variant", np.object_, "o")
UINT32: Final = DType(22, "uint32", np.uint32, "u")
UINT64: Final = DType(23, "uint64", np.uint64, "u")
FLOAT8_E5M2: Final = DType(24, "float8_e5m2", _LATE, "f")
FLOAT8_E4M3FN: Final = DType(25, "float8_e4m3fn", _LATE, "f")
FLOAT8_E4M3FNUZ: Final = DType(26, "float8_e4m3fnuz", _LATE, "f")
FLOAT8_E4M3B11FNUZ: Final = DType(27, "float8_e4m3b11fnuz", _LATE, "f")
FLOAT8_E5M2FNUZ: Final = DType(28, "float8_e5m2fnuz", _LATE, "f")
INT4: Final = DType(29, "int4", _LATE, "i")
UINT4: Final = DType(30, "uint4", _LATE, "u")
INT2: Final = DType(31, "int2", _LATE, "i")
UINT2: Final = DType(32, "uint2", _LATE, "u")

_BASE: Final[tuple[DType, ...]] = tuple(v for v in list(globals().values()) if isinstance(v, DType))
_OF_ML_DTYPES: Final = frozenset((BFLOAT16, *_BASE[_BASE.index(FLOAT8_E5M2) :]))
_BY_NUMBER: Final[dict[int, DType]] = {d.number: d for d in _BASE} | {
    d.number + _REF_OFFSET: DType(
        d.number + _REF_OFFSET, d.label + _REF, _LATE if d in _OF_ML_DTYPES else d.np, d.kind
    )
    for d in _BASE
}
_BY_LABEL: Final[dict[str, DType]] = {d.label: d for d in _BY_NUMBER.values()} | {
    "float": FLOAT32,
    "double": FLOAT64,
    "half": FLOAT16,
}
_BY_NUMPY: Final[dict[np.dtype[Any], DType]] = {
    d.np: d for d in reversed(_BASE) if not (d.is_quantized or d.is_object or d in _OF_ML_DTYPES)
}


def all_dtypes() -> tuple[DType, ...]:
    """Every type but references, by number."""
    return _BASE


def from_number(number: int) -> DType:
    """The type with TensorFlow's number; raises ``GraphError`` (``bad-dtype``)."""
    try:
        return _BY_NUMBER[number]
    except KeyError:
        raise GraphError(
            f"data type number {described(number, 40)} is unknown",
            check="every dtype must be one of TensorFlow's DataType values",
            found=described(number, 40),
            needed="1-32, or 101-132 for references",
            remedy="the file is corrupt, or was written by a newer TensorFlow",
            code="bad-dtype",
        ) from None
    except Exception as error:
        blame(from_number, error, number)


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """The type whose arrays have this NumPy dtype; bytes, text and objects are ``string``."""
    try:
        found = _BY_NUMPY.get(dtype)
        return found if found is not None else _looked_up(dtype)
    except GraphError:
        raise
    except Exception as error:
        blame(from_numpy, error, dtype)


def _looked_up(dtype: np.dtype[Any]) -> DType:
    if dtype.type.__module__ == "ml_dtypes":
        _BY_NUMPY.update((d.np, d) for d in _OF_ML_DTYPES)
        if dtype in _BY_NUMPY:
            return _BY_NUMPY[dtype]
    if dtype.kind in "SUOT":
        return STRING
    if dtype.newbyteorder("=") in _BY_NUMPY:
        return _BY_NUMPY[dtype.newbyteorder("=")]
    raise GraphError(
        f"NumPy dtype {dtype} has no TensorFlow counterpart",
        check="arrays must have a dtype that TensorFlow has",
        found=dtype,
        needed=", ".join(sorted(d.label for d in _BASE if not d.is_object)),
        remedy="convert the array with .astype(...)",
        code="bad-dtype",
    )


def as_dtype(value: DType | str | int | np.dtype[Any] | type[Any]) -> DType:
    """The type that a label, a number, a NumPy dtype or a DType names.

    Raises ``GraphError`` (``bad-dtype``).
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, int):
        return from_number(value)
    if isinstance(value, str) and value.removeprefix("DT_").lower() in _BY_LABEL:
        return _BY_LABEL[value.removeprefix("DT_").lower()]
    if isinstance(value, str | np.dtype | type):
        try:
            return from_numpy(np.dtype(value))
        except (TypeError, ValueError, SyntaxError):  # NumPy reads texts such as "i4,f8", too
            pass
    raise GraphError(
        f"there is no dtype {described(value, 100)}",
        check="a dtype must be a TensorFlow name or number, or a NumPy dtype",
        found=f"{type(value).__name__}: {described(value, 100)}",
        needed=", ".join(sorted(d.label for d in _BASE)),
        remedy='give a name such as "float32", or numpy.float32',
        code="bad-dtype",
    )
