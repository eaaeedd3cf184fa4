"""Regular expressions over strings, by RE2 itself: its syntax and matches differ from Python's."""

from __future__ import annotations

import functools
import itertools
from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import attr_bytes, char_starts, each, each_number, scalar_string

_MOST_GROUPS: Final = 256
"""So many groups at most where a rewrite names one: each is found for every match."""


@functools.lru_cache(maxsize=256)
def _compiled(pattern: bytes, captures: bool) -> Any:
    import re2  # here, because few models need it

    options = re2.Options()
    options.log_errors = False
    options.never_capture = not captures
    return re2.compile(pattern, options)


def _compile(call: Call, pattern: bytes, *, captures: bool) -> Any:
    """The pattern; without ``captures`` matches have no groups, and cost nothing for them."""
    import re2

    try:
        return _compiled(pattern, captures)
    except re2.error as error:
        call.fail(
            "the pattern must be a regular expression of RE2",
            found=repr(pattern),
            needed="RE2 syntax",
            inner=error,
        )


@kernel("RegexFullMatch")
def full_match(call: Call, values: Array, pattern: Array) -> Array:
    """Whether each string matches the pattern from end to end."""
    return _full_match(call, values, scalar_string(call, pattern, "the pattern"))


@kernel("StaticRegexFullMatch")
def static_full_match(call: Call, values: Array) -> Array:
    """Whether each string matches the pattern from end to end."""
    return _full_match(call, values, attr_bytes(call, "pattern"))


def _full_match(call: Call, values: Array, pattern: bytes) -> Array:
    regex = _compile(call, pattern, captures=False)
    return each_number(lambda v: regex.fullmatch(v) is not None, values, np.bool_)


@kernel("RegexReplace")
def replace(call: Call, values: Array, pattern: Array, rewrite: Array) -> Array:
    """Matches replaced by ``rewrite``, where ``\\0`` is the match and ``\\1`` ... its groups."""
    return _replace(
        call,
        values,
        scalar_string(call, pattern, "the pattern"),
        scalar_string(call, rewrite, "the rewrite"),
    )


@kernel("StaticRegexReplace")
def static_replace(call: Call, values: Array) -> Array:
    """Matches replaced by ``rewrite``, where ``\\0`` is the match and ``\\1`` ... its groups."""
    return _replace(call, values, attr_bytes(call, "pattern"), attr_bytes(call, "rewrite"))


def _replace(call: Call, values: Array, pattern: bytes, rewrite: bytes) -> Array:
    pieces, valid = _pieces(rewrite)
    highest = max((p for p in pieces if isinstance(p, int)), default=0)
    regex = _compile(call, pattern, captures=True)
    groups = regex.groups
    if highest > groups:
        return values
    if not highest:
        regex = _compile(call, pattern, captures=False)
    call.require(
        not highest or groups <= _MOST_GROUPS,
        "a pattern whose groups are written must not have too many",
        found=f"{groups} groups",
        needed=f"{_MOST_GROUPS} at most, or a rewrite without \\1 to \\9",
    )
    if call.attrs["replace_global"]:
        return each(lambda v: _replace_all(regex, pieces, v), values)
    if not valid:
        return values
    return each(lambda v: _replace_first(regex, pieces, v), values)


def _pieces(rewrite: bytes) -> tuple[list[bytes | int], bool]:
    """Literal parts and group numbers up to the first bad escape; whether there was none."""
    out: list[bytes | int] = []
    at = 0
    while at < len(rewrite):
        if rewrite[at : at + 1] != b"\\":
            end = rewrite.find(b"\\", at)
            end = len(rewrite) if end < 0 else end
            out.append(rewrite[at:end])
            at = end
            continue
        mark = rewrite[at + 1 : at + 2]
        if not (mark.isdigit() or mark == b"\\"):
            return out, False
        out.append(int(mark) if mark.isdigit() else b"\\")
        at += 2
    return out, True


def _expand(match: Any, pieces: list[bytes | int]) -> bytes:
    return b"".join((match.group(p) or b"") if isinstance(p, int) else p for p in pieces)


def _replace_first(regex: Any, pieces: list[bytes | int], text: bytes) -> bytes:
    match = regex.search(text)
    if match is None:
        return text
    return text[: match.start()] + _expand(match, pieces) + text[match.end() :]


def _replace_all(regex: Any, pieces: list[bytes | int], text: bytes) -> bytes:
    """Every match from left to right; no empty match right behind another match."""
    starts = [*char_starts(text), len(text)]
    following = dict(itertools.pairwise(starts))
    out: list[bytes] = []
    at, last = 0, -1
    while at <= len(text):
        match = regex.search(text, at)
        if match is None:
            break
        out.append(text[at : match.start()])
        if match.start() == match.end() == last:
            step = following.get(at, at + 1)
            out.append(text[at:step])
            at = step
            continue
        out.append(_expand(match, pieces))
        at = last = match.end()
    out.append(text[at:])
    return b"".join(out)
