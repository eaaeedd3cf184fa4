"""Plugins of drystone's own distributions are trusted by their record, and nothing else is."""

import base64
import hashlib
from pathlib import Path

import pytest
from plugin_files import VARIANTS, Compile, own_settings

from drystone_base.cli._signing import verify
from drystone_base.core.errors import DrystoneError
from drystone_base.core.plugin_settings import Settings, current
from drystone_base.plugins import _manager, _open, _signature
from drystone_base.plugins._manager import Manager, check_file
from drystone_base.plugins._record import Plugin
from drystone_base.plugins.first_party import installed_by


def install(home: Path, name: str = "drystone_cpu-0.1.0", data: bytes = b"library") -> Path:
    """A file in drystone-plugins that a RECORD lists."""
    file = home / "drystone-plugins" / "libdrystone_cpu.so"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    info = home / f"{name}.dist-info"
    info.mkdir()
    text = f"drystone-plugins/{file.name},sha256={digest},{len(data)}\n{info.name}/RECORD,,\n"
    (info / "RECORD").write_text(text)
    return file


@pytest.mark.parametrize("name", ["cpu", "filesystem", "gpu", "network", "tvm"])
def test_a_file_of_our_distribution_is_vouched_for(name: str, tmp_path: Path) -> None:
    """S2-signed: what came with drystone itself needs no further signature."""
    file = install(tmp_path, f"drystone_{name}-0.1.0")
    assert installed_by(str(file), tmp_path) == f"drystone-{name} 0.1.0"


def test_a_changed_file_is_not(tmp_path: Path) -> None:
    file = install(tmp_path)
    file.write_bytes(b"another library")
    assert installed_by(str(file), tmp_path) == ""


@pytest.mark.parametrize("name", ["acme_cpu-0.1.0", "drystone_cpu_evil-0.1.0"])
def test_a_file_of_another_distribution_is_not(name: str, tmp_path: Path) -> None:
    assert installed_by(str(install(tmp_path, name)), tmp_path) == ""


def test_a_file_elsewhere_is_not(tmp_path: Path) -> None:
    file = install(tmp_path / "user")
    assert installed_by(str(file), tmp_path / "base") == ""


@pytest.mark.parametrize("text", ["", "\x00", 'drystone-plugins/libdrystone_cpu.so,"', ",,,"])
def test_a_record_of_no_use_vouches_for_nothing(text: str, tmp_path: Path) -> None:
    file = install(tmp_path)
    (tmp_path / "drystone_cpu-0.1.0.dist-info" / "RECORD").write_text(text)
    assert installed_by(str(file), tmp_path) == ""


def test_a_record_with_quotes_is_read(tmp_path: Path) -> None:
    file = install(tmp_path)
    record = tmp_path / "drystone_cpu-0.1.0.dist-info" / "RECORD"
    record.write_text('"a, b.py",,\n' + record.read_text())
    assert installed_by(str(file), tmp_path) == "drystone-cpu 0.1.0"


def test_its_manifest_is_the_records_too(tmp_path: Path) -> None:
    """A manifest says what a library may do: a changed or a new one is not drystone's."""
    file = install(tmp_path)
    manifest = file.with_name(file.name + ".toml")
    manifest.write_text('name = "cpu"\n')
    assert installed_by(str(file), tmp_path) == ""
    record = tmp_path / "drystone_cpu-0.1.0.dist-info" / "RECORD"
    digest = base64.urlsafe_b64encode(hashlib.sha256(manifest.read_bytes()).digest())
    row = f"drystone-plugins/{manifest.name},sha256={digest.decode().rstrip('=')},13\n"
    record.write_text(row + record.read_text())
    assert installed_by(str(file), tmp_path) == "drystone-cpu 0.1.0"
    manifest.write_text('name = "gpu"\n')
    assert installed_by(str(file), tmp_path) == ""


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every library counts as drystone's own."""
    own_settings(monkeypatch, tmp_path)
    monkeypatch.setattr(_signature, "installed_by", lambda _: "drystone-cpu 0.1.0")


@pytest.mark.usefixtures("ours")
def test_symbols_of_our_own_library_are_looked_at_where_it_does_not_open(
    compile_library: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    whole = _manager._full_audit

    def full(plugin: Plugin, settings: Settings) -> object:
        asked.append(plugin.path)
        return whole(plugin, settings)

    monkeypatch.setattr(_manager, "_full_audit", full)
    manager = Manager()
    (good,) = manager.load(compile_library(VARIANTS, flags=['-DOP="OurOwn"']))
    assert good.fact("audit", "audited") is False
    assert asked == []
    broken = compile_library(VARIANTS, flags=["-DNEEDS_SYMBOL"])
    with pytest.raises(Exception, match="needs undefined symbols") as caught:
        manager.load(broken)
    assert getattr(caught.value, "code", "") == "plugin-unresolved-symbols"
    assert asked == [str(broken)]


@pytest.mark.usefixtures("ours")
def test_strict_takes_what_drystone_ships(compile_library: Compile) -> None:
    """S2-signed: the strictest policy must not refuse the default install."""
    library = compile_library(VARIANTS, flags=['-DOP="OurStrictOne"'])
    (plugin,) = Manager().load(library, policy="strict")
    assert plugin.state == "loaded"
    assert plugin.fact("signature", "first_party") == "drystone-cpu 0.1.0"
    with pytest.raises(DrystoneError) as caught:
        verify(library, None)
    assert caught.value.code == "plugin-unsigned", "who asks for a signature is told there is none"


@pytest.mark.usefixtures("ours")
def test_our_own_library_is_hashed_and_read_by_the_first_step_alone(
    compile_library: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process does this before its first answer, and the library has megabytes."""
    again: list[str] = []

    def ask(path: str) -> bool:
        again.append(path)
        return False

    monkeypatch.setattr(_open, "is_ours", ask)
    monkeypatch.setattr(_open, "_asks_for_rendezvous", ask)
    (plugin,) = Manager().load(compile_library(VARIANTS, flags=['-DOP="OurHashedOnce"']))
    assert plugin.state == "loaded"
    assert again == []


@pytest.mark.usefixtures("ours")
def test_a_check_of_our_own_library_looks_at_its_symbols(compile_library: Compile) -> None:
    checked = check_file(str(compile_library(VARIANTS, flags=['-DOP="OurOwnToo"'])), current())
    assert checked.reason == "plugin-checked"
    assert checked.fact("audit", "entries") == ["TF_InitKernel"]
