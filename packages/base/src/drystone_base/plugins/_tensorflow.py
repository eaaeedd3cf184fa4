"""Keeping TensorFlow out of a process in which the host already answers to its libraries' names.

A plugin that needs ``libtensorflow_framework.so.2`` is given an alias of the host. TensorFlow's own
modules would be given the same alias and fail with undefined symbols, so importing TensorFlow
later raises an error that says what to do instead. Imported before, it works beside the host.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from drystone_base.core.errors import PluginError

__all__ = ["TensorFlowBlocked", "guard_imports"]

_TAKEN: Final = ("tensorflow", "tensorflow_core")


class TensorFlowBlocked(PluginError, ImportError):  # type: ignore[misc]  # path is never None
    """TensorFlow was imported after a plugin that took the names of its libraries."""

    default_code = "tensorflow-after-plugin"


class _Guard:
    """A finder that finds nothing, and refuses TensorFlow."""

    def __init__(self, plugin: str, path: str, names: list[str]) -> None:
        self.plugin = plugin
        self.path = path
        self.names = names

    def find_spec(
        self,
        fullname: str,
        _path: Sequence[str] | None = None,
        _target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname in _TAKEN:
            raise TensorFlowBlocked(
                f"TensorFlow cannot be imported after plugin {self.plugin} ({self.path})",
                check="TensorFlow and a plugin must not answer to the same library names",
                found=f"drystone's host answers to {', '.join(self.names)} in this process",
                needed="TensorFlow imported first, or the plugin in a process of its own",
                remedy="import tensorflow before drystone loads plugins; or use "
                "DRYSTONE_PLUGIN_ISOLATION=process for optimizers; or do without the plugin: "
                f"DRYSTONE_PLUGINS_DISABLE={self.plugin}",
                plugin=self.plugin,
                path=self.path,
            )
        return None


def guard_imports(plugin: str, path: str) -> bool:
    """Refuse later imports of TensorFlow where the host answers to its names; whether it does."""
    from drystone_base.host.library import aliases

    names = aliases()
    if not names or "tensorflow" in sys.modules:
        return bool(names)
    guards = [finder for finder in sys.meta_path if isinstance(finder, _Guard)]
    if guards:
        guards[0].names = names
    else:
        sys.meta_path.insert(0, _Guard(plugin, path, names))
    return True
