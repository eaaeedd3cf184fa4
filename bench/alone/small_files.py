"""Many small files: what one costs to write, read, look at and list, beside fsspec's own clients.

Two faces of drystone, ``gfile`` and the fsspec filesystem that any scheme is, and fsspec's own
filesystem of the same kind, which take turns.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from typing import Any

from bench.alone._report import Column, Report, ratio, span, text
from drystone_base import host

__all__ = ["run"]

FILES, SIZE = 400, 1000
Calls = dict[str, Callable[[str], Any]]


def run(quick: bool) -> Report:
    """The least seconds of processor time for a file, over rounds of 400 files of 1000 bytes."""
    columns = [
        Column("what", "what", text), Column("files", "files", text),
        Column("gfile_s", "gfile", span), Column("face_s", "drystone as fsspec", span),
        Column("fsspec_s", "fsspec", span), Column("times", "fsspec / gfile", ratio),
    ]  # fmt: skip
    title = f"Small files: one of {FILES} of {SIZE} bytes, processor time"
    report = Report("small-files", title, columns)
    if not host.available():
        report.notes.append(f"not measured: there is no host library at {host.path()}")
        return report
    try:
        from fsspec.implementations.local import LocalFileSystem
        from fsspec.implementations.memory import MemoryFileSystem

        from drystone_filesystem.native import library, serve_library
    except ImportError as error:
        report.notes.append(f"not measured: {error}")
        return report
    serve_library("ram", library())
    local, memory = LocalFileSystem(auto_mkdir=False), MemoryFileSystem()
    memory.makedirs("/small", exist_ok=True)
    for scheme, own in (("file", local), ("posix", local), ("ram", memory)):
        with tempfile.TemporaryDirectory() as folder:
            base = "small" if scheme == "ram" else folder
            report.rows += _rows(base, scheme, own, 5 if quick else 25)
    return report


def _rows(base: str, scheme: str, own: Any, rounds: int) -> list[dict[str, Any]]:
    """Writing, reading, looking at and listing files below ``base``."""
    names = [f"{base}/file-{k:04d}" for k in range(FILES)]
    rows = []
    for what, calls in _cases(base, scheme, own).items():
        taken = _rounds([base] if what == "list" else names, calls, rounds)
        per_file = {face: least / FILES for face, least in taken.items()}
        rows.append(
            {
                "what": what,
                "files": f"{scheme}://",
                "gfile_s": per_file["gfile"],
                "face_s": per_file["face"],
                "fsspec_s": per_file["fsspec"],
                "times": per_file["fsspec"] / per_file["gfile"],
            }
        )
    return rows


def _cases(base: str, scheme: str, own: Any) -> dict[str, Calls]:
    from drystone_base.host import filesystem
    from drystone_filesystem import DrystoneFileSystem, gfile

    ours, data = DrystoneFileSystem(scheme), b"x" * SIZE

    def read(name: str) -> None:
        with gfile.GFile(f"{scheme}://{name}", "rb") as file:
            file.read()

    return {
        "write": {
            "gfile": lambda name: filesystem.write_bytes(f"{scheme}://{name}", data),
            "face": lambda name: ours.pipe_file(name, data),
            "fsspec": lambda name: own.pipe_file(name, data),
        },
        "read": {"gfile": read, "face": ours.cat_file, "fsspec": own.cat_file},
        "stat": {
            "gfile": lambda name: gfile.stat(f"{scheme}://{name}"),
            "face": ours.info,
            "fsspec": own.info,
        },
        "list": {
            "gfile": lambda _: gfile.listdir(f"{scheme}://{base}"),
            "face": lambda _: ours.ls(base, detail=False),
            "fsspec": lambda _: own.ls(base, detail=False),
        },
    }


def _rounds(names: list[str], calls: Calls, rounds: int) -> dict[str, float]:
    """The least processor time of each call for all names, the calls taking turns."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for face, call in calls.items():
            start = time.process_time()
            for name in names:
                call(name)
            least[face] = min(least[face], time.process_time() - start)
    return least
