"""This machine: what its processor can do, and where to keep what need not be found out twice."""

from typing import Final

from drystone_base.core.plugin_settings import cache_folder
from drystone_base.core.processor import features

__all__ = ["cache_folder", "container_bytes", "features"]

_CGROUP: Final = "/sys/fs/cgroup/memory.max"


def container_bytes() -> int:
    """The memory of the container; raises ``OSError``, and ``ValueError`` where it has no bound."""
    with open(_CGROUP, encoding="ascii") as file:
        return int(file.read())
