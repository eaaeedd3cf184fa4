"""The key of the plan cache: an entry is used where all of this is what it was made from.

- the *model*: SHA-256 of the bytes of its graph's file, and of its checkpoint's index. The digest
  of a file of a megabyte or more is read once for each state of it (``digest_cache``): device,
  inode, size, and times of its last write and last change of any kind;
- the *request*: fetches, feeds, and the session's config;
- the *code*: name, version and RECORD of each installed distribution of drystone's and of each that
  declares an entry point of ours, of an editable one each file's size and time of change;
- the *plugins* that were found, whether they are loaded, and size and time of change of each file;
- the *machine*: the processor's kind and features;
- Python's and NumPy's versions, and environment variables that may change what is planned.

No path is part of it, so that entries that were made for an image serve in its containers. There is
no entry where the program has registered something of its own: no file says what that is.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base import STARTED
from drystone_base.core.environment import PLAN_CACHE, PLAN_CACHE_BYTES, SUBGRAPH_BACKEND
from drystone_base.core.installed import code_stamps, declared
from drystone_base.core.registered import DEVICE_ENTRY, ENTRY_FUNCTIONS, OPS, PASSES, PLUGINS

if TYPE_CHECKING:
    from drystone_base.api.config import SessionConfig

__all__ = ["cache_key", "has_own_ops", "home_key"]

_VARIABLES: Final = ("DRYSTONE_", "DNNL_", "GOMP_", "NPY_", "ONEDNN_", "OMP_", "OPENBLAS_", "TF_")
"""How names of environment variables begin that may change what is planned."""
_OF_CACHE: Final = frozenset((PLAN_CACHE.name, PLAN_CACHE_BYTES.name))
_CPUINFO: Final = "/proc/cpuinfo"
_FIRST_CORE: Final = 1 << 13  # bytes


def cache_key(config: SessionConfig) -> list[Any] | None:
    """All of the key but model, fetches and feeds, as JSON has it; None where plans are not cached.

    Plugins must be loaded.
    """
    if not (_is_plain(config) and _stages_last(config)) or has_own_ops() or _has_devices():
        return None
    code = code_stamps(STARTED)
    if code is None:
        return None
    return [
        code,
        sys.version,
        np.__version__,
        _processor(),
        sorted(
            (name, value)
            for name, value in os.environ.items()
            if name.startswith(_VARIABLES) and name not in _OF_CACHE
        ),
        [config.optimizer, config.intra_op_threads, config.inter_op_threads, config.deterministic],
        _plugins(),
    ]


def home_key() -> list[Any] | None:
    """What reading a model depends on beside its files; None where that is not cached."""
    code = None if has_own_ops() else code_stamps(STARTED)
    return None if code is None else [code, sys.version]


def _is_plain(config: SessionConfig) -> bool:
    """Whether the session runs whole graphs in the native executor, without passes of others."""
    if config.executor != "native" or config.seed is not None:
        return False
    if config.optimizer not in ("default", "off"):
        return False
    if config.passes or config.device_count or config.log_device_placement:
        return False
    if config.fetches_on_devices or not config.allow_soft_placement:  # of this process's devices
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


def _has_devices() -> bool:
    """Whether plugins bring devices, which no file says."""
    if DEVICE_ENTRY not in ENTRY_FUNCTIONS:
        return False
    from drystone_base.executor.plugin_devices import session_devices

    return bool(session_devices("native", {}))


def has_own_ops() -> bool:
    """Whether the program has registered ops."""
    return len(OPS) > 0


def _plugins() -> list[tuple[str, str, int, int]]:
    """Of each plugin of this process: name, state, and size and time of change of its file."""
    if not PLUGINS:
        return []
    from drystone_base.plugins._manager import manager

    return [(p.name, p.state, *_size_and_time(p.path)) for p in manager.found.plugins]


def _size_and_time(path: str) -> tuple[int, int]:
    """In whole seconds: layers of a container's image keep no more of them."""
    try:
        found = os.stat(path)
    except OSError:  # an entry point, which its distribution stands for
        return 0, 0
    return found.st_size, int(found.st_mtime)


@cache
def _processor() -> str:
    """The kind of the processor, and features of its first core: a machine may have hundreds."""
    try:
        with open(_CPUINFO, encoding="utf-8", errors="replace") as file:
            text = file.read(_FIRST_CORE).partition("\n\n")[0]
    except OSError:
        text = ""
    stated = [line for line in text.splitlines() if line.startswith(("flags", "Features", "cpu\t"))]
    return "\n".join([os.uname().machine, *stated])
