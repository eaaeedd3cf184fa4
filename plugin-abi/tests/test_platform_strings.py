"""Platform strings: what the macro records, that linkers keep it, and the scanner on any bytes."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import compiling
import pytest
from hypothesis import given
from hypothesis import strategies as st

import drystone_abi
from drystone_abi.platform_strings import (
    MAGIC,
    find_platform_strings,
    parse_records,
    read_platform_strings,
)

SOURCES = {
    ".c": '#include "drystone/platform_strings.h"\nTF_PLATFORM_STRINGS()\n',
    ".cc": '#include "tensorflow/core/platform/platform_strings.h"\nTF_PLATFORM_STRINGS();\n',
}
EXTRA = "void TF_InitKernel(void);\nvoid TF_InitKernel(void) {}\n"
KEEPING = {
    "plain": [],
    "-O2": ["-O2"],
    "sections": ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
    "lto": ["-O2", "-flto", "-fdata-sections", "-Wl,--gc-sections"],
    "stripped": ["-O2", "-s", "-Wl,--gc-sections"],
}


@pytest.fixture
def build(tmp_path: Path, compile_library: Callable[..., Path]) -> Callable[..., Path]:
    """``build(".c", flags)``: a library with the macro once and one function."""

    def make(suffix: str, *flags: str) -> Path:
        source = tmp_path / f"strings{suffix}"
        source.write_text(SOURCES[suffix] + ('extern "C" {' * (suffix == ".cc")) + EXTRA)
        if suffix == ".cc":
            source.write_text(source.read_text() + "}\n")
        return compile_library(source, flags=flags)

    return make


def predefined(suffix: str, *flags: str) -> dict[str, str]:
    """Macros that the compiler defines by itself, with what they expand to."""
    command = [*compiling.compiler(suffix), *flags, "-x", "c" if suffix == ".c" else "c++"]
    dumped = subprocess.run(
        [*command, "-dM", "-E", os.devnull], capture_output=True, text=True, check=True
    )
    table: dict[str, str] = dict(re.findall(r"^#define (\w+) ?(.*)$", dumped.stdout, re.MULTILINE))
    return {name: table.get(value, value) for name, value in table.items()}


def listed_names() -> list[str]:
    """Every name that the headers look for."""
    folder = Path(drystone_abi.get_include()) / "drystone"
    return [
        name
        for file in sorted(folder.glob("platform_macros_*.h"))
        for name in re.findall(r"^#ifdef (\w+)$", file.read_text(), re.MULTILINE)
    ]


@pytest.mark.parametrize("suffix", SOURCES)
@pytest.mark.parametrize("march", ["", "-march=x86-64-v3", "-march=sapphirerapids"])
def test_defined_macros_are_recorded_and_no_others(
    march: str, suffix: str, build: Callable[..., Path]
) -> None:
    """Row E13. S2-platform-strings: one macro records what a library was built for."""
    flags = [march] if march else []
    records = read_platform_strings(build(suffix, *flags))
    macros = predefined(suffix, *flags)
    expected = {name: macros[name] for name in listed_names() if name in macros}
    assert records[0] == "TF_PLAT_STR_VERSION=1.0"
    assert records[-1] == f"DRYSTONE_ABI_VERSION={drystone_abi.ABI_VERSION}"
    assert parse_records(records[1:-1]) == expected
    assert len(records) == len(expected) + 2, "each once"
    assert {"__linux__", "__x86_64__", "__BYTE_ORDER__", "__SSE2__"} <= set(expected)
    assert ("__AVX2__" in expected) == bool(march)
    assert ("__AMX_TILE__" in expected) == ("sapphire" in march)


@pytest.mark.parametrize("suffix", SOURCES)
@pytest.mark.parametrize("how", KEEPING)
def test_linkers_keep_the_records(how: str, suffix: str, build: Callable[..., Path]) -> None:
    records = read_platform_strings(build(suffix, *KEEPING[how]))
    assert parse_records(records)["__linux__"] == "1"


def test_clang_keeps_the_records(tmp_path: Path) -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the ziglang package is not installed: no second compiler")
    source, out = tmp_path / "a.c", tmp_path / "a.so"
    source.write_text(SOURCES[".c"] + EXTRA)
    zig = [sys.executable, "-m", "ziglang", "cc", f"-I{drystone_abi.get_include()}"]
    flags = ["-O2", "-shared", "-fPIC", "-fdata-sections", "-Wl,--gc-sections"]
    subprocess.run([*zig, *flags, str(source), "-o", str(out)], check=True)
    assert parse_records(read_platform_strings(out))["__x86_64__"] == "1"


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
@pytest.mark.parametrize("suffix", SOURCES)
def test_nothing_runs_and_nothing_is_exported(suffix: str, build: Callable[..., Path]) -> None:
    library = build(suffix, "-c")
    sections = subprocess.run(
        ["readelf", "-SW", str(library)], capture_output=True, text=True, check=True
    ).stdout
    assert ".rodata" in sections
    assert "init_array" not in sections
    assert ".ctors" not in sections
    symbols = subprocess.run(["nm", str(library)], capture_output=True, text=True, check=True)
    globals_ = [line.split()[-1] for line in symbols.stdout.splitlines() if " T " in line]
    assert globals_ == ["TF_InitKernel"]
    assert "drystone_platform_strings" in symbols.stdout


def test_twice_in_one_file_does_not_compile(
    tmp_path: Path, compile_library: Callable[..., Path]
) -> None:
    source = tmp_path / "twice.c"
    source.write_text(SOURCES[".c"] + "TF_PLATFORM_STRINGS()\n")
    with pytest.raises(RuntimeError, match=r"redefinition of .*drystone_platform_strings"):
        compile_library(source)


@given(st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\0", b"")), max_size=6), st.data())
def test_records_are_found_among_any_bytes(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], data: st.DataObject
) -> None:
    gap = st.binary(max_size=30).map(lambda b: b.replace(b"L}", b""))
    raw = b"".join(data.draw(gap) + MAGIC + text + b"\0" for text in texts) + data.draw(gap)
    path = tmp_path_factory.getbasetemp() / "records.bin"
    path.write_bytes(raw)
    found = [text.decode("ascii", "backslashreplace") for text in texts if text]
    assert read_platform_strings(path) == found
    assert find_platform_strings(raw) == found


@given(st.binary(max_size=3000))
def test_no_bytes_make_the_scanner_fail(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(MAGIC[:6] + raw + MAGIC)
    assert all(isinstance(record, str) for record in read_platform_strings(path))


@pytest.mark.parametrize("offset", [*range(-40, 3), -4200, -4096])
def test_records_across_the_edge_of_a_block(offset: int, tmp_path: Path) -> None:
    file = tmp_path / "edge"
    place = (1 << 20) + offset
    file.write_bytes(b"x" * place + MAGIC + b"A=1" + MAGIC + b"B=2\0" + b"y" * 5000)
    assert read_platform_strings(file) == ["A=1", "B=2"]


def test_odd_records(tmp_path: Path) -> None:
    file = tmp_path / "odd"
    file.write_bytes(MAGIC + b"\0" + MAGIC + b"\xff=\t" + MAGIC + b"x" * 10_000 + MAGIC + b"end")
    empty_dropped = read_platform_strings(file)
    assert empty_dropped == [r"\xff=" + "\t", "x" * 4096, "end"]
    assert parse_records(["A", "B=1=2", "B=3"]) == {"A": "", "B": "1=2"}


def test_what_is_no_file_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert read_platform_strings(tmp_path / "empty") == []
    with pytest.raises(FileNotFoundError):
        read_platform_strings(tmp_path / "missing")
    with pytest.raises(OSError, match="not a regular file"):
        read_platform_strings(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_platform_strings(tmp_path / "pipe")


def test_scan_is_fast(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"\0\x53code\0\0" * (4 << 20))
    start = time.perf_counter()
    assert read_platform_strings(file) == []
    assert file.stat().st_size / (time.perf_counter() - start) > 50e6, "bytes a second"


def test_tensorflows_own_library() -> None:
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or spec.origin is None:
        pytest.skip("tensorflow is not installed: none of its libraries to scan")
    records = parse_records(
        read_platform_strings(Path(spec.origin).parent / "libtensorflow_cc.so.2")
    )
    assert records["TF_PLAT_STR_VERSION"] == "1.1"
    assert records["__linux__"] == "1"


def test_tensorflows_names_are_all_there() -> None:
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or spec.origin is None:
        pytest.skip("tensorflow is not installed: no header to compare with")
    header = "include/tensorflow/core/platform/platform_strings_computed.h"
    text = (Path(spec.origin).parent / header).read_text()
    theirs = set(re.findall(r"^#if defined\((\w+)\)", text, re.MULTILINE))
    assert len(theirs) > 100
    assert theirs <= set(listed_names())


def test_command_line_prints_or_tells_why_not(tmp_path: Path, build: Callable[..., Path]) -> None:
    def run(path: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "drystone_abi", "--scan", str(path)]
        return subprocess.run(command, capture_output=True, text=True)

    good = run(build(".c"))
    assert good.returncode == 0
    assert good.stdout.splitlines()[0] == "TF_PLAT_STR_VERSION=1.0"
    (tmp_path / "none").write_bytes(b"\x7fELF")
    assert run(tmp_path / "none").stderr == f"{tmp_path / 'none'}: no platform strings\n"
    assert run(tmp_path / "none").returncode == 1
    assert "cannot be read: No such file" in run(tmp_path / "missing").stderr
