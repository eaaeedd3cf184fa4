"""The environment variables of PJRT plugins."""

from __future__ import annotations

from typing import Final

from drystone_base.core.environment import Variable
from drystone_base.core.settings import names, text

__all__ = ["PLUGIN", "PLUGINS", "VARIABLES"]

_OWNER: Final = "drystone-pjrt"

PLUGINS: Final = Variable(
    "DRYSTONE_PJRT_PLUGINS", names("cpu:/opt/pjrt/cpu.so,mine:/opt/mine/plugin.so"), (),
    "PJRT plugins beside those that packages bring: names and paths of libraries, written as "
    "JAX's `PJRT_NAMES_AND_LIBRARY_PATHS`.", _OWNER,
)  # fmt: skip
PLUGIN: Final = Variable(
    "DRYSTONE_PJRT_PLUGIN", text(), "",
    "Which PJRT plugin the backend `pjrt` uses, by name (default: the first that can be used).",
    _OWNER,
)  # fmt: skip

VARIABLES: Final = (PLUGINS, PLUGIN)
