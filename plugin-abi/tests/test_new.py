"""Rendering projects: names everywhere, nothing left to fill in, clear refusals."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drystone_abi.__main__ import main
from drystone_abi.new import KINDS, render


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_is_filled_in(kind: str, tmp_path: Path) -> None:
    files = render("acme-fast2", kind, tmp_path / "new")
    for path in files:
        text = path.read_text("utf-8")
        assert "{{" not in text, path
        assert "ramdemo" not in text.lower(), path
        assert "pipedemo" not in text.lower(), path
        assert "drystone_example" not in text, path
        assert "drystone-example" not in text, path
        assert "fake_" not in text.lower(), path
        assert '"elementwise"' not in text, path
    project = tomllib.loads((tmp_path / "new" / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "acme-fast2"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "python-optimizer"])
def test_the_manifest_is_that_of_the_library(kind: str, tmp_path: Path) -> None:
    render("acme-fast2", kind, tmp_path)
    manifest = tomllib.loads((tmp_path / "libacme_fast2.so.toml").read_text("utf-8"))
    assert (manifest["name"], manifest["package"]) == ("acme_fast2", "acme-fast2")
    assert manifest["modules"]
    build = (tmp_path / "CMakeLists.txt").read_text("utf-8")
    (line,) = [one for one in build.splitlines() if one.startswith("drystone_add_plugin(")]
    name, *sources = line.removeprefix("drystone_add_plugin(").rstrip(")").split()
    assert name == "acme_fast2"
    assert sources
    assert all((tmp_path / source).is_file() for source in sources)


@pytest.mark.parametrize("name", ["", "Acme", "1st", "a--b", "a b", "a.b", "-a", "a-"])
def test_a_bad_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is no name for a project: small letters and digits"):
        render(name, "optimizer", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_unknown_kind_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="'wall' is no kind: choose one of optimizer, kernels"):
        render("acme", "wall", tmp_path / "new")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x", "utf-8")
    with pytest.raises(SystemExit, match="is not empty: give a folder that is"):
        render("acme", "kernels", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_the_command_lists_files_and_the_next_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "acme", "kernels", str(tmp_path / "acme")]) == 0
    printed = capsys.readouterr().out
    assert f"{tmp_path / 'acme' / 'acme.cc'}\n" in printed
    assert f"next: pip install {tmp_path / 'acme'}\n" in printed


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit, match="is a file: give an empty folder"):
        render("acme", "kernels", tmp_path / "file")
