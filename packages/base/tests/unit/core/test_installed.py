"""What is installed: entry points, what plans depend on, and the note of both."""

from __future__ import annotations

import json
import os
import sys
import time
import zipfile
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from fresh_process import run_program

from drystone_base.core import installed
from drystone_base.core.installed import EntryPoint, declared, points
from drystone_base.modules import _registry


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in front of ``sys.path``; what is remembered of it is forgotten again."""
    monkeypatch.syspath_prepend(str(tmp_path))
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Read metadata again."""
    installed.forget()


def install(site: Path, folder: str, text: str, record: str = "") -> Path:
    """Make the metadata of a distribution; its folder."""
    made = site / folder
    made.mkdir()
    name, _, version = folder.removesuffix(".dist-info").partition("-")
    (made / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n", encoding="utf-8")
    (made / "entry_points.txt").write_text(text, encoding="utf-8")
    (made / "RECORD").write_text(record, encoding="utf-8")
    return made


def test_points_of_a_group_are_read_sorted(site: Path) -> None:
    text = "[console_scripts]\nx = y:z\n\n[a.group]\nlater = os.path:join\n# no\nearly=json\n"
    install(site, "Some_Thing-1.0.dist-info", text)
    install(site, "other-2.dist-info", "[a.group]\nearly = sys:path [extra]\n")
    assert points("a.group") == [
        EntryPoint("early", "json", "some-thing", "1.0", str(site)),
        EntryPoint("early", "sys:path [extra]", "other", "2", str(site)),
        EntryPoint("later", "os.path:join", "some-thing", "1.0", str(site)),
    ]
    assert declared("a.group")
    assert not declared("b.group")
    assert points("b.group") == []


def test_package_that_is_there_twice_counts_once(
    site: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    second = tmp_path_factory.mktemp("second")
    sys.path.append(str(second))
    try:
        install(site, "p-2.dist-info", "[a.group]\nn = new:f\n")
        install(second, "p-1.dist-info", "[a.group]\nn = old:f\no = old:g\n")
        assert points("a.group") == [EntryPoint("n", "new:f", "p", "2", str(site))]
    finally:
        sys.path.remove(str(second))


def test_load_finds_attributes(site: Path) -> None:
    assert EntryPoint("n", "os.path:join", "", "").load() is __import__("os").path.join
    assert EntryPoint("n", "json", "", "").load() is __import__("json")
    assert EntryPoint("n", "json:JSONDecoder.decode [x]", "", "").load() is not None
    with pytest.raises(ModuleNotFoundError):
        EntryPoint("n", "no_such_module_here:f", "", "").load()


def test_same_as_importlib_metadata() -> None:
    """On whatever is installed here."""
    for group in ("console_scripts", "pytest11"):
        ours = {(point.name, point.value) for point in points(group)}
        assert ours == {(point.name, point.value) for point in entry_points(group=group)}


def test_zip_files_are_left_to_importlib(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = site / "zipped.zip"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("z-1.dist-info/METADATA", "Name: z\nVersion: 1\n")
        made.writestr("z-1.dist-info/entry_points.txt", "[drystone.graph_optimizers]\nn = z:f\n")
    monkeypatch.syspath_prepend(str(file))
    assert declared("drystone.graph_optimizers")
    assert EntryPoint("n", "z:f", "z", "1") in points("drystone.graph_optimizers")


def test_broken_module_is_a_warning_and_not_an_error(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "bad-1.dist-info", "[drystone.modules]\nbad = no_such_module_here:MODULE\n")
    monkeypatch.setattr(_registry, "_scanned", False)
    with pytest.warns(UserWarning, match="module 'bad' of package bad .* cannot be used"):
        assert "kernels" in _registry.modules()


GROUP = "drystone.graph_optimizers"
SCANS = """
import sys
from drystone_base.core import installed
installed.SETTLED = -1.0
installed.points("drystone.modules")
print("importlib.metadata" in sys.modules)
"""
POINT = f"[{GROUP}]\nn = p:f\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder; whatever changed before now is noted."""
    monkeypatch.setenv("DRYSTONE_PLAN_CACHE", "off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(installed, "SETTLED", -1.0)
    return tmp_path / "cache" / "drystone"


def noted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of packages with an entry point, without a scan; with one where nothing is noted."""
    forget()
    with monkeypatch.context() as patched:
        scan = installed._scanned
        scanned: list[str] = []

        def counted() -> Any:
            scanned.append("scanned")
            return scan()

        patched.setattr(installed, "_scanned", counted)
        found = [point.package for point in points(GROUP)]
    assert (folder / installed.note_name()).is_file()
    return found + scanned


def test_a_note_spares_the_scan_until_something_is_installed(
    site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = install(site, "p-1.dist-info", POINT)
    assert noted(folder, monkeypatch) == ["p", "scanned"]
    assert noted(folder, monkeypatch) == ["p"]
    (site / "a_file").write_text("no metadata", encoding="utf-8")
    assert noted(folder, monkeypatch) == ["p"]
    install(site, "q-1.dist-info", POINT)
    assert noted(folder, monkeypatch) == ["p", "q", "scanned"]
    for changed in (made, made / "RECORD"):
        assert noted(folder, monkeypatch) == ["p", "q"]
        os.utime(changed, (1, 1))
        assert noted(folder, monkeypatch) == ["p", "q", "scanned"]


def test_a_folder_of_plans_has_a_note_of_its_own(
    site: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that an image has one for users whose cache folders are empty."""
    install(site, "p-1.dist-info", POINT)
    assert noted(folder, monkeypatch) == ["p", "scanned"]
    plans = tmp_path / "plans"
    monkeypatch.setenv("DRYSTONE_PLAN_CACHE", str(plans))
    assert noted(plans, monkeypatch) == ["p"]
    (folder / installed.note_name()).unlink()
    assert noted(plans, monkeypatch) == ["p"]
    assert list(folder.iterdir()) == []


def test_a_process_without_the_plan_cache_is_spared_the_scan(tmp_path: Path) -> None:
    chosen = {"DRYSTONE_PLAN_CACHE": "off", "XDG_CACHE_HOME": str(tmp_path)}
    assert [run_program(SCANS, **chosen) for _ in range(2)] == ["True\n", "False\n"]


def test_environments_in_turn_find_their_notes(
    site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "p-1.dist-info", POINT)
    assert noted(folder, monkeypatch) == ["p", "scanned"]
    with monkeypatch.context() as other:
        other.setattr(sys, "prefix", "/another")
        other.syspath_prepend(str(folder))
        assert noted(folder, other) == ["p", "scanned"]
    assert noted(folder, monkeypatch) == ["p"]


def test_times_of_change_count_in_seconds(
    site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a layer of a container's image keeps them."""
    made = install(site, "p-1.dist-info", POINT)
    os.utime(made, ns=(1_000_000_001, 1_000_000_001))
    assert noted(folder, monkeypatch) == ["p", "scanned"]
    os.utime(made, ns=(1_000_000_000, 1_000_000_000))
    assert noted(folder, monkeypatch) == ["p"]


def test_nothing_is_noted_of_what_was_installed_just_now(
    site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may change again at the same time by its clock."""
    monkeypatch.setattr(installed, "SETTLED", 3600.0)
    install(site, "p-1.dist-info", POINT)
    forget()
    assert "p" in [point.package for point in points(GROUP)]
    assert not folder.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"metadata": []}', "null"])
def test_a_note_that_nobody_wrote_is_none(
    site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    install(site, "p-1.dist-info", POINT)
    noted(folder, monkeypatch)
    (folder / installed.note_name()).write_text(text, encoding="utf-8")
    assert noted(folder, monkeypatch) == ["p", "scanned"]


def test_a_note_that_others_may_write_to_is_none(
    site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "p-1.dist-info", POINT)
    noted(folder, monkeypatch)
    (folder / installed.note_name()).chmod(0o666)
    assert noted(folder, monkeypatch) == ["p", "scanned"]


def test_a_pipe_in_the_place_of_a_note_is_not_waited_for(
    site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "p-1.dist-info", POINT)
    noted(folder, monkeypatch)
    (folder / installed.note_name()).unlink()
    os.mkfifo(folder / installed.note_name())
    assert noted(folder, monkeypatch) == ["p", "scanned"]


def stamp(name: str) -> list[str] | None:
    """Version and digest of a distribution, as plans depend on it."""
    forget()
    stamps = installed.code_stamps(time.time())
    assert stamps is not None
    return next(([*rest] for found, *rest in stamps if found == name), None)


def test_plans_depend_on_the_record_of_whoever_declares_an_entry_point(site: Path) -> None:
    made = install(site, "p-1.dist-info", POINT, "p.py,sha256=1,1\n")
    first = stamp("p")
    assert first is not None
    assert first[0] == "1"
    assert stamp("p") == first
    (made / "RECORD").write_text("p.py,sha256=2,1\n", encoding="utf-8")
    os.utime(made / "RECORD", (1, 1))
    assert stamp("p") != first
    install(site, "nobody-1.dist-info", "[a.group]\nn = p:f\n")
    assert stamp("nobody") is None
    assert stamp("drystone-base") is not None


def test_plans_depend_on_each_file_of_an_editable_distribution(site: Path, tmp_path: Path) -> None:
    source = tmp_path / "project" / "src" / "p"
    source.mkdir(parents=True)
    (source / "p.py").write_text("one = 1", encoding="utf-8")
    made = install(site, "p-1.dist-info", POINT)
    url = (tmp_path / "project").as_uri()
    (made / "direct_url.json").write_text(
        json.dumps({"url": url, "dir_info": {"editable": True}}), encoding="utf-8"
    )
    first = stamp("p")
    (source / "more.py").write_text("one = 1", encoding="utf-8")
    second = stamp("p")
    os.utime(source / "p.py", (1, 1))
    assert len({str(first), str(second), str(stamp("p"))}) == 3


def test_code_that_is_newer_than_the_process_has_no_stamp(site: Path) -> None:
    install(site, "p-1.dist-info", POINT)
    forget()
    assert installed.code_stamps(time.time() - 3600) is None
