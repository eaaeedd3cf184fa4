"""Which of UCX's transports a machine has: each is opened alone, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

try:
    from drystone_base.plugins import ensure_loaded
except ImportError as error:
    from drystone_net_ucx._missing import named

    raise named(error) from None

__all__ = ["capabilities"]

_OPEN: Final = """
import sys
from drystone_base.core.errors import DrystoneError
from drystone_base.modules import stage
(make,) = stage("engine")
try:
    engine = make("ucx")
except DrystoneError as error:
    sys.exit("no " + str(error.found or error.what))
engine.close()
with open("/proc/self/maps") as maps:
    print(next(line.split()[-1] for line in maps if "libucp.so" in line))
"""
_SECONDS: Final = 60
_ADAPTERS: Final = Path("/sys/class/infiniband")
_ONLY: Final = {
    "verbs": "ib",
    "gdr": "cuda_copy,gdr_copy,tcp",
    "tcp": "tcp",
    "shm": "shm",
}
"""What UCX is told to use (``UCX_TLS``), by capability."""


def _verbs(modules: Path | None) -> str:
    if not _ADAPTERS.is_dir() or not any(_ADAPTERS.iterdir()):
        return f"no RDMA adapter: nothing is in {_ADAPTERS}"
    return _missing(modules, "libuct_ib.so.0")


def _gdr(modules: Path | None) -> str:
    if not Path("/dev/nvidiactl").exists():
        return "no NVIDIA GPU: there is no /dev/nvidiactl"
    if not Path("/dev/gdrdrv").exists():
        return "no driver of GDRCopy: there is no /dev/gdrdrv"
    return _missing(modules, "libuct_cuda.so.0")


def _missing(modules: Path | None, name: str) -> str:
    """Whether UCX was built without a module."""
    if modules is None or (modules / name).exists():
        return ""
    return f"this UCX is built without it: there is no {name} in {modules}"


_REASONS: Final[dict[str, Callable[[Path | None], str]]] = {"verbs": _verbs, "gdr": _gdr}


def capabilities() -> list[tuple[str, bool, str]]:
    """Name, whether it is there, and which UCX has it or why it is not, for each capability."""
    ensure_loaded()
    found = {name: _opened(only) for name, only in _ONLY.items()}
    libraries = [Path(said) for opens, said in found.values() if opens]
    modules = libraries[0].parent / "ucx" if libraries else None
    return [_judged(name, *answer, modules) for name, answer in found.items()]


def _judged(name: str, opens: bool, said: str, modules: Path | None) -> tuple[str, bool, str]:
    why = _REASONS[name](modules) if name in _REASONS else ""
    return name, opens and not why, why or said


def _opened(only: str) -> tuple[bool, str]:
    """Whether UCX can be used with some of its transports alone; its file, or why not."""
    environment = os.environ | {"UCX_TLS": only}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _OPEN], env=environment, capture_output=True, text=True,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False, f"UCX did not open within {_SECONDS} seconds"
    if done.returncode == 0:
        return True, done.stdout.strip().splitlines()[-1]
    said = [line for line in done.stderr.splitlines() if line.startswith("no ")]
    return False, said[-1].removeprefix("no ") if said else done.stderr.strip()[-200:]
