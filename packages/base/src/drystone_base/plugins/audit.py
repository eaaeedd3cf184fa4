"""Reading a library's symbols before the dynamic linker acts on them.

Refused are files that are not for this machine or are damaged, libraries that need something
that is not there, and undefined symbols: each by name, before anything is opened.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from drystone_base.core.errors import PluginError
from drystone_base.core.plugin_settings import Settings
from drystone_base.plugins._asks import refused
from drystone_base.plugins._demangle import by_owner
from drystone_base.plugins._elf import BadElf, ElfFile, read_elf
from drystone_base.plugins._elf_calls import functions_among
from drystone_base.plugins._linker import Closure, closure_of, is_system
from drystone_base.plugins._record import Plugin, StepResult, failed, passed
from drystone_base.plugins._words import disabling

__all__ = ["Audit", "audit_symbols", "read", "undefined_functions"]

_SAMPLE: Final = 8


@dataclass(frozen=True)
class Audit:
    """What the symbols of a library say.

    ``entries`` are entry symbols of modules, in the library or in companions that it needs;
    ``exports`` are all names that it defines itself.
    ``missing`` are needed libraries that are not found, ``aliased`` those of TensorFlow that the
    host answers to. ``undefined`` are undefined symbols, by the file that needs them;
    ``functions`` are functions among them. ``own`` are the library and what it needs that is not
    the system's.
    """

    elf: ElfFile
    entries: tuple[str, ...]
    exports: tuple[str, ...]
    functions: frozenset[str]
    missing: dict[str, str]
    aliased: tuple[str, ...]
    undefined: dict[str, tuple[str, ...]]
    searched: tuple[str, ...]
    own: dict[str, ElfFile]

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Every undefined symbol."""
        return tuple(sorted({name for names in self.undefined.values() for name in names}))

    @property
    def data(self) -> tuple[str, ...]:
        """Those of them that are no functions, or may not be."""
        return tuple(name for name in self.unresolved if name not in self.functions)

    @property
    def extra(self) -> tuple[str, ...]:
        """Exports that are no entry symbols."""
        return tuple(name for name in self.exports if name not in self.entries)

    def facts(self) -> dict[str, Any]:
        """The audit as JSON-ready values; long lists are cut."""
        return {
            "target": self.elf.header.target,
            "needed": list(self.elf.needed),
            "missing_libraries": sorted(self.missing),
            "aliased": list(self.aliased),
            "unresolved": list(self.unresolved[:50]),
            "data": list(self.data[:50]),
            "entries": list(self.entries),
            "exports": len(self.extra),
            "exports_sample": list(self.extra[:_SAMPLE]),
        }


def read(path: str | os.PathLike[str]) -> Audit:
    """Audit a library for this machine; raises ``BadElf`` (a ``ValueError``) and ``OSError``."""
    from drystone_base.modules import entry_symbols

    file = os.path.realpath(path)
    elf = read_elf(file)
    closure = closure_of(file, elf)
    exports = elf.exports
    own = [f.exports for place, f in closure.files.items() if not is_system(place)]
    entries = set(entry_symbols()) & exports.union(*own)
    undefined = _undefined(file, elf, closure)
    return Audit(
        elf,
        tuple(sorted(entries)),
        tuple(sorted(exports)),
        _functions({file: elf, **closure.files}, undefined),
        closure.missing,
        tuple(sorted(closure.aliased)),
        undefined,
        tuple(closure.searched),
        {file: elf} | {place: f for place, f in closure.files.items() if not is_system(place)},
    )


def undefined_functions(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """What a library needs and no library defines, if all of that is functions; raises as above."""
    found = read(path)
    return () if found.data else found.unresolved


def _functions(
    files: Mapping[str, ElfFile], undefined: Mapping[str, tuple[str, ...]]
) -> frozenset[str]:
    """Undefined symbols that are functions to all files that need them."""
    kinds = [(set(names), functions_among(file, files[file], names))
             for file, names in undefined.items()]  # fmt: skip
    data = set[str]().union(*(names - functions for names, functions in kinds))
    return frozenset(set[str]().union(*(functions for _, functions in kinds)) - data)


def audit_symbols(plugin: Plugin, settings: Settings) -> StepResult:
    """The step: what the file is, what it needs, what it exports."""
    found = _read(plugin)
    if isinstance(found, PluginError):
        return failed("audit", found)
    error = (
        _not_for_us(plugin, found.elf)
        or refused(plugin, found.own)
        or _refusal(plugin, found, settings)
    )
    if error is None and found.extra and settings.policy == "strict":
        error = _unclean(plugin, found.extra)
    if error is not None:
        return failed("audit", error, **found.facts())
    plugin.without = found.unresolved
    remarks = _remarks(found)
    if remarks:
        text = "; ".join(remarks.values())
        return passed("audit", reason=next(iter(remarks)), text=text, **found.facts())
    return passed("audit", **found.facts())


def _remarks(found: Audit) -> dict[str, str]:
    """What is worth knowing of a library that passes, by reason."""
    remarks = {}
    if found.unresolved:
        remarks["plugin-undefined-functions"] = (
            f"leaves {len(found.unresolved)} functions undefined, which fail when they are called: "
            f"{by_owner(found.unresolved)}"
        )
    if found.extra:
        remarks["plugin-exports"] = (
            f"exports {len(found.extra)} symbols beside its entry symbols, such as "
            f"{_some(found.extra, 3)}"
        )
    return remarks


def _read(plugin: Plugin) -> Audit | PluginError:
    try:
        return read(plugin.path)
    except BadElf as error:
        return plugin.refuse(
            "is not a library",
            check="the file must be a whole ELF shared object",
            found=str(error),
            needed="a shared object (.so)",
            remedy="install it again; a damaged download or a text file has no place here",
            code="plugin-not-a-library",
        )
    except OSError as error:
        return plugin.unreadable(error)


@cache
def _host() -> ElfFile:
    from drystone_base.host import path

    return read_elf(path())


def _not_for_us(plugin: Plugin, elf: ElfFile) -> PluginError | None:
    """An error for a library of another machine, or something that is no library."""
    ours = _host().header.target
    if elf.header.target != ours:
        return plugin.refuse(
            "is built for another machine",
            check="the ELF header must state the machine of the host",
            found=elf.header.target,
            needed=ours,
            remedy=f"install the build of {plugin.package or plugin.name} for this machine",
            code="plugin-wrong-platform",
        )
    if elf.is_program or not elf.header.is_library:
        return plugin.refuse(
            "is not a library",
            check="the file must be a whole ELF shared object",
            found="a program" if elf.is_program else elf.header.kind_name,
            needed="a shared object (.so)",
            remedy=plugin.advice(author="link it with -shared"),
            code="plugin-not-a-library",
        )
    return None


def _undefined(path: str, elf: ElfFile, closure: Closure) -> dict[str, tuple[str, ...]]:
    """Undefined symbols that nothing defines, by the file that needs them.

    The system's own libraries are not looked into, and asked last, as they have the most names;
    what the process offers to everybody (the functions of Python, above all) counts as defined.
    """
    last = sorted(closure.files, key=is_system)
    offered = [_host(), elf, *(closure.files[place] for place in last)]
    found = {}
    for place, file in {path: elf, **closure.files}.items():
        if place != path and is_system(place):
            continue
        names = set(file.imports)
        for other in offered:
            if not names:
                break
            names -= other.defined(names)
        names = {name for name in names if not hasattr(ctypes.pythonapi, name)}
        if names:
            found[place] = tuple(sorted(names))
    return found


def _some(names: Sequence[str], count: int) -> str:
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(names[:count]) + more


def _refusal(plugin: Plugin, found: Audit, settings: Settings) -> PluginError | None:
    """What stands against opening it, by what it needs and what it offers."""
    if found.missing:
        needed = [f"{name} (for {os.path.basename(o)})" for name, o in found.missing.items()]
        return plugin.refuse(
            "needs libraries that are not installed",
            check="every needed library must be found, as ld.so(8) would",
            found="not found: " + ", ".join(needed),
            needed="these files in its RUNPATH, LD_LIBRARY_PATH, the linker's cache or "
            + ", ".join(found.searched),
            remedy=plugin.advice(
                user="install the packages that hold them, or set LD_LIBRARY_PATH; without the "
                f"plugin: {disabling(plugin.name)}",
                author="put them beside it and link it with -Wl,-rpath,'$ORIGIN'",
            ),
            code="plugin-missing-library",
            status="NOT_FOUND",
        )
    only_functions = not found.data
    if not found.unresolved or (settings.policy == "allow_unverified" and only_functions):
        return None if found.entries else no_entry(plugin)
    return _lacking(plugin, found, only_functions=only_functions)


def _lacking(plugin: Plugin, found: Audit, *, only_functions: bool) -> PluginError:
    """An error that counts what no library defines."""
    names = found.unresolved
    files = ", ".join(os.path.basename(place) for place in found.undefined)
    counted = f"{files} leaves {len(names)} undefined: {by_owner(names)}"
    if not only_functions and len(found.data) < len(names):
        counted += f"; {len(found.data)} of them are data, not functions: {by_owner(found.data)}"
    trusting = (
        "DRYSTONE_PLUGIN_POLICY=allow_unverified loads it with what it does have, if you trust it; "
        if only_functions
        else ""
    )
    if any(name.startswith("_Z") for name in names):
        return plugin.refuse(
            "needs C++ symbols of its host",
            check="between plugin and host there is only C",
            found=counted,
            needed="the C functions of drystone's headers",
            remedy=plugin.advice(
                user=f"{trusting}without the plugin: {disabling(plugin.name)}",
                author="build it against drystone-plugin-abi instead of TensorFlow's C++ headers",
            ),
            code="plugin-needs-cxx",
        )
    from drystone_base.host import version

    return plugin.refuse(
        "needs undefined symbols",
        check="every undefined symbol must be the host's or a needed library's",
        found=counted,
        needed=f"functions of the host library {version()} or of libraries it links to",
        remedy=plugin.advice(
            user=f"update drystone-base; {trusting}without the plugin: {disabling(plugin.name)}",
            author="link it with the library that defines them",
        ),
        code="plugin-unresolved-symbols",
    )


def no_entry(plugin: Plugin) -> PluginError:
    """An error for a library that no module can use."""
    from drystone_base.modules import entry_symbols

    return plugin.refuse(
        "offers nothing",
        check="a plugin exports an entry symbol of some module",
        found="no entry symbol",
        needed="one of " + ", ".join(entry_symbols()),
        remedy=plugin.advice(author="export the entry function of its module with TF_CAPI_EXPORT"),
        code="plugin-no-entry",
    )


def _unclean(plugin: Plugin, extra: Sequence[str]) -> PluginError:
    return plugin.refuse(
        "exports more than its entry symbols",
        check="policy strict: a plugin exports entry symbols and nothing else",
        found=f"{len(extra)} others: {_some(extra, _SAMPLE)}",
        needed="hidden visibility for everything but the entry functions",
        remedy=plugin.advice(
            user="use the policy default: DRYSTONE_PLUGIN_POLICY=default",
            author="build it with -fvisibility=hidden",
        ),
        code="plugin-exports",
    )
