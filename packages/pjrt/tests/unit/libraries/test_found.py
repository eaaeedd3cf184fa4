"""Which plugins are found, where, and in which order; nothing of them is imported."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from drystone_base.core.errors import BadRequest
from drystone_pjrt import plugins
from drystone_pjrt.libraries import found
from drystone_pjrt.libraries.found import chosen

RAISES = "raise ImportError('it needs JAX')\n"


def forget() -> None:
    """Namespaces that were looked into keep the folders that they had then."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("jax_plugins", "xla_plugins"):
            del sys.modules[name]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages in which nothing is installed, and no other."""
    kept = [place for place in sys.path if "site-packages" not in place]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *kept])
    monkeypatch.setattr(found, "points", lambda _group: [])
    monkeypatch.delenv("DRYSTONE_PJRT_PLUGINS", raising=False)
    monkeypatch.delenv("DRYSTONE_PJRT_PLUGIN", raising=False)
    forget()
    yield tmp_path
    forget()


def put(site: Path, library: Path, module: str, file: str = "plugin.so") -> Path:
    """A module that JAX would import, with a library in its folder."""
    folder = site.joinpath(*module.split("."))
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(RAISES)
    return Path(shutil.copy(library, folder / file))


def test_nothing_is_installed(site: Path) -> None:
    assert site.is_dir()
    assert plugins() == []
    with pytest.raises(BadRequest, match="pip install xla-cpu-pjrt") as caught:
        chosen()
    assert caught.value.code == "subgraph-package-missing"
    assert "DRYSTONE_PJRT_PLUGINS=cpu:/path/to/plugin.so" in caught.value.remedy


def test_modules_of_the_namespaces_are_found_but_not_imported(site: Path, fake_path: Path) -> None:
    later = put(site, fake_path, "xla_plugins.abc", "abc.so.1")
    first = put(site, fake_path, "jax_plugins.mine")
    second = put(site, fake_path, "jax_plugins.other")
    assert [(one.name, one.path, one.origin) for one in plugins()] == [
        ("mine", str(first), "jax_plugins.mine"),
        ("other", str(second), "jax_plugins.other"),
        ("abc", str(later), "xla_plugins.abc"),
    ]
    assert "jax_plugins.mine" not in sys.modules


def test_entry_points_name_modules(
    site: Path, fake_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drystone_base.modules import EntryPoint

    path = put(site, fake_path, "my_plugin")
    rows = [
        EntryPoint("mine", "my_plugin", "my-plugin", "1"),
        EntryPoint("gone", "not_there.any:initialize", "gone", "1"),
    ]
    monkeypatch.setattr(found, "points", lambda group: rows if group == "jax_plugins" else [])
    assert [(one.name, one.path) for one in plugins()] == [("mine", str(path))]


def test_other_libraries_in_the_folder_are_no_plugins(site: Path, fake_path: Path) -> None:
    path = put(site, fake_path, "jax_plugins.mine")
    path.with_name("a.so").write_bytes(b"GetPjrtApi is not a whole name\0")
    path.with_name("b.so").write_bytes(b"")
    assert [one.path for one in plugins()] == [str(path)]


def test_the_variable_comes_first_and_a_file_counts_once(
    site: Path, fake_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(site, fake_path, "jax_plugins.mine")
    other = put(site, fake_path, "jax_plugins.zzz")
    monkeypatch.setenv("DRYSTONE_PJRT_PLUGINS", f"own:{path}")
    assert [(one.name, one.path) for one in plugins()] == [("own", str(path)), ("zzz", str(other))]
    monkeypatch.setenv("DRYSTONE_PJRT_PLUGIN", "zzz")
    assert [one.path for one in chosen()] == [str(other)]


@pytest.mark.parametrize("text", ["plugin.so", ":plugin.so", "cpu:"])
def test_a_plugin_without_a_name_or_a_path(
    site: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    assert site.is_dir()
    monkeypatch.setenv("DRYSTONE_PJRT_PLUGINS", text)
    with pytest.raises(BadRequest, match="NAME:PATH") as caught:
        plugins()
    assert caught.value.code == "bad-variable"


def test_a_name_that_there_is_not(
    site: Path, fake_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(site, fake_path, "jax_plugins.mine")
    monkeypatch.setenv("DRYSTONE_PJRT_PLUGIN", "mime")
    with pytest.raises(BadRequest, match="did you mean mine") as caught:
        chosen()
    assert caught.value.code == "unknown-pjrt-plugin"
