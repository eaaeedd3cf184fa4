"""Plugin libraries for tests of loading, and settings that touch nothing of the user's."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from drystone_base.core import plugin_settings as _settings
from drystone_base.core.plugin_settings import Settings
from drystone_base.plugins import Plugin, _discover, _places

__all__ = [
    "MAGIC",
    "OPEN",
    "VARIANTS",
    "Compile",
    "own_settings",
    "own_site",
    "plugin",
    "put",
    "records_flag",
    "rewritten",
    "search",
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


def own_site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The plugin folder of a site-packages folder, which alone is searched; in developer mode."""
    folder = tmp_path / "site-packages" / "drystone-plugins"
    folder.mkdir(parents=True)
    search(monkeypatch, folder.parent)
    monkeypatch.setattr(_discover, "points", lambda _: [])
    monkeypatch.setenv("DRYSTONE_DEVELOPER_MODE", "1")
    monkeypatch.setenv("DRYSTONE_PLUGIN_PROBE_SECONDS", "0")
    return folder


def search(monkeypatch: pytest.MonkeyPatch, *folders: Path | str) -> None:
    """Let discovery see this ``sys.path``."""
    monkeypatch.setattr(
        _places, "sys", SimpleNamespace(path=[str(f) for f in folders], modules=sys.modules)
    )


def put(file: Path, folder: Path, name: str) -> Path:
    """A copy of the file in a folder."""
    shutil.copy(file, folder / name)
    return folder / name
