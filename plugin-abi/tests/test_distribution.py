"""What the distribution offers to builds: folders, flags, a command line, a CMake package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import drystone_abi
from drystone_abi import headers, new

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "device_c"
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


def ask(*arguments: str) -> str:
    command = [sys.executable, "-m", "drystone_abi", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_versions_agree() -> None:
    text = (Path(drystone_abi.get_include()) / "drystone" / "version.h").read_text()
    numbers = re.findall(r"^#define DRYSTONE_ABI_VERSION_M\w+ (\d+)$", text, re.MULTILINE)
    assert ".".join(numbers) == drystone_abi.ABI_VERSION
    assert (ROOT / "VERSION").read_text().strip() == drystone_abi.ABI_VERSION


def test_folders_and_flags() -> None:
    include = Path(drystone_abi.get_include())
    assert (include / "drystone" / "status.h").is_file()
    assert (include / "tensorflow" / "c" / "kernels.h").is_file()
    assert f"-I{include}" in drystone_abi.get_compile_flags()
    assert "-fvisibility=hidden" in drystone_abi.get_compile_flags()
    assert drystone_abi.get_link_flags()[0] == "-shared"
    assert not [flag for flag in drystone_abi.get_link_flags() if flag.startswith(("-l", "-L"))]


def test_command_line_prints_the_same() -> None:
    assert ask("--include") == drystone_abi.get_include()
    assert ask("--cflags").split() == drystone_abi.get_compile_flags()
    assert ask("--libs").split() == drystone_abi.get_link_flags()
    assert ask("--cmake-dir") == drystone_abi.get_cmake_dir()
    assert ask("--abi-version") == drystone_abi.ABI_VERSION


def test_missing_headers_say_where_they_were_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(headers, "_PACKAGE", str(tmp_path / "a" / "b" / "c"))
    with pytest.raises(FileNotFoundError) as error:
        drystone_abi.get_include()
    assert str(tmp_path / "a" / "b" / "c" / "include") in str(error.value)
    assert str(tmp_path / "a" / "include") in str(error.value)
    assert "pip install --force-reinstall drystone-plugin-abi" in str(error.value)


def test_packages_of_the_wheel_cover_every_file() -> None:
    """Each header and CMake file matches a package-data pattern of pyproject.toml."""
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    for package, folder in (("drystone_abi.include", "include"), ("drystone_abi.cmake", "cmake")):
        assert setup["package-dir"][package] == folder
        assert package in setup["packages"]
        patterns = setup["package-data"][package]
        shipped = {path for pattern in patterns for path in (ROOT / folder).glob(pattern)}
        assert shipped == {path for path in (ROOT / folder).rglob("*") if path.is_file()}


def test_the_wheel_has_what_projects_begin_as(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that a kind of project is made of matches a package-data pattern, too."""
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    shipped = {
        path
        for package in ("template", "examples")
        for pattern in setup["package-data"][f"drystone_abi.{package}"]
        for path in (ROOT / setup["package-dir"][f"drystone_abi.{package}"]).glob(pattern)
    }
    beside = new.TEMPLATE.parent  # the checkout's files are asked for, also of an installed package
    monkeypatch.setattr(new, "TEMPLATE", ROOT / "template")
    for name, kind in new.KINDS.items():
        folders = [ROOT / folder.relative_to(beside) for folder in kind.folders]
        used = {path for folder in folders for path in new.files_of(folder, kind)}
        assert used <= shipped, name


def test_link_flags_hide_what_is_no_entry_symbol(
    tmp_path: Path, compile_library: Callable[..., Path]
) -> None:
    source = tmp_path / "leaky.c"
    visible = '__attribute__((visibility("default"))) int'
    source.write_text(f"{visible} TF_InitGraph(void) {{ return 1; }}\n{visible} other(void);\n")
    source.write_text(source.read_text() + "int other(void) { return 2; }\n")
    library = compile_library(source, flags=drystone_abi.get_link_flags())
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["TF_InitGraph"]


@needs_cmake
def test_cmake_package_builds_the_example(tmp_path: Path) -> None:
    """Row E9. S2-separate: built with the wheel of the contract and nothing else of ours."""
    build = tmp_path / "build"
    found = f"-DDrystonePluginABI_DIR={drystone_abi.get_cmake_dir()}"
    subprocess.run(["cmake", "-S", str(EXAMPLE), "-B", str(build), found], check=True)
    subprocess.run(["cmake", "--build", str(build)], check=True)
    scanned = ask("--scan", str(build / "libfake_device.so"))
    assert scanned.splitlines()[-1] == f"DRYSTONE_ABI_VERSION={drystone_abi.ABI_VERSION}"


@needs_cmake
@pytest.mark.parametrize(("wanted", "accepted"), [("1.0", True), ("1.99", False), ("2.0", False)])
def test_cmake_package_compares_versions(wanted: str, accepted: bool, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\n"
        f"find_package(DrystonePluginABI {wanted} CONFIG REQUIRED)\n"
    )
    found = f"-DDrystonePluginABI_DIR={drystone_abi.get_cmake_dir()}"
    command = ["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), found]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) == accepted, done.stderr
    if not accepted:
        assert f"version: {drystone_abi.ABI_VERSION}" in done.stderr
