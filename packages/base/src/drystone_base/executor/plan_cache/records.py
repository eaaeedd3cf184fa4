"""Records of the folder of plans: by what they were made from, as long as the code is the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from drystone_base.core.digests import sha256_of_text
from drystone_base.executor.plan_cache.evidence import is_unchanged
from drystone_base.files.store import BadFile, Store

__all__ = ["discard_record", "keep_record", "kept_record"]


def _name_of(made_from: list[Any]) -> str:
    return sha256_of_text(json.dumps(made_from))[:40]


def kept_record(where: Store, made_from: list[Any]) -> tuple[Mapping[str, Any], memoryview] | None:
    """Facts and contents of what this code has made from this, of values that JSON has.

    A record of other code, a damaged one, and one that states another origin, is removed.
    """
    name = _name_of(made_from)
    try:
        found = where.read(name)
    except BadFile:
        where.discard(name)
        return None
    if found is None:
        return None
    is_same = found[0].get("made_from") == json.loads(json.dumps(made_from))
    if not is_same or not is_unchanged(found[0].get("code", {"": ()})):
        where.discard(name)
        return None
    return found


def discard_record(where: Store, made_from: list[Any]) -> None:
    """Remove the record of what is made from this, if there is one."""
    where.discard(_name_of(made_from))


def keep_record(
    where: Store,
    made_from: list[Any],
    facts: dict[str, Any],
    parts: Sequence[bytes | memoryview],
    code: Mapping[str, Sequence[int]],
) -> bool:
    """Write a record of what code has made from this; whether it is there now.

    A folder that cannot be written has none.
    """
    with suppress(OSError):
        stated = facts | {"code": code, "made_from": made_from}
        where.write(_name_of(made_from), stated, parts)
        return True
    return False
