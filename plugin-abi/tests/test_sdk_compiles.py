"""Every header of the SDK stands alone, with both compilers, with and without exceptions.

S2-header-cpp.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from compiling import INCLUDE, PLUGINS, compile_library, compiler

HEADERS = sorted(path.name for path in (INCLUDE / "drystone/sdk").glob("*.hpp"))
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
GATE = ("sdk.hpp", "kernel.hpp", "op_def.hpp", "pattern.hpp", "tensor.hpp")
"""What authors include first; the other headers are in these, and alone at night."""
nightly = pytest.mark.nightly
STANDARDS = ("-std=c++17", pytest.param("-std=c++20", marks=nightly))
KINDS = {"bare": ("-fno-exceptions", "-fno-rtti"), "full": ()}
ZIG = (sys.executable, "-m", "ziglang", "c++")


def check(command: tuple[str, ...], source: Path, out: Path, *flags: str) -> None:
    done = subprocess.run(
        [*command, *flags, *STRICT, f"-I{INCLUDE}", "-c", str(source), "-o", str(out)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize(
    "header", [pytest.param(one, marks=[nightly] * (one not in GATE)) for one in HEADERS]
)
def test_a_header_stands_alone(tmp_path: Path, header: str) -> None:
    source = tmp_path / "alone.cc"
    source.write_text(f'#include "drystone/sdk/{header}"\n', "utf-8")
    check(
        compiler(".cc"), source, tmp_path / "alone.o", "-std=c++17", *KINDS["bare"], "-fsyntax-only"
    )


@pytest.mark.nightly
@pytest.mark.parametrize("standard", STANDARDS)
def test_everything_compiles_with_clang(tmp_path: Path, standard: str) -> None:
    pytest.importorskip("ziglang", reason="Clang comes with the package ziglang")
    source = PLUGINS / "sdk_everything.cc"
    check(ZIG, source, tmp_path / "all.o", standard, *KINDS["bare"], "-O0")


@pytest.mark.parametrize("kind", ["bare", pytest.param("full", marks=nightly)])
def test_a_library_exports_its_entry_symbols_only(kind: str) -> None:
    script = INCLUDE.parent / "cmake/plugin.map"
    flags = ["-std=c++17", *KINDS[kind], "-O1", f"-Wl,--version-script={script}"]
    library = compile_library("sdk_everything.cc", flags=flags)
    listed = subprocess.run(["nm", "-D", str(library)], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    assert {row[-1] for row in rows if row[-2] == "T"} == {"TF_InitGraph", "TF_InitKernel"}
    needed = {row[-1].split("@")[0] for row in rows if row[-2] == "U"}
    host = {name for name in needed if name.startswith("TF_")}
    assert {"TF_InferStatically", "TF_RegisterKernelBuilder", "TF_SetStatus"} <= host
    assert not [name for name in needed if name.startswith("_Z") and "TF" in name]


@nightly
def test_a_newer_standard_changes_nothing() -> None:
    assert compile_library("sdk_everything.cc", flags=["-std=c++20", *STRICT, "-O0"]).is_file()


@pytest.mark.parametrize("standard", STANDARDS)
def test_names_of_the_standard_library_take_no_calls(standard: str) -> None:
    """Newer libraries include <iomanip> by way of others; std::quoted was called then."""
    assert compile_library("sdk_quoted.cc", flags=[standard, *STRICT, "-O0"]).is_file()


def test_the_headers_are_short_enough_to_read() -> None:
    for header in HEADERS:
        assert (INCLUDE / "drystone/sdk" / header).read_text("utf-8").count("\n") < 500, header
