"""What a plan depends on beside the model, its fetches and its feeds."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core.entry_points import declared, declaring
from drystone_base.core.environment import SUBGRAPH_BACKEND
from drystone_base.core.registered import OPS, PASSES, PLUGINS

if TYPE_CHECKING:
    from drystone_base.api.config import SessionConfig

__all__ = ["circumstances", "has_own_ops", "home"]

_VARIABLES: Final = ("DRYSTONE_", "DNNL_", "GOMP_", "NPY_", "ONEDNN_", "OMP_", "OPENBLAS_", "TF_")
"""How names of environment variables begin that may change what is planned."""
_CPUINFO: Final = "/proc/cpuinfo"
_FIRST_CORE: Final = 1 << 13  # bytes


def home() -> str:
    """The folder that this package is in."""
    return os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


def circumstances(config: SessionConfig) -> list[Any] | None:
    """What a plan of a session with this config depends on; None where it must not be kept.

    Plugins must be loaded. Where a program has changed what is registered, by Python, no file says
    what a plan depends on.
    """
    if not (_is_plain(config) and _stages_last(config)) or has_own_ops():
        return None
    return [
        home(),
        sys.version,
        np.__version__,
        _processor(),
        _cores(),
        sorted((k, v) for k, v in os.environ.items() if k.startswith(_VARIABLES)),
        [config.optimizer, config.intra_op_threads, config.inter_op_threads, config.deterministic],
        _plugins(),
        declaring(),
    ]


def _is_plain(config: SessionConfig) -> bool:
    """Whether the session runs whole graphs in the native executor, without passes of others."""
    if config.executor != "native" or config.seed is not None:
        return False
    if config.optimizer not in ("default", "off"):
        return False
    if config.passes or config.device_count or config.log_device_placement:
        return False
    if not config.allow_soft_placement:  # each process has its own devices
        return False
    if PASSES or declared("drystone.passes"):
        return False
    wish = config.subgraphs
    return wish == "off" or (wish is None and not SUBGRAPH_BACKEND.value())


def _stages_last(config: SessionConfig) -> bool:
    """Whether every module that changes graphs says that it would do the same again."""
    if config.optimizer == "off":
        return True
    from drystone_base.modules import modules

    return all(
        "lasting" in module.stages and module.stages["lasting"](config.optimizer)
        for module in modules().values()
        if "optimize" in module.stages
    )


def has_own_ops() -> bool:
    """Whether the program has registered ops."""
    return len(OPS) > 0


def _plugins() -> list[tuple[str, str, str]]:
    """The plugins of this process, by name, path and state; none where none are installed."""
    if not PLUGINS:
        return []
    from drystone_base.plugins._manager import manager

    return [(plugin.name, plugin.path, plugin.state) for plugin in manager.found.plugins]


@cache
def _processor() -> str:
    """What the first core says of itself, but for what varies: a machine may have hundreds."""
    try:
        with open(_CPUINFO, encoding="utf-8", errors="replace") as file:
            text = file.read(_FIRST_CORE).partition("\n\n")[0]
    except OSError:
        return os.uname().machine
    kept = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")
    return "\n".join(line for line in text.splitlines() if line.startswith(kept))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
