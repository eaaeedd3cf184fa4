"""The library under test."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import Plugin, load_library
from drystone_conformance.capabilities import Capabilities

__all__ = ["MODULES", "Subject"]

MODULES = {
    "kernels": ("ops", "kernels"),
    "optimizer": ("optimizers",),
    "passes": ("passes",),
    "filesystem": ("schemes",),
    "device": ("devices",),
    "profiler": ("profilers",),
    "subgraph": ("subgraph",),
    "network": ("network",),
}
"""Suites, and what a library must have registered for one to be run."""


@dataclass
class Subject:
    """A plugin library, what its author says it lacks, and where its file systems may write.

    Instead of a library: ``backends``, subgraph backends of Python packages by name, or
    ``schemes``, filesystems that the installed packages serve.
    """

    path: Path
    capabilities: Capabilities = field(default_factory=Capabilities)
    roots: dict[str, str] = field(default_factory=dict)
    backends: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What is tested: the library's path, or the names of what packages serve."""
        return ", ".join((*self.backends, *self.schemes)) or str(self.path)

    @cached_property
    def outcome(self) -> Plugin | DrystoneError:
        """The loaded plugin, or why it could not be loaded."""
        try:
            return load_library(os.fspath(self.path), policy="allow_unverified")
        except DrystoneError as error:
            return error

    @property
    def plugin(self) -> Plugin:
        """The loaded plugin; raises what loading raised."""
        if isinstance(self.outcome, DrystoneError):
            raise self.outcome
        return self.outcome

    def registered(self, kind: str) -> list[str]:
        """What it registered: ops, kernels, optimizers, passes, schemes, devices, ... by kind."""
        if self.backends:
            return sorted(self.backends) if kind == "subgraph" else []
        if self.schemes:
            return sorted(self.schemes) if kind == "schemes" else []
        if isinstance(self.outcome, DrystoneError):
            return []
        return sorted(self.outcome.registered.get(kind, []))

    def offers(self, module: str) -> bool:
        """Whether the suite of that module has something to test."""
        return any(self.registered(kind) for kind in MODULES[module])

    def root(self, scheme: str) -> str:
        """URI of a folder that tests of a file system may fill and empty."""
        return self.roots.get(scheme, f"{scheme}://conformance").rstrip("/")
