"""Where plugins are looked for: folders of ``sys.path`` that packages are installed into.

Never the working folder: an archive with a model that is unpacked there could hold a plugin, too.
"""

from __future__ import annotations

import os
import sys
from typing import Final

__all__ = ["is_working_folder", "not_a_site", "plugin_folders"]

_NAMES: Final = ("site-packages", "dist-packages")


def plugin_folders(name: str) -> list[tuple[str, str]]:
    """That folder in every entry of ``sys.path`` that has one, each once, in order.

    Each with the reason why it is not searched, or "".
    """
    seen: set[str] = set()
    found = []
    for entry in sys.path:
        folder = os.path.join(entry, name)
        if os.path.isdir(folder) and (real := os.path.realpath(folder)) not in seen:
            why = not_a_site(entry)
            found.append((folder, why))
            if not why:
                seen.add(real)
    return found


def not_a_site(entry: str) -> str:
    """Why an entry of ``sys.path`` is no folder that packages are installed into; "" if it is."""
    works_there = is_working_folder(entry)
    named = os.path.basename(os.path.normpath(entry)) in _NAMES
    if not works_there and (named or _has_packages(entry)):
        return ""
    if os.path.realpath(entry) in _known():
        return ""
    if works_there:
        return "the working folder is not searched"
    return "no package is installed in this folder of sys.path"


def is_working_folder(entry: str) -> bool:
    """Whether an entry of ``sys.path`` is the folder that the process works in."""
    return not os.path.isabs(entry) or os.path.realpath(entry) == os.path.realpath(os.curdir)


def _known() -> set[str]:
    """The site folders of this interpreter."""
    import site
    import sysconfig  # with a table of how Python was built: only where names do not tell

    paths = [sysconfig.get_path(kind) for kind in ("purelib", "platlib")]
    return {os.path.realpath(path) for path in (*paths, site.USER_SITE) if path}


def _has_packages(entry: str) -> bool:
    """Whether pip has installed something there, as with ``--target``."""
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(entry))
    except OSError:
        return False
