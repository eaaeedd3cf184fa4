"""Entry points read straight from metadata folders, and modules that they name."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from drystone_base.core import entry_points as _entry_points
from drystone_base.core.entry_points import EntryPoint, declared, points
from drystone_base.modules import _registry


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in front of ``sys.path``; what is remembered of it is forgotten again."""
    monkeypatch.syspath_prepend(str(tmp_path))
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Read metadata anew."""
    declared.__wrapped__.cache_clear()  # type: ignore[attr-defined]
    _entry_points._read.cache_clear()


def install(site: Path, folder: str, text: str) -> None:
    (site / folder).mkdir()
    (site / folder / "entry_points.txt").write_text(text, encoding="utf-8")


def test_points_of_a_group_are_read_sorted(site: Path) -> None:
    text = "[console_scripts]\nx = y:z\n\n[a.group]\nlater = os.path:join\n# no\nearly=json\n"
    install(site, "Some_Thing-1.0.dist-info", text)
    install(site, "other.egg-info", "[a.group]\nearly = sys:path [extra]\n")
    assert points("a.group") == [
        EntryPoint("early", "json", "some-thing", "1.0", str(site)),
        EntryPoint("early", "sys:path [extra]", "other", "", str(site)),
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


def test_unreadable_places_are_passed_over() -> None:
    assert list(_entry_points._of_place("/no/such/folder")) == []
