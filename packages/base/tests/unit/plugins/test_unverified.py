"""What developer mode or a policy lets in, though nobody vouches for it, is said: once for each."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from plugin_files import VARIANTS, Compile, own_settings, own_site, put

from drystone_base.core.plugin_settings import configure
from drystone_base.plugins import _minisign as minisign
from drystone_base.plugins import _trust
from drystone_base.plugins._manager import Manager, PluginWarning


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin folder, and developer mode."""
    own_settings(monkeypatch, tmp_path)
    return own_site(monkeypatch, tmp_path)


def texts(manager: Manager, *paths: Path) -> list[str]:
    """What is said when all that is installed is loaded, twice, and then each of the paths."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        manager.ensure_loaded()
        manager.ensure_loaded()
        for path in paths:
            manager.load(path)
    assert {item.category for item in caught} <= {PluginWarning}
    return [str(item.message) for item in caught]


@pytest.mark.parametrize("by", ["developer mode", "policy allow_unverified"])
def test_each_is_named_once(
    compile_library: Compile, site: Path, tmp_path: Path, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E16 and S2: a developer mode lets unsigned libraries in, visibly."""
    if by != "developer mode":
        monkeypatch.delenv("DRYSTONE_DEVELOPER_MODE")
        monkeypatch.setenv("DRYSTONE_PLUGIN_POLICY", "allow_unverified")
    mark = by[0].upper()
    for name in ("liba.so", "libb.so"):
        flags = [f'-DOP="Unverified{mark}{name[3].upper()}"']
        put(compile_library(VARIANTS, flags=flags), site, name)
    other = put(compile_library(VARIANTS, flags=[f'-DOP="Unverified{mark}C"']), tmp_path, "libc.so")
    found = texts(Manager(), other, other, site / "liba.so")
    assert found == [
        f"plugin {file.stem[3:]} ({file}) is not verified: it has no signature; loaded by {by} "
        f"[plugin-unsigned]; `drystone plugins explain {file.stem[3:]}` tells more"
        for file in (site / "liba.so", site / "libb.so", other)
    ]


def test_nothing_is_said_of_what_a_trusted_key_has_signed(
    compile_library: Compile, site: Path
) -> None:
    file = put(compile_library(VARIANTS, flags=['-DOP="UnverifiedNot"']), site, "libs.so")
    key = minisign.generate()
    _trust.add_key(key.public())
    text = minisign.sign(key, file, "timestamp:1", hashed=True).text("of a test")
    file.with_name("libs.so.minisig").write_text(text, encoding="utf-8")
    assert texts(Manager(), file) == []


def test_nothing_is_said_of_what_is_refused_or_disabled(
    compile_library: Compile, site: Path
) -> None:
    put(compile_library(VARIANTS, flags=['-DOP="UnverifiedOff"']), site, "liboff.so")
    configure(disabled=("off",))
    assert texts(Manager()) == []
