"""Pages that web servers make of directories: the names that they link to."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

__all__ = ["listed"]

_TITLE: Final = re.compile(r"index of|directory listing|listing of", re.IGNORECASE)
"""What Apache, nginx, lighttpd, Python's server and others write above a listing."""


class _Page(HTMLParser):
    """Titles and links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.titles = ""
        self.links: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep where links lead."""
        if tag in ("title", "h1", "h2"):
            self._inside = tag
        if tag == "a":
            self.links += [value for name, value in attrs if name == "href" and value]

    def handle_endtag(self, tag: str) -> None:
        """Leave a title."""
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        """Keep the text of titles."""
        if self._inside:
            self.titles += data


def listed(page: bytes, url: str) -> list[str] | None:
    """What lies in the directory ``url`` (with a slash at its end) by its page, sorted.

    None for a page that is no listing: links of others say nothing.
    """
    found = _Page()
    found.feed(page.decode("utf-8", "surrogateescape"))
    if not _TITLE.search(found.titles):
        return None
    here = urlsplit(url)
    names = set()
    for link in found.links:
        there = urlsplit(urljoin(url, link))
        if (there.scheme, there.netloc) != (here.scheme, here.netloc) or there.query:
            continue
        if there.path.startswith(here.path):
            names.add(unquote(there.path[len(here.path) :], errors="surrogateescape").rstrip("/"))
    return sorted(n for n in names if n and n not in (".", "..") and not set(n) & {"/", "\\"})
