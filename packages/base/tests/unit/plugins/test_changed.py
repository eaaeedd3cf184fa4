"""Files that change between their checks and their opening, and who may change them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plugin_files import VARIANTS, Compile, own_settings, own_site, put, records_flag, search

from drystone_base.core.errors import PluginError
from drystone_base.core.installed import EntryPoint
from drystone_base.core.plugin_settings import Settings
from drystone_base.plugins import Plugin, StepResult, _discover, _trust
from drystone_base.plugins import _manager as managing
from drystone_base.plugins import _minisign as minisign
from drystone_base.plugins._discover import discover
from drystone_base.plugins._manager import Manager
from drystone_base.plugins._open import open_plugin


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin folder in a site-packages folder of its own, and developer mode."""
    own_settings(monkeypatch, tmp_path)
    return own_site(monkeypatch, tmp_path)


def test_a_file_that_changes_while_it_is_checked(
    compile_library: Compile, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(compile_library(VARIANTS), site, "libmoving.so")
    before = managing._CHECKS

    def swap(plugin: Any, _settings: Settings) -> Any:
        os.utime(file, (1, 1))
        return before[-1](plugin, _settings)

    monkeypatch.setattr(managing, "_CHECKS", (*before[:-1], swap))
    with pytest.raises(PluginError) as caught:
        Manager().load(file)
    assert caught.value.code == "plugin-changed"


def write_over(file: Path, evil: bytes) -> None:
    """In place, with the size and the time of change that it had."""
    facts = file.stat()
    with file.open("r+b") as stream:
        stream.write(evil)
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def put_in_place(file: Path, evil: bytes) -> None:
    """Another file of the name, with the same size and time."""
    facts, new = file.stat(), file.with_suffix(".new")
    new.write_bytes(evil)
    os.utime(new, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    new.replace(file)


@pytest.mark.parametrize("forged", [False, True])
@pytest.mark.parametrize("swap", [write_over, put_in_place])
@pytest.mark.parametrize("step", range(2, 6))
def test_a_signed_file_that_another_is_put_in_place_of(
    compile_library: Compile,
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
    swap: Callable[[Path, bytes], None],
    step: int,
    forged: bool,
) -> None:
    """Whenever after the check of its signature: it is refused, and nothing of the other runs.

    Also where the state of the file says that nothing has happened.
    """
    monkeypatch.delenv("DRYSTONE_DEVELOPER_MODE")
    good = compile_library(VARIANTS, flags=['-DOP="Good"', records_flag()])
    crashing = compile_library(VARIANTS, flags=["-DCRASH", records_flag()]).read_bytes()
    file = put(good, site, "libsigned.so")
    size = max(file.stat().st_size, len(crashing))
    file.write_bytes(file.read_bytes().ljust(size, b"\0"))
    key = minisign.generate()
    _trust.add_key(key.public())
    text = minisign.sign(key, file, "file:libsigned.so").text("a test")
    file.with_name(file.name + ".minisig").write_text(text, encoding="utf-8")
    checks = list(managing._CHECKS)
    before = checks[step]

    def swapping(plugin: Plugin, settings: Settings) -> StepResult:
        found = before(plugin, settings)
        swap(file, crashing.ljust(size, b"\0"))
        if forged:
            monkeypatch.setattr(managing, "identity", lambda _: plugin.identity)
        return found

    checks[step] = swapping
    monkeypatch.setattr(managing, "_CHECKS", tuple(checks))
    with pytest.raises(PluginError) as caught:
        Manager().load(file)
    assert caught.value.code == "plugin-changed"
    assert caught.value.found.endswith("; it was not opened")


@pytest.mark.parametrize("step", range(1, 5))
def test_what_was_put_in_place_is_not_tried_in_a_child(
    compile_library: Compile, site: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """An unsigned file, too: its constructors run with the rights of the user in any process."""
    monkeypatch.setenv("DRYSTONE_PLUGIN_PROBE_SECONDS", "20")
    file = put(compile_library(VARIANTS, flags=['-DOP="Untried"']), site, "libuntried.so")
    checks = list(managing._CHECKS)
    before = checks[step]

    def swapping(plugin: Plugin, settings: Settings) -> StepResult:
        found = before(plugin, settings)
        write_over(file, file.read_bytes())
        return found

    def trying(_plugin: Plugin, _settings: Settings) -> StepResult:
        raise AssertionError("it was tried")

    checks[step], checks[-1] = swapping, trying
    monkeypatch.setattr(managing, "_CHECKS", tuple(checks))
    with pytest.raises(PluginError) as caught:
        Manager().load(file)
    assert caught.value.code == "plugin-changed"


def test_a_file_that_changes_while_it_is_opened(
    compile_library: Compile, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(compile_library(VARIANTS, flags=['-DOP="Opened"']), site, "libopened.so")

    def open_and_touch(plugin: Plugin) -> StepResult:
        found = open_plugin(plugin)
        file.touch()
        return found

    monkeypatch.setattr(managing, "open_plugin", open_and_touch)
    with pytest.raises(PluginError) as caught:
        Manager().load(file)
    assert caught.value.code == "plugin-changed"
    assert caught.value.found.endswith("its constructors may have run; it is not called")


def test_the_working_folder_is_not_searched(
    compile_library: Compile, tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is on the path, and however it is named; nor a folder that is no site folder."""
    here = tmp_path / "work" / "site-packages"
    (here / "wall-1.0.dist-info").mkdir(parents=True)
    (here / "drystone-plugins").mkdir()
    put(compile_library(VARIANTS), here / "drystone-plugins", "libcrash.so")
    src = tmp_path / "src"
    shutil.copytree(here / "drystone-plugins", src / "drystone-plugins")
    monkeypatch.chdir(here)
    link = tmp_path / "link"
    link.symlink_to(here)
    for entry in ("", ".", "../site-packages", here, link):
        search(monkeypatch, entry, src, site.parent)
        found = discover(Settings())
        assert found.plugins == []
        assert [place.text for place in found.places[:3]] == [
            "the working folder is not searched",
            "no package is installed in this folder of sys.path",
            "",
        ]
    monkeypatch.chdir(tmp_path)
    assert [p.name for p in discover(Settings()).plugins] == ["crash"]


def test_entry_points_of_the_working_folder_are_not_taken(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (".", str(tmp_path)):
        point = EntryPoint("wall", "wall:path", "wall", "1.0", place)
        monkeypatch.setattr(_discover, "points", lambda _, point=point: [point])
        monkeypatch.chdir(tmp_path)
        assert discover(Settings()).plugins == []
    monkeypatch.chdir(site)
    assert [p.name for p in discover(Settings()).plugins] == ["wall"]


@pytest.mark.parametrize("where", ["file", "manifest", "folder", "parent"])
def test_what_others_may_write_is_remarked(
    compile_library: Compile, site: Path, where: str
) -> None:
    file = put(compile_library(VARIANTS, flags=[f'-DOP="Open{where}"']), site, "libopen.so")
    manifest = file.with_name("libopen.so.toml")
    manifest.write_text('name = "open"\n', encoding="utf-8")
    places = {"file": file, "manifest": manifest, "folder": site, "parent": site.parent}
    for place in places.values():
        place.chmod(0o755)
    places[where].chmod(0o777)
    (found,) = Manager().load(file)
    assert found.state == "loaded"
    assert found.steps[0].reason == "plugin-others-write"
    assert found.warnings()[0] == (
        f"others may write to what is loaded: {places[where]}: "
        f"it belongs to user {os.geteuid()}, mode 777"
    )


def test_a_folder_above_that_is_sticky_shelters(compile_library: Compile, site: Path) -> None:
    file = put(compile_library(VARIANTS, flags=['-DOP="Sheltered"']), site, "libsheltered.so")
    for place, mode in ((file, 0o755), (site, 0o755), (site.parent, 0o1777)):
        place.chmod(mode)
    assert Manager().load(file)[0].steps[0].reason == ""
