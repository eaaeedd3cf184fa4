"""Entries of the plan cache, each found by what it was made from."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from drystone_base.files.store import BadFile, Store

__all__ = ["discard_record", "read_record", "write_record"]


def _name_of(made_from: list[Any]) -> str:
    """Two checksums: an entry states what it was made from, so that another's is not taken."""
    data = json.dumps(made_from).encode()
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}"


def read_record(where: Store, made_from: list[Any]) -> tuple[Mapping[str, Any], memoryview] | None:
    """Facts and contents of what was made from this, of values that JSON has.

    A damaged entry, and one that states another origin, is removed.
    """
    name = _name_of(made_from)
    try:
        found = where.read(name)
    except BadFile:
        where.discard(name)
        return None
    if found is not None and found[0].get("made_from") != json.loads(json.dumps(made_from)):
        where.discard(name)
        return None
    return found


def discard_record(where: Store, made_from: list[Any]) -> None:
    """Remove the entry of what is made from this, if there is one."""
    where.discard(_name_of(made_from))


def write_record(
    where: Store,
    made_from: list[Any],
    facts: dict[str, Any],
    parts: Sequence[bytes | memoryview] = (),
) -> None:
    """Write an entry of what was made from this; a folder that cannot be written has none."""
    with suppress(OSError):
        where.write(_name_of(made_from), facts | {"made_from": made_from}, parts)
