"""Finding and loading plugins: order, duplicates, junk, probes, failures that break nothing."""

from __future__ import annotations

import os
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plugin_files import VARIANTS, Compile, own_settings, own_site, put, records_flag, search

from drystone_base.core.errors import DrystoneError, PluginError
from drystone_base.core.installed import EntryPoint
from drystone_base.core.plugin_settings import Isolation, Settings
from drystone_base.host import filesystem
from drystone_base.ops.defs import op_def
from drystone_base.plugins import _discover, _offers
from drystone_base.plugins import _manager as managing
from drystone_base.plugins._discover import discover, from_path
from drystone_base.plugins._manager import Manager, PluginWarning
from drystone_base.plugins._record import Plugin, passed


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_settings(monkeypatch, tmp_path)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin folder in a site-packages folder of its own, and developer mode."""
    return own_site(monkeypatch, tmp_path)


def loaded(manager: Manager) -> list[tuple[str, str, str]]:
    return [(p.name, p.state, p.reason) for p in manager.found.plugins]


def quiet(manager: Manager) -> list[str]:
    """Load everything; the texts of the warnings, but of those that developer mode lets in."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        manager.ensure_loaded()
    assert all(item.category is PluginWarning for item in caught)
    texts = [str(item.message) for item in caught]
    return [text for text in texts if "is not verified: it has no signature" not in text]


# discovery -------------------------------------------------------------------------------------


def test_order_is_by_name_and_each_file_counts_once(
    compile_library: Compile, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row E10. S2-directories."""
    second = tmp_path / "second" / "drystone-plugins"
    (tmp_path / "second" / "wall-1.0.dist-info").mkdir(parents=True)
    second.mkdir(parents=True)
    search(monkeypatch, second.parent, site.parent, site.parent, "")
    file = compile_library(VARIANTS)
    put(file, site, "libzebra.so")
    put(file, second, "libapple.so.2")
    (site / "libmirror.so").symlink_to(site / "libzebra.so")
    os.link(site / "libzebra.so", second / "libaardvark.so")
    found = discover(Settings())
    assert [p.name for p in found.plugins] == ["aardvark", "apple"]
    assert sorted((p.name, p.reason) for p in found.ignored) == [
        ("zebra", "plugin-duplicate"),
        ("zebra", "plugin-duplicate"),
    ]
    assert "the same file as" in found.ignored[0].text
    assert [(p.place, p.found) for p in found.places[:2]] == [(str(second), 2), (str(site), 2)]


def test_junk_is_ignored_with_a_reason(site: Path) -> None:
    (site / "README.txt").write_text("hello", encoding="utf-8")
    (site / "folder.so").mkdir()
    (site / "dangling.so").symlink_to(site / "nowhere")
    os.mkfifo(site / "pipe.so")
    (site / ".hidden.so").write_text("", encoding="utf-8")
    (site / "libx.so.toml").write_text("", encoding="utf-8")
    (site / "libx.so.minisig").write_text("", encoding="utf-8")
    (site / "deep").mkdir()
    (site / "deep" / "libdeep.so").write_text("", encoding="utf-8")
    found = discover(Settings())
    assert found.plugins == []
    special = "it is a folder or a special file, not a library"
    assert {p.name: p.text for p in found.ignored} == {
        "README.txt": "its name does not end in .so or .so.NUMBER",
        "dangling.so": "cannot be read: No such file or directory",
        "deep": "its name does not end in .so or .so.NUMBER",
        "folder.so": special,
        "pipe.so": special,
    }
    assert {p.reason for p in found.ignored} == {"plugin-file-ignored"}


def test_tensorflows_folders_are_searched_when_asked_for(
    compile_library: Compile, site: Path
) -> None:
    """Row E10. S2-directories."""
    other = site.with_name("tensorflow-plugins")
    other.mkdir()
    put(compile_library(VARIANTS), other, "libforeign.so")
    assert discover(Settings()).plugins == []
    assert [p.name for p in discover(Settings(tensorflow_plugins=True)).plugins] == ["foreign"]


def test_a_folder_given_by_path(compile_library: Compile, tmp_path: Path) -> None:
    """Row E11. S2-load-library: a folder takes the same way as a file."""
    put(compile_library(VARIANTS), tmp_path, "libb.so")
    put(compile_library(VARIANTS, flags=['-DOP="Other"']), tmp_path, "liba.so.1")
    assert [p.name for p in from_path(tmp_path).plugins] == ["a", "b"]


# loading ---------------------------------------------------------------------------------------


def test_installed_plugins_are_loaded_once(compile_library: Compile, site: Path) -> None:
    put(compile_library(VARIANTS, flags=['-DOP="LoadedOnce"']), site, "libonce.so")
    manager = Manager()
    assert quiet(manager) == []
    (found,) = manager.found.plugins
    assert (found.state, found.reason) == ("loaded", "")
    assert found.registered["ops"] == ["LoadedOnce"]
    assert [step.step for step in found.steps] == [
        "discover", "manifest", "signature", "platform", "audit", "probe", "open", "entry",
    ]  # fmt: skip
    assert quiet(manager) == []
    assert manager.load(found.path) == [found]
    assert len(manager.found.plugins) == 1


def test_threads_load_once(compile_library: Compile, site: Path) -> None:
    put(compile_library(VARIANTS, flags=['-DOP="ByThreads"']), site, "libthreads.so")
    manager = Manager()
    threads = [threading.Thread(target=manager.ensure_loaded) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded(manager) == [("threads", "loaded", "")]
    assert manager.found.plugins[0].registered["ops"] == ["ByThreads"]


def test_one_warning_for_each_broken_plugin(compile_library: Compile, site: Path) -> None:
    (site / "libtext.so").write_text("hello", encoding="utf-8")
    put(compile_library(VARIANTS, flags=["-DNO_STRINGS"]), site, "libmute.so")
    put(compile_library(VARIANTS, flags=['-DOP="Fine"']), site, "libfine.so")
    (site / "libfine.so.toml").write_text("name = 'good'", encoding="utf-8")
    manager = Manager()
    texts = quiet(manager)
    assert loaded(manager) == [
        ("good", "loaded", ""),
        ("mute", "failed", "plugin-no-platform-strings"),
        ("text", "failed", "plugin-no-platform-strings"),
    ]
    assert len(texts) == 2
    path = manager.found.plugins[1].path
    assert texts[0] == (
        f"plugin mute ({path}) does not say what it was built for: no platform strings in the "
        "file [plugin-no-platform-strings]; `drystone plugins explain mute` tells more"
    )
    assert quiet(manager) == []


def test_strict_raises_when_all_were_tried(
    compile_library: Compile, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_PLUGIN_POLICY", "strict")
    for name in ("liba.so", "libb.so"):
        put(compile_library(VARIANTS), site, name)
    manager = Manager()
    with pytest.warns(PluginWarning) as warned, pytest.raises(PluginError) as caught:
        manager.ensure_loaded()
    assert (caught.value.code, caught.value.plugin) == ("plugin-unsigned", "a")
    assert ["plugin b " in str(one.message) for one in warned] == [True]
    assert [p.reason for p in manager.found.plugins] == ["plugin-unsigned"] * 2


def test_disabled_plugins_are_never_opened(
    compile_library: Compile, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = compile_library(VARIANTS, flags=["-DCRASH"])
    for name in ("libone.so", "libtwo.so", "libthree.so", "libfour.so"):
        put(crash, site, name)
    (site / "libthree.so.toml").write_text("name = 'tres'", encoding="utf-8")
    (site / "libfour.so.toml").write_text("package = 'quarry-four'", encoding="utf-8")
    monkeypatch.setenv("DRYSTONE_PLUGINS_DISABLE", "one,libtwo.so,tres,quarry-four")
    manager = Manager()
    assert quiet(manager) == []
    assert {p.reason for p in manager.found.plugins} == {"plugin-disabled"}
    with pytest.raises(PluginError) as caught:
        manager.load(site / "libone.so")
    assert caught.value.code == "plugin-disabled"
    assert "DRYSTONE_PLUGINS_DISABLE=one" in caught.value.found


def test_modules_of_the_manifest_are_honoured(compile_library: Compile, site: Path) -> None:
    file = put(compile_library(VARIANTS, flags=['-DOP="Listed"']), site, "libmod.so")
    manifest = site / "libmod.so.toml"
    manifest.write_text("modules = ['filesystem']", encoding="utf-8")
    with pytest.raises(PluginError, match="does not offer what its manifest lists") as caught:
        Manager().load(file)
    assert caught.value.found == "no entry symbol for filesystem; it has those of kernels"
    manifest.write_text("modules = ['kernels']", encoding="utf-8")
    assert Manager().load(file)[0].registered["ops"] == ["Listed"]


def test_anything_unforeseen_is_kept(
    compile_library: Compile, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(compile_library(VARIANTS), site, "libodd.so")

    def surprise(_plugin: Any, _settings: Settings) -> Any:
        raise ZeroDivisionError("stones do not divide")

    monkeypatch.setattr(managing, "_CHECKS", (surprise,))
    manager = Manager()
    (text,) = quiet(manager)
    assert "ZeroDivisionError: stones do not divide [plugin-failed]" in text


def test_registrations_that_are_refused(compile_library: Compile, site: Path) -> None:
    flags = ['-DOP="Twice Named"']
    file = put(compile_library(VARIANTS, flags=flags), site, "libbad.so")
    with pytest.raises(PluginError) as caught:
        Manager().load(file)
    assert caught.value.code == "plugin-registered-nothing"
    assert "Twice Named" in caught.value.found


def test_an_empty_folder_and_a_missing_file(tmp_path: Path) -> None:
    from drystone_base.plugins import load_library

    with pytest.raises(PluginError) as caught:
        load_library(tmp_path)
    assert caught.value.code == "plugin-not-found"
    with pytest.raises(PluginError) as caught:
        load_library(tmp_path / "gone.so", policy="allow_unverified")
    assert caught.value.code == "plugin-unreadable"
    assert caught.value.status == "NOT_FOUND"


def test_without_the_host_library(
    compile_library: Compile, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(compile_library(VARIANTS), site, "libhostless.so")
    from drystone_base.core.errors import HostError

    def missing(_plugin: Any, _settings: Settings) -> Any:
        raise HostError("x", check="c", found="no such file", code="host-library-missing")

    monkeypatch.setattr(managing, "_CHECKS", (missing,))
    manager = Manager()
    (text,) = quiet(manager)
    assert text.endswith(
        "without the host library: no such file [host-library-missing]; "
        "`drystone plugins explain hostless` tells more"
    )


# entry points ----------------------------------------------------------------------------------


def points(monkeypatch: pytest.MonkeyPatch, **values: Any) -> None:
    """Pretend that a package declares these entry points, and what they load to."""
    made = []
    for name, value in values.items():

        def load(_: EntryPoint, value: Any = value) -> Any:
            if isinstance(value, Exception):
                raise value
            return value

        kind = type("Stated", (EntryPoint,), {"load": load})
        made.append(kind(name, f"package:{name}", "package", "9"))
    monkeypatch.setattr(_discover, "points", lambda _: made)


def test_entry_points_of_every_kind(
    compile_library: Compile, site: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one = put(compile_library(VARIANTS, flags=['-DOP="PointA"']), tmp_path, "liba.so")
    two = put(compile_library(VARIANTS, flags=['-DOP="PointB"']), tmp_path, "libb.so")
    called = []
    points(
        monkeypatch,
        path=one,
        paths=lambda: [two],
        itself=lambda: called.append(1),
        broken=ImportError("no module named mortar"),
        wrong=lambda: 7,
    )
    manager = Manager()
    texts = quiet(manager)
    states = {p.name: (p.state, p.reason) for p in manager.found.plugins}
    assert states["path"] == states["paths"] == states["itself"] == ("loaded", "")
    assert states["broken"] == states["wrong"] == ("failed", "plugin-entry-point")
    assert states["a"] == states["b"] == ("loaded", "")
    assert called == [1]
    assert len(texts) == 2
    assert "ImportError: no module named mortar" in texts[0]
    by_name = {p.name: p for p in manager.found.plugins}
    assert by_name["paths"].registered["ops"] == ["PointB"]
    assert (by_name["wrong"].package, by_name["wrong"].version) == ("package", "9")
    assert "the entry point must give paths or None, found int" in by_name["wrong"].text


def test_strict_takes_no_python_plugins(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points(monkeypatch, itself=AssertionError("it must not be imported"))
    monkeypatch.setenv("DRYSTONE_PLUGIN_POLICY", "strict")
    manager = Manager()
    with pytest.raises(PluginError, match="is not trusted"):
        manager.ensure_loaded()


# isolation -------------------------------------------------------------------------------------


def test_an_optimizer_of_its_own_process_is_not_opened_here(
    compile_library: Compile, site: Path
) -> None:
    file = put(compile_library("optimizer_variants.c", flags=["-DISOLATED"]), site, "libopt.so")
    (site / "libopt.so.toml").write_text("isolation = 'process'", encoding="utf-8")
    (found,) = Manager().load(file, policy="allow_unverified")
    assert (found.state, found.isolation, found.library) == ("loaded", "process", None)
    assert len(found.registered["optimizers"]) == 1
    assert found.fact("probe", "why") == "it runs in a process of its own"
    assert found.fact("open", "isolated") is True
    assert str(file) not in Path("/proc/self/maps").read_text(encoding="utf-8")


def test_a_plugin_with_kernels_of_its_own_process_is_not_opened_here(
    compile_library: Compile, site: Path
) -> None:
    file = put(compile_library(VARIANTS, flags=['-DOP="RunsApart"']), site, "libk.so")
    (found,) = Manager().load(file, isolation="process")
    assert found.registered["ops"] == ["RunsApart"]
    assert found.library is None
    assert found.is_isolated
    assert str(file) not in Path("/proc/self/maps").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("said", "trusted", "runs"),
    [
        (None, False, "none"),
        ("none", False, "none"),
        ("unsigned", False, "process"),
        ("unsigned", True, "none"),
        ("process", True, "process"),
    ],
)
def test_who_gets_a_process(
    monkeypatch: pytest.MonkeyPatch, said: Isolation | None, trusted: bool, runs: str
) -> None:
    record = Plugin("p", "p.so", "a test")
    vouched = passed("signature", trusted=trusted)
    monkeypatch.setattr(managing, "check_signature", lambda *_: vouched)
    managing._signature(record, Settings(isolation=said))
    assert record.isolation == runs


def test_drystones_own_runs_here_and_a_manifest_may_ask_for_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = passed("signature", trusted=True, first_party="drystone-cpu")
    record = Plugin("p", "p.so", "a test", isolation="process")
    for vouched, runs in ((passed("signature", trusted=True), "process"), (own, "none")):
        monkeypatch.setattr(managing, "check_signature", lambda *_, found=vouched: found)
        managing._signature(record, Settings(isolation="unsigned"))
        assert record.isolation == runs


# asking for what is not there ------------------------------------------------------------------


def test_what_a_broken_plugin_offered_has_a_reason(
    compile_library: Compile, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = compile_library(VARIANTS, flags=[records_flag("__s390x__=1"), '-DOP="Lost"'])
    put(wrong, site, "liblost.so")
    put(wrong, site, "libmanifest.so")
    os.utime(site / "libmanifest.so")
    (site / "libmanifest.so.toml").write_text("schemes = ['wall']\nops = []\n", encoding="utf-8")
    manager = Manager()
    monkeypatch.setattr(_offers, "manager", manager)
    quiet(manager)
    found = _offers.find_refused("ops", "Lost")
    assert isinstance(found, DrystoneError)
    assert found.code == "plugin-wrong-platform"
    assert found.what.endswith("is not loaded, so op Lost is not there")
    assert "s390x" in found.found
    scheme = _offers.find_refused("schemes", "wall")
    assert scheme is not None
    assert scheme.plugin == "manifest"
    assert _offers.find_refused("ops", "NeverHeardOf") is None
    monkeypatch.setattr(managing, "manager", manager)
    with pytest.raises(PluginError, match="so scheme wall is not there") as caught:
        filesystem.read_bytes("wall://a/b")
    assert caught.value.code == "plugin-wrong-platform"
    with pytest.raises(DrystoneError, match="plugin lost is not loaded: ") as known:
        op_def("Lost")
    assert known.value.code == "op-unknown"


def test_importing_searches_nothing(site: Path) -> None:
    """Nothing is found or opened before something asks."""
    assert Manager().found.plugins == []


# paths -------------------------------------------------------------------------------------------


def test_a_folder_may_be_a_string_of_numpy(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no library")
    found = from_path(np.str_(tmp_path))
    assert found.plugins == []
    assert [place.place for place in found.places] == [str(tmp_path)]
