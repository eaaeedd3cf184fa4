"""Which symbols that a library must find elsewhere are functions.

Where a symbol was undefined when the library was linked, its file does not say what it is. A
function then shows by how it is used, or by its name: that of C++ holds the types of parameters.
Sources: the System V ABI, chapter 5, and the Itanium C++ ABI, chapter 5.1.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from drystone_base.plugins._demangle import demangled
from drystone_base.plugins._elf import ElfFile
from drystone_base.plugins._elf_bytes import Bytes

__all__ = ["functions_among"]

_NOT_STATED, _FUNCTIONS = 0, (2, 10)
_RELOCATION: Final = (("offset", "u8"), ("info", "u8"), ("addend", "i8"))
_TABLES: Final = re.compile(r"_Z(T[VTIS]|G[VR])")
_SIGNATURE: Final = re.compile(r"\)( const| volatile| &{1,2}| \[clone [^]]*\])*(\.\.\.)?$")
_INTERFACE: Final = re.compile(r"(TF|TSL|SP|SE|TP|TFE|DS)_[A-Z]")
"""TensorFlow's C interface and ours: functions, all of them."""


def functions_among(path: str, elf: ElfFile, names: Iterable[str]) -> set[str]:
    """Those of the undefined names that are functions; raises ``BadElf`` and ``OSError``."""
    wanted = {name.encode("utf-8", "replace"): name for name in names}
    rows = elf.symbols.undefined(wanted)
    if not rows:
        return set()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
        data = Bytes(held)
        data.order = elf.symbols.order
        called, taken = _used(data, *elf.calls), _used(data, *elf.others)
    return {
        wanted[name]
        for name, (index, kind) in rows.items()
        if _is_function(wanted[name], kind, only_called=index in called and index not in taken)
    }


def _used(data: Bytes, offset: int, size: int) -> set[int]:
    """Indices of the symbols that relocations in this table are about."""
    raw = data.take(offset, size - size % 24, "a table of relocations")
    rows: Any = np.frombuffer(raw, [(name, data.order + kind) for name, kind in _RELOCATION])
    return set(np.unique(rows["info"] >> np.uint64(32)).tolist())


def _is_function(name: str, kind: int, *, only_called: bool) -> bool:
    if kind != _NOT_STATED:
        return kind in _FUNCTIONS
    if name.startswith("_Z"):
        if _TABLES.match(name):
            return False
        written = demangled(name, whole=True)
        return only_called if written == name else bool(_SIGNATURE.search(written))
    return only_called or bool(_INTERFACE.match(name))
