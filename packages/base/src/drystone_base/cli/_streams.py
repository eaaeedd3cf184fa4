"""Standard streams that take whatever is printed: closed ones, and encodings that lack letters."""

from __future__ import annotations

import codecs
import io
import os
import sys
from contextlib import suppress
from typing import Final

__all__ = ["abandon_output", "keep_for_document", "make_printable"]

_SPELT: Final = {"µ": "u", "█": "#", "…": "."}


def make_printable() -> None:
    """Let characters that a stream cannot encode be spelt or escaped, and open closed streams."""
    codecs.register_error("drystone.spelt", _spell)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who started the process, as in `drystone doctor >&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="drystone.spelt")


def keep_for_document() -> None:
    """Leave standard output to what Python prints, as with ``--json``.

    What libraries and plugins print goes to standard error: it would not be part of the document.
    """
    with suppress(OSError, ValueError):  # where it is no file, no other process writes to it
        if not isinstance(sys.stdout, io.TextIOWrapper) or sys.stdout.fileno() != 1:
            return
        sys.stdout.flush()
        document = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        usual = sys.stdout
        sys.stdout = io.TextIOWrapper(document, usual.encoding, usual.errors)


def abandon_output() -> None:
    """Print no more: nothing reads it, and what is left in buffers must not fail at the end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _spell(error: UnicodeError) -> tuple[str, int]:
    """A handler of codecs: look-alikes where there are some, escapes for the rest."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    escaped = (_SPELT.get(c) or c.encode("ascii", "backslashreplace").decode() for c in letters)
    return "".join(escaped), error.end
