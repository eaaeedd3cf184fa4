"""Reading ELF files as bytes: what they are for, what they need, which symbols they have.

Any bytes are read without harm: whatever does not fit is a ``BadElf`` that says what. Source: the
ELF specification (System V ABI, chapters 4 and 5).
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from drystone_base.plugins._elf_bytes import BadElf, Bytes
from drystone_base.plugins._elf_symbols import MOST_SYMBOLS, GnuHash, Symbols, text_at

__all__ = ["BadElf", "ElfFile", "ElfHeader", "read_elf"]

_MACHINES: Final = {
    2: "SPARC", 3: "x86", 8: "MIPS", 20: "PowerPC", 21: "PowerPC64", 22: "S/390", 40: "ARM",
    62: "x86-64", 183: "AArch64", 243: "RISC-V", 247: "BPF", 258: "LoongArch",
}  # fmt: skip
_TYPES: Final = {1: "an object file", 2: "a program", 4: "a core dump"}
_SHARED: Final = 3
_LOAD, _DYNAMIC, _STACK, _EXECUTABLE = 1, 2, 0x6474E551, 1
_NULL, _NEEDED, _HASH, _STRTAB, _SYMTAB, _STRSZ = 0, 1, 4, 5, 6, 10
_SONAME, _RPATH, _RUNPATH, _GNU_HASH, _FLAGS_1 = 14, 15, 29, 0x6FFFFEF5, 0x6FFFFFFB
_CALLS, _CALLS_SIZE, _OTHERS, _OTHERS_SIZE = 23, 2, 7, 8
_IS_PROGRAM: Final = 0x08000000
_DYNAMIC_SYMBOLS: Final = 11
_MOST_SEGMENTS, _MOST_ENTRIES = 512, 65536


@dataclass(frozen=True)
class ElfHeader:
    """What kind of file it is."""

    bits: int
    byteorder: str
    machine: int
    kind: int

    @property
    def target(self) -> str:
        """The machine it is for, in words."""
        name = _MACHINES.get(self.machine, f"machine {self.machine}")
        return f"{self.bits}-bit {self.byteorder}-endian {name}"

    @property
    def is_library(self) -> bool:
        """Whether it is a shared object."""
        return self.kind == _SHARED

    @property
    def kind_name(self) -> str:
        """What it is, in words."""
        return _TYPES.get(self.kind, "a library" if self.is_library else f"of type {self.kind}")


@dataclass(frozen=True)
class ElfFile:
    """A shared object's dynamic section and symbols.

    ``exports`` are names that it defines for others, ``imports`` those that it must find elsewhere;
    what it can do without (weak symbols) is in neither. The system's libraries have thousands of
    names that are not asked for: they are read when they are, and raise ``BadElf`` then.
    ``calls`` and ``others`` say where in the file its relocations for calls, and all others, are.
    ``executes_stacks``: the dynamic linker makes the stacks of the process executable for it.
    """

    header: ElfHeader
    soname: str
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]
    is_program: bool
    symbols: Symbols
    calls: tuple[int, int] = (0, 0)
    others: tuple[int, int] = (0, 0)
    executes_stacks: bool = False

    @cached_property
    def exports(self) -> frozenset[str]:
        """Names that it defines for others."""
        return self.symbols.names(defined=True)

    @cached_property
    def imports(self) -> frozenset[str]:
        """Names that it must find elsewhere."""
        return self.symbols.names(defined=False)

    def defined(self, names: Iterable[str]) -> set[str]:
        """Those of the names that it defines for others."""
        return self.symbols.defined(names)


def _header(data: Bytes) -> ElfHeader:
    if data.size == 0:
        raise BadElf("the file is empty")
    start = bytes(data.data[:16])
    if start[:4] != b"\x7fELF"[: len(start[:4])]:
        raise BadElf(f"it is no ELF file: it begins with {start[:4]!r}")
    start = data.take(0, 16, "the ELF header")
    bits, order = {1: 32, 2: 64}.get(start[4]), {1: "little", 2: "big"}.get(start[5])
    if bits is None or order is None:
        raise BadElf(f"its ELF header states class {start[4]} and byte order {start[5]}")
    data.order = "<" if order == "little" else ">"
    kind, machine = data.unpack("HH", 16, "the ELF header")
    return ElfHeader(bits, order, machine, kind)


def read_elf(path: str | os.PathLike[str]) -> ElfFile:
    """A shared object for a 64-bit machine; raises ``BadElf`` and ``OSError``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise BadElf("it is not a regular file")
        if facts.st_size == 0:
            raise BadElf("the file is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return parse(data)


def parse(data: Any) -> ElfFile:
    """The same for bytes in memory."""
    held = Bytes(data)
    header = _header(held)
    if header.bits != 64 or not header.is_library:
        return ElfFile(header, "", (), (), (), False, Symbols())
    loads, dynamic, executes_stacks = _segments(held)
    entries = list(_dynamic_entries(held, *dynamic))
    values = dict(reversed(entries))
    strings = _strings(held, loads, values)
    texts = {
        tag: tuple(text_at(strings, value) for found, value in entries if found == tag)
        for tag in (_NEEDED, _SONAME, _RPATH, _RUNPATH)
    }
    paths = {tag: tuple(":".join(texts[tag]).split(":")) if texts[tag] else () for tag in texts}
    symbols = _symbols(held, loads, values, strings)
    program = bool(values.get(_FLAGS_1, 0) & _IS_PROGRAM)
    soname = texts[_SONAME][0] if texts[_SONAME] else ""
    return ElfFile(
        header,
        soname,
        texts[_NEEDED],
        paths[_RPATH],
        paths[_RUNPATH],
        program,
        symbols,
        _relocations(loads, values, _CALLS, _CALLS_SIZE),
        _relocations(loads, values, _OTHERS, _OTHERS_SIZE),
        executes_stacks,
    )


_Loads = list[tuple[int, int, int]]


def _segments(data: Bytes) -> tuple[_Loads, tuple[int, int], bool]:
    """Loaded segments as (address, offset, size in the file), and where the dynamic section is.

    And whether stacks are to be executable: they are where the file does not say that they are not.
    """
    (table,) = data.unpack("Q", 32, "the ELF header")
    size, count = data.unpack("HH", 54, "the ELF header")
    if size != 56 or not 0 < count <= _MOST_SEGMENTS:
        raise BadElf(f"its ELF header states {count} segments of {size} bytes")
    loads: _Loads = []
    dynamic = None
    executes_stacks = True
    for k in range(count):
        kind, flags, offset, address, _, filed, _, _ = data.unpack(
            "IIQQQQQQ", table + k * size, "the table of segments"
        )
        if kind == _LOAD:
            if offset + filed > data.size:
                raise BadElf(
                    f"segment {k} ends at byte {offset + filed}, but the file has {data.size}: "
                    "truncated?"
                )
            loads.append((address, offset, filed))
        elif kind == _DYNAMIC:
            dynamic = (offset, filed)
        elif kind == _STACK:
            executes_stacks = bool(flags & _EXECUTABLE)
    if dynamic is None:
        raise BadElf("it has no dynamic section")
    return loads, dynamic, executes_stacks


def _dynamic_entries(data: Bytes, offset: int, size: int) -> Iterator[tuple[int, int]]:
    for k in range(min(size // 16, _MOST_ENTRIES)):
        tag, value = data.unpack("QQ", offset + k * 16, "the dynamic section")
        if tag == _NULL:
            return
        yield tag, value


def _offset(loads: _Loads, address: int, what: str) -> int:
    """Where an address of the loaded file lies in the file itself."""
    for start, offset, size in loads:
        if start <= address < start + size:
            return offset + address - start
    raise BadElf(f"{what} is at address {address:#x}, which no segment holds")


def _relocations(loads: _Loads, values: dict[int, int], table: int, size: int) -> tuple[int, int]:
    if not values.get(size, 0) or table not in values:
        return 0, 0
    return _offset(loads, values[table], "a table of relocations"), values[size]


def _strings(data: Bytes, loads: _Loads, values: dict[int, int]) -> bytes:
    if _STRTAB not in values:
        return b"\0"
    what = "the table of names"
    return data.take(_offset(loads, values[_STRTAB], what), values.get(_STRSZ, 0), what)


def _symbols(data: Bytes, loads: _Loads, values: dict[int, int], strings: bytes) -> Symbols:
    if _SYMTAB not in values:
        return Symbols()
    what = "the table of symbols"
    start = _offset(loads, values[_SYMTAB], what)
    hashed = None
    if _GNU_HASH in values:
        hashed = GnuHash.read(data, _offset(loads, values[_GNU_HASH], "the GNU hash table"))
    count = _symbol_count(data, loads, values, start, hashed)
    return Symbols(data.take(start, count * 24, what), strings, data.order, hashed)


def _symbol_count(
    data: Bytes, loads: _Loads, values: dict[int, int], start: int, hashed: GnuHash | None
) -> int:
    """No single field states it: it follows from the hash tables or the table of sections."""
    if _HASH in values:
        _, count = data.unpack("II", _offset(loads, values[_HASH], "the hash table"), "it")
    else:
        count = max(hashed.count if hashed else 0, _sectioned(data, start))
    if count > min(MOST_SYMBOLS, data.size // 24):
        raise BadElf(f"it states {count} symbols in {data.size} bytes")
    return int(count)


def _sectioned(data: Bytes, start: int) -> int:
    """Entries of the section that holds the dynamic symbols; 0 without a usable table."""
    (table,) = data.unpack("Q", 40, "the ELF header")
    size, count = data.unpack("HH", 58, "the ELF header")
    if size != 64 or table + count * 64 > data.size:
        return 0
    for k in range(count):
        _, kind, _, _, offset, held, _, _, _, _ = data.unpack(
            "IIQQQQIIQQ", table + k * 64, "the table of sections"
        )
        if kind == _DYNAMIC_SYMBOLS and offset == start:
            return int(held // 24)
    return 0
