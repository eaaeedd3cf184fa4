"""Records of the folder of plans: by what they were made from, as long as the code is the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from drystone_base.digests import sha256_of_text
from drystone_base.kept.evidence import is_unchanged
from drystone_base.store import BadFile, Store

__all__ = ["keep_record", "kept_record", "name_of"]


def name_of(made_from: list[Any]) -> str:
    """The name of the record of what is made from this, of values that JSON has."""
    return sha256_of_text(json.dumps(made_from))[:40]


def kept_record(where: Store, name: str) -> tuple[Mapping[str, Any], memoryview] | None:
    """Facts and contents of a record that this code has written; one of other code is removed."""
    try:
        found = where.read(name)
    except BadFile:
        where.discard(name)
        return None
    if found is not None and not is_unchanged(found[0].get("code", {"": ()})):
        where.discard(name)
        return None
    return found


def keep_record(
    where: Store,
    name: str,
    facts: dict[str, Any],
    parts: Sequence[bytes | memoryview],
    code: Mapping[str, Sequence[int]],
) -> bool:
    """Write a record of what code has made; whether it is there now.

    A folder that cannot be written has none.
    """
    with suppress(OSError):
        where.write(name, facts | {"code": code}, parts)
        return True
    return False
