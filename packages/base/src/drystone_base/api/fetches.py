"""Structures of fetches, names in lists, tuples and dicts; and names of feeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from drystone_base.core.errors import BadRequest
from drystone_base.core.printable import described

__all__ = ["Fetches", "check_feeds", "flatten"]

Fetches: TypeAlias = Any
"""A tensor or node name, or a list, tuple or dict of fetches."""


def flatten(fetches: Fetches, names: list[str]) -> Callable[[Any], Any]:
    """Collect the names of a fetch structure, and return what rebuilds it from their values."""
    if isinstance(fetches, str):
        names.append(fetches)
        return next
    if isinstance(fetches, Mapping):
        parts = {key: flatten(value, names) for key, value in fetches.items()}
        return lambda values: {key: part(values) for key, part in parts.items()}
    if isinstance(fetches, list | tuple):
        items = [flatten(value, names) for value in fetches]
        kind = type(fetches)
        if hasattr(fetches, "_fields"):
            return lambda values: kind(*[item(values) for item in items])
        return lambda values: kind([item(values) for item in items])
    raise BadRequest(
        f"a fetch cannot be of type {type(fetches).__name__}",
        check="fetches must be names, or lists, tuples or dicts of names",
        found=described(fetches),
        needed="'node:0'",
        remedy="give one name, or a list, tuple or dict of them",
        code="bad-fetch",
    )


def check_feeds(feeds: Iterable[object]) -> None:
    """Raise ``BadRequest`` (``bad-feed``) unless all of them are names."""
    for feed in feeds:
        if not isinstance(feed, str):
            raise BadRequest(
                f"a feed cannot be of type {type(feed).__name__}",
                check="feeds must be names of tensors",
                found=described(feed),
                needed="'node:0'",
                remedy="give the name of each tensor that is fed",
                code="bad-feed",
            )
