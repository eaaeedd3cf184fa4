"""The environment variables of partitioning."""

from __future__ import annotations

from typing import Final

from drystone_base.core.environment import Variable
from drystone_base.core.settings import path, whole

__all__ = ["EXECUTABLE_CACHE", "EXECUTABLE_CACHE_BYTES", "VARIABLES"]

_OWNER: Final = "drystone-subgraph"

EXECUTABLE_CACHE: Final = Variable(
    "DRYSTONE_EXECUTABLE_CACHE", path("a folder, or off"), "",
    "Where executables of backends outlive a process (default: the user's cache folder).", _OWNER,
)  # fmt: skip
EXECUTABLE_CACHE_BYTES: Final = Variable(
    "DRYSTONE_EXECUTABLE_CACHE_BYTES", whole(0, 1 << 50), 4 << 30, "How much may be kept there.",
    _OWNER,
)  # fmt: skip

VARIABLES: Final = (EXECUTABLE_CACHE, EXECUTABLE_CACHE_BYTES)
