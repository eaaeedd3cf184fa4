"""What errors of plugins say: whom to ask, what to do now, what the author changes.

Who reads such an error either uses the plugin or makes it. In developer mode it is its author;
everybody else is told how to go on without the plugin and whom to ask, before what its author does.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.metadata import PackageMetadata

__all__ = ["advice", "disabling", "makers", "once"]

_MOST_REASONS: Final = 8
_LARGEST_RECORD: Final = 1 << 24


def advice(name: str, path: str, package: str = "", *, author: str = "", user: str = "") -> str:
    """The remedy of an error about a plugin, for the person at hand.

    ``user`` is what helps who uses it; without, to disable it. ``author`` is what its author does.
    """
    from drystone_base.core.plugin_settings import current

    if author and current().developer_mode:
        return author
    asked = makers(path, package)
    now = user or f"disable it meanwhile ({disabling(name)}) and report this to {asked}"
    return f"{now}; its author: {author}" if author else now


def disabling(name: str) -> str:
    """The setting that disables a plugin, as a shell takes it."""
    import shlex

    return f"DRYSTONE_PLUGINS_DISABLE={shlex.quote(name)}"


def makers(path: str, package: str = "") -> str:
    """Whom to ask about a plugin: those who make its package, with the address that it states."""
    package = package or _package_of(path)
    if not package:
        return "the person who gave you the file"
    from importlib import metadata

    try:
        place = _place(metadata.metadata(package))
    except Exception:  # whatever its metadata are: the name is known
        place = ""
    return f"the makers of {package}" + (f" ({place})" if place else "")


def _place(facts: PackageMetadata) -> str:
    """Where a package says that it takes reports, or where it is at home."""
    urls = [text.split(",", 1) for text in facts.get_all("Project-URL") or []]
    for wanted in ("issue|bug|tracker|support", "home|source|repository"):
        found = (url for label, *url in urls if re.search(wanted, label, re.IGNORECASE) and url)
        for url in found:
            return str(url[0]).strip()
    names = ("Home-page", "Maintainer-email", "Author-email")
    return next((text for name in names if (text := str(facts[name] or "").strip())), "")


def _package_of(path: str) -> str:
    """The distribution whose RECORD lists the file; "" for none. Two folders up is its site."""
    folder, file = os.path.split(os.path.abspath(path))
    site, last = os.path.split(folder)
    wanted = f"\n{last}/{file},".encode(errors="surrogateescape")
    try:
        infos = [name for name in sorted(os.listdir(site)) if name.endswith(".dist-info")]
    except OSError:
        return ""
    for name in infos:
        record = os.path.join(site, name, "RECORD")
        try:
            if os.stat(record).st_size > _LARGEST_RECORD:
                continue
            with open(record, "rb") as stream:
                if wanted in b"\n" + stream.read():
                    return name.removesuffix(".dist-info").rsplit("-", 1)[0]
        except OSError:
            continue
    return ""


def once(texts: Iterable[str]) -> str:
    """Reasons in one line: each once, with how often it was given; at most eight."""
    counted = Counter(texts)
    shown = [
        text if times == 1 else f"{text} ({times} times)"
        for text, times in list(counted.items())[:_MOST_REASONS]
    ]
    more = len(counted) - len(shown)
    return "; ".join(shown + ([f"and {more} other reasons"] if more else []))
