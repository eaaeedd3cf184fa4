"""The table of what came of faults: which cells it has."""

from __future__ import annotations

from typing import Final

from faults import FAULTS
from tables import Table

__all__ = ["KINDS", "TABLE", "confirm", "tried"]

KINDS: Final = ("s3", "gs", "az", "hdfs", "http")
OTHERS: Final = {
    "credentials expire": (("s3", "gs", "az"), ("read", "write"), ("once", "always")),
    "clock is wrong": (("s3", "az"), ("read", "write"), ("always",)),
    "changed while it is read": (KINDS, ("read",), ("once",)),
    "disk of the cache is full": (KINDS, ("read",), ("always",)),
}
"""Which stores, what is done, and how often, of faults that not all stores can have."""
COLUMNS: Final = [f"{kind}, {do}" for kind in KINDS for do in ("read", "write")][:-1]
"""Nothing is written to a web server."""
TABLE: Final = Table(
    "faults", "fault", COLUMNS,
    [f"{fault}, {how}" for how in ("once", "always") for fault in (*FAULTS, *OTHERS)],
)  # fmt: skip


def tried() -> set[tuple[str, str]]:
    """The cells that the tests confirm: a fault and how often, a store and what is done."""
    found = {
        (f"{fault}, {how}", column)
        for column in COLUMNS
        for fault in FAULTS
        for how in ("once", "always")
        if not (fault == "wrong bytes" and column.endswith("write"))
    }
    for fault, (kinds, actions, often) in OTHERS.items():
        found |= {
            (f"{fault}, {how}", f"{k}, {do}") for k in kinds for do in actions for how in often
        }
    return found


def confirm(column: str, fault: str, how: str, said: str) -> None:
    """The page says so of this cell."""
    TABLE.confirm({(f"{fault}, {how}", column): said})
