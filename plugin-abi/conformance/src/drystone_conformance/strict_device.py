"""The strict device: devices without hardware that catch what hardware would.

Its sources are in ``strict``: a plugin in C with two devices of type ``STRICT``. Their memory is
out of reach for the host, their streams work late and in any legal order (``$STRICT_SEED``), and
what a host or a kernel does wrong is a fault that names the node. ::

    device = StrictDevice.load(build(folder))
    ...  # run graphs
    assert device.take_faults() == []

``$STRICT_PLANT`` plants a fault in a kernel, such as ``early_free:NODE``: for tests of what finds
them. ``$STRICT_REFUSE`` names functions of the device that refuse what they are asked for.
``$STRICT_BFC`` has the host divide large blocks itself, of which less is seen.
``strict/README.md`` tells more.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import drystone_abi
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.inference.plugin_ops import sync

__all__ = ["FIGURES", "StrictDevice", "build", "sources"]

FIGURES: Final = (
    "faults", "kernels", "copies_in", "copies_out", "waits", "events", "timers", "calls",
    "allocations", "streams",
)  # fmt: skip
"""What the device counts."""

_ROOM: Final = 1 << 14
_COMPILERS: Final = ("cc", "gcc", "clang")


def sources() -> list[Path]:
    """The files that the library is made of."""
    return sorted((Path(__file__).parent / "strict").glob("*.c"))


def build(folder: Path | str, flags: Sequence[str] = ()) -> Path:
    """Compile the library into a folder, with ``$CC`` or a C compiler of the PATH.

    Raises ``RuntimeError`` with what the compiler says.
    """
    found = shlex.split(os.environ.get("CC", "")) or [c for c in _COMPILERS if shutil.which(c)][:1]
    if not found:
        raise RuntimeError(f"there is no C compiler: none of {', '.join(_COMPILERS)}, and no $CC")
    out = Path(folder) / "libstrict_device.so"
    command = [
        *found, "-std=c11", "-O2", "-g", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread",
        f"-I{drystone_abi.get_include()}", *flags, *map(str, sources()), "-o", str(out), "-lm",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)} failed:\n{done.stdout}{done.stderr}")
    return out


class StrictDevice:
    """The library in this process, where it stays."""

    def __init__(self, library: HostLibrary) -> None:
        self.library = library
        self._figure = self._function("strict_figure", ctypes.c_int64, ctypes.c_int)
        self._take = self._function("strict_take_faults", None, ctypes.c_char_p, ctypes.c_size_t)
        self._leaks = self._function("strict_check_leaks", ctypes.c_int)
        self._watch = self._function("strict_watch_host", None, ctypes.c_void_p)
        self._last = self.figures()

    @classmethod
    def load(cls, file: Path | str) -> StrictDevice:
        """Open the library and register its devices and kernels; raises ``HostError``."""
        library = open_library(Path(file))
        library.initialise("SE_InitPlugin")
        library.initialise("TF_InitKernel")
        sync()
        return cls(library)

    def _function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        address = self.library.symbol(name)
        assert address, name
        return ctypes.CFUNCTYPE(result, *arguments)(address)

    def figures(self) -> dict[str, int]:
        """What the device has counted since it was loaded."""
        return {name: self._figure(k) for k, name in enumerate(FIGURES)}

    def counted(self) -> dict[str, int]:
        """What the device has counted since the last call."""
        before, self._last = self._last, self.figures()
        return {name: now - before[name] for name, now in self._last.items()}

    def take_faults(self) -> list[str]:
        """What went wrong since the last call."""
        text = ctypes.create_string_buffer(_ROOM)
        self._take(text, _ROOM)
        return text.value.decode("utf-8", "replace").splitlines()

    def check_leaks(self) -> int:
        """Note each block of memory that is still there as a fault; returns how many there are."""
        return int(self._leaks())

    def watch_host(self) -> None:
        """From now on a host that touches device memory ends the process, with status 86."""
        self._watch(ctypes.cast(ctypes.CDLL(None).sigaction, ctypes.c_void_p))
