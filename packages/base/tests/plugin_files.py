"""Plugin libraries for tests of loading, and settings that touch nothing of the user's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from drystone_base.plugins import Plugin, _settings
from drystone_base.plugins._settings import Settings

__all__ = [
    "MAGIC",
    "OPEN",
    "VARIANTS",
    "Compile",
    "own_settings",
    "plugin",
    "records_flag",
    "rewritten",
]

Compile = Callable[..., Path]
VARIANTS = "loader_variants.c"
OPEN = Settings(policy="allow_unverified")
MAGIC = b"\x00S\\s\x22:^p*L}"


def plugin(path: Path, name: str = "") -> Plugin:
    """A record of a file, as discovery makes it."""
    return Plugin(name or path.name.removesuffix(".so"), str(path), "a test")


def records_flag(*records: str) -> str:
    """The compiler flag that puts these platform strings into loader_variants.c."""
    texts = ["TF_PLAT_STR_VERSION=1.0", *records]
    magic = r"\0S\\s\":^p*L}"
    return "-DRECORDS=" + "".join(f'"{magic}" "{text}"' for text in texts)


def rewritten(source: Path, target: Path, change: Callable[[bytearray], None]) -> Path:
    """A copy of a file with some bytes changed."""
    data = bytearray(source.read_bytes())
    change(data)
    shutil.copy(source, target)
    target.write_bytes(data)
    return target


def own_settings(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Nothing of the user's: neither settings, nor keys, nor what was remembered."""
    for name in [n for n in os.environ if n.startswith("DRYSTONE_") and "HOST" not in n]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setattr(_settings, "_overrides", {})
