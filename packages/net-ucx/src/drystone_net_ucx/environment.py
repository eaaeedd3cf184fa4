"""The environment variables of drystone-net-ucx."""

from __future__ import annotations

from typing import Final

from drystone_base.core.environment import Variable
from drystone_base.core.settings import path

__all__ = ["UCX_LIBRARY", "VARIABLES"]

UCX_LIBRARY: Final = Variable(
    "DRYSTONE_UCX_LIBRARY", path("a file libucp.so.0"), "",
    "UCX to use (default: the system's, else that of the wheel libucx).", "drystone-net-ucx",
)  # fmt: skip

VARIABLES: Final = (UCX_LIBRARY,)
