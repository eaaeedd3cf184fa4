"""What this process has registered beside what its packages bring, by kind.

A registry notes here what it takes in, so that code that asks imports no registry: the answer
is the same whichever modules are imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

__all__ = [
    "DEVICE_ENTRY",
    "ENTRY_FUNCTIONS",
    "ISOLATED_KERNELS",
    "OPS",
    "OPTIMIZERS",
    "PACKAGE_OPS",
    "PASSES",
    "PLUGINS",
    "PLUGIN_SETTINGS",
    "Registered",
]


class Registered:
    """Names in the order in which they were noted; a name may be noted more than once."""

    __slots__ = ("_names",)

    def __init__(self) -> None:
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._names))

    def note(self, name: str) -> None:
        """Note that something of this name was registered or set."""
        self._names.append(name)

    def forget(self, name: str) -> None:
        """Take back one note of this name, if there is one."""
        if name in self._names:
            self._names.remove(name)


OPS: Final = Registered()
"""Ops that the program has defined; those of plugins are not among them."""
PASSES: Final = Registered()
"""Passes of the program, of other packages and of plugins, and built-in ones that it removed."""
PACKAGE_OPS: Final = Registered()
"""Ops of installed packages, each defined when a process first uses it."""
OPTIMIZERS: Final = Registered()
"""Graph optimizers in Python, of the program and of other packages."""
PLUGINS: Final = Registered()
"""Files of plugins that were found or named, whether they could be loaded or not."""
PLUGIN_SETTINGS: Final = Registered()
"""Settings of plugins that the program has changed."""
ENTRY_FUNCTIONS: Final = Registered()
"""Entry functions of plugins that were called, here or in processes of their own."""
DEVICE_ENTRY: Final = "SE_InitPlugin"
"""The entry function of plugins that bring devices."""
ISOLATED_KERNELS: Final[dict[str, list[dict[str, Any]]]] = {}
"""Kernels of plugins in processes of their own, by op, as the host lists those of this process."""
