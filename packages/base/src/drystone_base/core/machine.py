"""This machine: what its processor can do, and where to keep what need not be found out twice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from drystone_base.core.plugin_settings import cache_folder
from drystone_base.core.processor import features

if TYPE_CHECKING:
    from drystone_base.core.environment import Variable

__all__ = ["cache_folder", "chosen_folder", "container_bytes", "features"]

_CGROUP: Final = "/sys/fs/cgroup/memory.max"


def container_bytes() -> int:
    """The memory of the container; raises ``OSError``, and ``ValueError`` where it has no bound."""
    with open(_CGROUP, encoding="ascii") as file:
        return int(file.read())


def chosen_folder(variable: Variable, name: str) -> str | None:
    """The folder that a variable names, else that of a name in the user's cache folder.

    None where the variable says ``off``, and for a user without a home.
    """
    chosen = str(variable.value())
    if chosen.lower() in ("off", "none", "0"):
        return None
    try:
        return chosen or os.path.join(cache_folder(), name)
    except RuntimeError:
        return None
