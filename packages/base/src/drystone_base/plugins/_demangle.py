"""Symbols as their authors wrote them, and who would have to define them.

Sources: the Itanium C++ ABI, chapter 5.1 (mangled names), and ``__cxa_demangle`` of the C++ library
that the host library is linked with; without that, names stay as they are in the file.
"""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from drystone_base.core.errors import HostError
from drystone_base.host._lib import declare

__all__ = ["by_owner", "demangled", "owner"]

_LONGEST: Final = 1000
"""Of a name to demangle; what it means may be longer, as parts of it are repeated."""
_SHOWN: Final = 200
_SAMPLES: Final = 3
_OWNERS: Final = 8
_SCOPE: Final = re.compile(r"_Z(?:T[VTISC]|Th?n?\d+_|GV|Z)*N?[rVKRO]*(St|\d+)")
_C_OWNERS: Final = (
    ("TensorFlow's C interface", re.compile(r"(TF|TSL|SP|SE|TP|TFE|TFNPD)_")),
    ("drystone's C interface", re.compile(r"DS_")),
    ("Python", re.compile(r"_?Py[A-Z_]")),
    ("OpenMP", re.compile(r"GOMP_|omp_|__kmpc_")),
    ("oneDNN", re.compile(r"dnnl_")),
    ("CUDA", re.compile(r"(cu|cuda|cudnn|cublas|nccl)[A-Z]|cublas|cudnn")),
    ("a library of linear algebra", re.compile(r"(mkl|cblas|LAPACKE)_")),
)

_POINTER: Final = ctypes.c_void_p
_demangle = declare("__cxa_demangle", _POINTER, ctypes.c_char_p, _POINTER, _POINTER, _POINTER)
_free = declare("free", None, _POINTER)


def demangled(name: str, *, whole: bool = False) -> str:
    """A symbol as its author wrote it, of bounded length unless ``whole``; one of C as it is."""
    text = name
    if name.startswith("_Z") and len(name) <= _LONGEST:
        text = _cxx_demangle(name)
    return text if whole or len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _cxx_demangle(name: str) -> str:
    status = ctypes.c_int(-1)
    try:
        found = _demangle(name.encode("utf-8", "replace"), None, None, ctypes.byref(status))
    except (HostError, AttributeError):  # no host library, or one with a C++ library of its own
        return name
    if not found:
        return name
    text = ctypes.string_at(found).decode("utf-8", "replace")
    _free(found)
    return text if status.value == 0 else name


def owner(name: str) -> str:
    """Who would define a symbol: a namespace of C++, or an interface by its prefix."""
    if not name.startswith("_Z"):
        found = (of for of, prefix in _C_OWNERS if prefix.match(name))
        return next(found, "no known interface")
    scope = _SCOPE.match(name)
    if scope is None:
        return "no namespace"
    if scope[1] == "St":
        return "std"
    length, start = int(scope[1][:5]), scope.end()
    nested = "N" in name[: scope.start(1)]
    return name[start : start + length] if nested else "no namespace"


def by_owner(names: Sequence[str]) -> str:
    """All symbols, counted by their owners, the largest first, with the first few of each."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        groups[owner(name)].append(name)
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    shown = [f"{len(of)} of {who} ({_some(of)})" for who, of in ranked[:_OWNERS]]
    if len(ranked) > _OWNERS:
        rest = sum(len(of) for _, of in ranked[_OWNERS:])
        shown.append(f"{rest} of {len(ranked) - _OWNERS} others")
    return ", ".join(shown)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SAMPLES} more" if len(names) > _SAMPLES else ""
    return ", ".join(map(demangled, names[:_SAMPLES])) + more
