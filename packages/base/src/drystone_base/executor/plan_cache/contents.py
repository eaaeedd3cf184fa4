"""What is in the plan cache, for people: entries with their models, sizes and ages."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from drystone_base.core.installed import NOTES

if TYPE_CHECKING:
    from drystone_base.files.store import Store

__all__ = ["Entry", "clear", "entries"]

_LEAST: Final = 3
"""Values that a plan is made from: fetches, feeds, and the rest of the key after the model's."""
Kind = Literal["plan", "loading", "digest", "size"]


class Entry(NamedTuple):
    """A file of the cache; ``model``, ``fetches`` and ``feeds`` are of plans, else empty.

    ``seconds``: since it was written or last used.
    """

    file: str
    kind: Kind
    model: str
    fetches: list[str]
    feeds: list[str]
    bytes: int
    seconds: float


def entries(where: Store) -> list[Entry]:
    """What can be read of the cache, by model, then by kind."""
    found = []
    for path, facts in where.entries():
        with suppress(OSError, TypeError):  # it is gone, or made by no one user
            state = path.stat()
            found.append(
                Entry(str(path), _kind(facts), str(facts.get("model", "")), *_signature(facts),
                      state.st_size, max(0.0, time.time() - state.st_mtime))
            )  # fmt: skip
    return sorted(found, key=lambda entry: (entry.model, entry.kind, entry.file))


def clear(where: Store, model: str = "") -> tuple[int, int]:
    """Remove what is there, or what is of one model; how many files and bytes that were.

    Raises ``OSError`` for a file that cannot be removed.
    """
    if model:
        real = os.path.realpath(model)
        chosen = [Path(one.file) for one in entries(where) if _is_of(one.model, real)]
    else:
        chosen = [*where.folder.glob(f"*.{where.kind}"), *where.folder.glob(NOTES)]
    count = size = 0
    for path in chosen:
        with suppress(FileNotFoundError):
            size += path.stat().st_size
            path.unlink()
            count += 1
    return count, size


def _is_of(file: str, model: str) -> bool:
    """Whether a file is the model, or in its folder."""
    return bool(file) and (file == model or file.startswith(model.rstrip(os.sep) + os.sep))


def _kind(facts: dict[str, Any]) -> Kind:
    if "plan_size" in facts:
        return "plan"
    if "signatures" in facts:
        return "loading"
    return "digest" if "digest" in facts else "size"


def _signature(facts: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Fetches and feeds of a plan, which come before the last of what it was made from."""
    made_from = facts.get("made_from")
    if _kind(facts) != "plan" or not isinstance(made_from, list) or len(made_from) < _LEAST:
        return [], []
    fetches, feeds = made_from[-3:-1]
    return [*map(str, fetches)], [*map(str, feeds)]
