"""What a library asks of the dynamic linker that no plugin is given.

Source: ld.so(8), and dlopen(3) of glibc, which makes all stacks of a process executable for a
library that does not say that it needs none of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from drystone_base.core.errors import PluginError
from drystone_base.plugins._elf import ElfFile
from drystone_base.plugins._record import Plugin

__all__ = ["refused", "what_it_asks"]


def what_it_asks(elf: ElfFile) -> Iterator[str]:
    """What stands against opening the file, in words; nothing where nothing does."""
    if elf.executes_stacks:
        yield "asks for stacks whose memory can be executed"
    for name in elf.needed:
        if "/" in name and _is_relative(name):
            yield f"needs {name!r}, which is in the working folder"
    for folder in (*elf.rpath, *elf.runpath):
        if _is_relative(folder):
            yield f"has its libraries looked for in {folder!r}, which is in the working folder"


def _is_relative(place: str) -> bool:
    return not place.startswith(("/", "$ORIGIN", "${ORIGIN}"))


def refused(plugin: Plugin, files: Mapping[str, ElfFile]) -> PluginError | None:
    """An error for the first of the files that asks for such a thing."""
    for place, elf in files.items():
        for asked in what_it_asks(elf):
            return plugin.refuse(
                "asks for what no plugin is given",
                check="a library must leave the stacks as they are, and name absolute folders",
                found=f"{os.path.basename(place)} {asked}",
                needed="stacks without execution, and folders that begin with / or $ORIGIN",
                remedy=plugin.advice(
                    author="link it with -Wl,-z,noexecstack, and with -Wl,-rpath,'$ORIGIN' or none"
                ),
                code="plugin-unsafe-library",
            )
    return None
