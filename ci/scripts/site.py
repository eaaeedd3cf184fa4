"""What the documentation's site needs of mkdocs beyond its configuration (ci/config/mkdocs.yml).

Pages are read in the repository as well, where a link may lead to any file of it: on the site such
a link is the file's path. Docstrings are written for readers of source, so that roles as in
``:meth:`run``` are names on the site. ``not_in_nav`` of the configuration lists what is reached
from an index: error codes and decisions.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from griffe import Docstring, Extension, Object

from ci.scripts.project import ROOT

__all__ = ["PlainRoles", "on_page_markdown"]

_LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)\s#]+)(?:#[^)\s]*)?\)")
_ROLE = re.compile(r":(\w+):`~?([\w.]+)`")
_LITERAL = re.compile(r"(?m)^(?P<text>.*?) ?::\n\n")


def on_page_markdown(markdown: str, *, page: Any, **_: object) -> str:
    """Turn links to files outside docs/ into their paths in the repository."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def path_of(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / match[2]))
        if target.is_relative_to(ROOT / "docs") or not target.exists():
            return match[0]
        return f"{match[1].replace('`', '')} (`{target.relative_to(ROOT)}`)"

    return _LINK.sub(path_of, markdown)


def plain(text: str) -> str:
    """A docstring as Markdown: roles as names, literal blocks as they are indented.

    >>> plain("Raises as :meth:`run` does::\\n\\n    x")
    'Raises as `run()` does:\\n\\n    x'
    """
    text = _ROLE.sub(lambda m: f"`{m[2]}()`" if m[1] in ("meth", "func") else f"`{m[2]}`", text)
    return _LITERAL.sub(lambda m: f"{m['text']}{':' if m['text'] else ''}\n\n", text)


class PlainRoles(Extension):
    """Hands docstrings on as Markdown."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of one object, if it has one."""
        found: Docstring | None = obj.docstring
        if found:
            found.value = plain(found.value)
