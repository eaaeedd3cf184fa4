"""The strict device of drystone-plugin-conformance, compiled by and for tests of base."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from drystone_base.host.library import HostLibrary, open_library
from drystone_base.inference.plugin_ops import sync

__all__ = ["FLAGS", "SOURCES", "Strict", "load"]

_FOLDER: Final = (
    Path(__file__).resolve().parents[3] / "plugin-abi/conformance/src/drystone_conformance/strict"
)
SOURCES: Final = sorted(_FOLDER.glob("*.c"))
FLAGS: Final = ["-pthread", "-O2", "-g", "-lm"]
_FIGURES: Final = ("faults", "kernels", "copies_in", "copies_out", "waits", "events")


class Strict:
    """The library in this process, and what it has counted since it was asked last."""

    def __init__(self, library: HostLibrary) -> None:
        self.library = library
        self._last: dict[str, int] = {}
        self.counted()

    def _call(self, name: str, result: Any, *arguments: Any) -> Any:
        address = self.library.symbol(name)
        assert address, name
        return ctypes.CFUNCTYPE(result, *map(type, arguments))(address)(*arguments)

    def counted(self) -> dict[str, int]:
        """What was counted since the last call."""
        now = {
            f: self._call("strict_figure", ctypes.c_int64, ctypes.c_int(k))
            for k, f in enumerate(_FIGURES)
        }
        before, self._last = self._last, now
        return {name: value - before.get(name, 0) for name, value in now.items()}

    def faults(self) -> list[str]:
        """What went wrong since the last call."""
        text = ctypes.create_string_buffer(1 << 14)
        self._call(
            "strict_take_faults", None, ctypes.cast(text, ctypes.c_void_p), ctypes.c_size_t(1 << 14)
        )
        return text.value.decode().splitlines()

    def leaks(self) -> int:
        """How many blocks of memory are there; each is a fault, too."""
        return int(self._call("strict_check_leaks", ctypes.c_int))

    def watch_host(self) -> None:
        """End the process where the host touches device memory."""
        self._call("strict_watch_host", None)


def load(compile_library: Callable[..., Path]) -> Strict:
    """Compile, open and register it."""
    library = open_library(compile_library(*SOURCES, flags=FLAGS))
    library.initialise("SE_InitPlugin")
    library.initialise("TF_InitKernel")
    sync()
    return Strict(library)
