"""Calls of plugins' filesystems, which Ctrl-C need not wait for: see ``core/detached.py``.

Those of an untrusted library, made by the main thread: calls of trusted libraries return.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from drystone_base.core import time_limits
from drystone_base.core.detached import compute_detached
from drystone_base.host.library import is_vouched_for

__all__ = ["call_of_plugin", "forget_plugins", "may_be_left", "note_plugin"]

T = TypeVar("T")

_LIBRARIES: Final[dict[bytes, str]] = {}
"""By scheme."""


def note_plugin(scheme: bytes, library: str) -> None:
    """Have calls for a scheme be ones that can be left, unless its library is trusted."""
    if library and not is_vouched_for(library):
        _LIBRARIES[scheme] = library


def forget_plugins() -> None:
    """Forget the schemes."""
    _LIBRARIES.clear()


def may_be_left(uri: bytes) -> bool:
    """Whether a call for the URI that this thread makes can be left."""
    if uri.partition(b"://")[0] not in _LIBRARIES:
        return False
    return threading.current_thread() is threading.main_thread()


def call_of_plugin(uri: bytes, does: str, work: Callable[[], T]) -> T:
    """What ``work()`` gives, which asks the filesystem of ``uri`` and holds all that it uses.

    ``does``: what is asked of it. Raises what ``work()`` raises, and ``OutOfTime``.
    """
    if not may_be_left(uri):
        return work()
    scheme = uri.partition(b"://")[0]
    what = f"filesystem {scheme.decode()} ({_LIBRARIES[scheme]}), which was asked to {does},"
    return compute_detached(work, time_limits.ends(), what)
