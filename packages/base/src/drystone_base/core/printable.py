"""Text of others where people read it: a terminal, a page, a log.

Names come from files. One that holds an escape sequence would colour a terminal or rename its
window, one with a bidirectional override would show another name than it is, one with a line break
would add a line to a report. What does not print is shown as Python would write it, ``\\x1b``.
"""

from __future__ import annotations

import warnings

__all__ = ["bounded", "described", "plain", "plain_json", "plain_lines", "shown_on", "warn"]

_MOST: int = 500
_MOST_LINES: int = 20


def plain(text: str) -> str:
    """The text in one line: what does not print (controls, formats, surrogates) is escaped.

    Unicode's categories Cc, Cf, Cs, Co, Cn, Zl, Zp and spaces that are not the plain one.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def plain_lines(text: str, indent: str = "") -> str:
    """As :func:`plain`, with line breaks and tabs left; ``indent`` goes before further lines."""
    if text.isprintable():
        return text
    return f"\n{indent}".join("\t".join(map(plain, line.split("\t"))) for line in text.split("\n"))


def plain_json(document: str) -> str:
    """A JSON document whose strings show nothing that does not print: it stays the same value."""
    if document.isprintable():
        return document
    return "".join(c if c.isprintable() or c in "\n\t" else _json_escaped(c) for c in document)


def bounded(text: str, most: int) -> str:
    """As :func:`plain_lines`, of at most so many bytes, and twenty lines.

    Of a longer one it is the beginning and the end, and says between them how much was left out.
    """
    lines = plain_lines(text).split("\n")
    if len(lines) > _MOST_LINES:
        half = _MOST_LINES // 2
        lines[half : 1 - half] = [f"... ({len(lines) - 2 * half + 1} lines left out) ..."]
    text = "\n".join(lines)
    size = len(text.encode())
    if size <= most:
        return text
    half = (most - 50) // 2
    data = text.encode()
    first, last = (part.decode("utf-8", "ignore") for part in (data[:half], data[-half:]))
    return f"{first} ... ({len(text) - len(first) - len(last)} characters left out) ... {last}"


def described(value: object, most: int = _MOST) -> str:
    """Any value as text of bounded length, also one whose ``repr`` fails."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    if len(text) > most:
        text = f"{text[:most]}... ({len(text)} characters)"
    return plain(text)


def shown_on(text: str, stream: object) -> str:
    """As :func:`plain_lines` where the stream is a terminal; anything else gets what there is."""
    is_terminal = getattr(stream, "isatty", None)
    return plain_lines(text) if callable(is_terminal) and is_terminal() else text


def warn(text: str, category: type[Warning] = UserWarning, *, stacklevel: int = 1) -> None:
    """``warnings.warn`` of a text that names what others named; it ends up in a terminal."""
    warnings.warn(plain_lines(text), category, stacklevel=stacklevel + 1)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")


def _json_escaped(letter: str) -> str:
    """As JSON has it: beyond the first plane, two surrogates."""
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[k]:02x}{units[k + 1]:02x}" for k in range(0, len(units), 2))
