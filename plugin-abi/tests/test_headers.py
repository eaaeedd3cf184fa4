"""Headers of the contract: each compiles alone, and sources written for TensorFlow compile."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import compiling
import pytest

import drystone_abi
from drystone_base.plugins import load_library

INCLUDE = Path(drystone_abi.get_include())
STYLE = Path(__file__).parent / "plugins" / "tf_style"
STRICT = ("-pedantic", "-Wall", "-Wextra", "-Werror")
STANDARDS = {
    "c11": (".c", "-std=c11", "-x", "c"),
    "c++17": (".cc", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-x", "c++"),
    "c++20": (".cc", "-std=c++20", "-fno-exceptions", "-fno-rtti", "-x", "c++"),
}
# Every path of TensorFlow's modular C APIs and of what they include.
TENSORFLOW_PATHS = [
    "tensorflow/c/c_api.h",
    "tensorflow/c/c_api_experimental.h",
    "tensorflow/c/c_api_macros.h",
    "tensorflow/c/eager/c_api.h",
    "tensorflow/c/env.h",
    "tensorflow/c/experimental/filesystem/filesystem_interface.h",
    "tensorflow/c/experimental/grappler/grappler.h",
    "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h",
    "tensorflow/c/experimental/stream_executor/stream_executor.h",
    "tensorflow/c/kernels.h",
    "tensorflow/c/kernels_experimental.h",
    "tensorflow/c/logging.h",
    "tensorflow/c/ops.h",
    "tensorflow/c/tf_attrtype.h",
    "tensorflow/c/tf_buffer.h",
    "tensorflow/c/tf_datatype.h",
    "tensorflow/c/tf_file_statistics.h",
    "tensorflow/c/tf_status.h",
    "tensorflow/c/tf_tensor.h",
    "tensorflow/c/tf_tstring.h",
    "tensorflow/core/common_runtime/next_pluggable_device/c/tf_rendezvous_c_api.h",
    "tensorflow/core/platform/ctstring.h",
    "tensorflow/core/platform/ctstring_internal.h",
    "tensorflow/core/platform/platform_strings.h",
    "tensorflow/core/platform/platform_strings_computed.h",
    "tsl/c/tsl_status.h",
    "tsl/platform/ctstring.h",
    "tsl/platform/ctstring_internal.h",
    "tsl/platform/platform.h",
    "xla/tsl/c/tsl_status.h",
]


def headers() -> list[str]:
    return sorted(str(file.relative_to(INCLUDE)) for file in INCLUDE.rglob("*.h"))


def zig() -> list[str]:
    """Clang, as the ziglang package brings it; the test is skipped where it is not installed."""
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the ziglang package is not installed: no second compiler")
    return [sys.executable, "-m", "ziglang"]


def syntax(command: Sequence[str], text: str) -> str:
    """What the compiler says of a source; '' when it is content."""
    done = subprocess.run(
        [*command, *STRICT, f"-I{INCLUDE}", "-fsyntax-only", "-"],
        input=f"{text}\nextern int drystone_not_empty;\n",
        capture_output=True,
        text=True,
    )
    return "" if done.returncode == 0 else done.stderr[:500]


@pytest.mark.parametrize("standard", STANDARDS)
def test_each_header_compiles_alone(standard: str) -> None:
    """Row E4. S2-interface-c: every header is plain C11, and C++ without exceptions."""
    language, *flags = STANDARDS[standard]
    command = [*compiling.compiler(language), *flags]

    def check(header: str) -> str:
        said = syntax(command, f'#include "{header}"')
        return f"{header}: {said}" if said else ""

    with ThreadPoolExecutor(2) as pool:
        problems = [text for text in pool.map(check, headers()) if text]
    assert len(headers()) > 40
    assert problems == []


@pytest.mark.parametrize("standard", STANDARDS)
def test_all_headers_compile_together_with_clang(standard: str, tmp_path: Path) -> None:
    """S0-platforms: a second compiler takes the same headers."""
    language, *flags = STANDARDS[standard]
    source = tmp_path / "all"
    source.write_text("".join(f'#include "{name}"\n' for name in headers()))
    command = [*zig(), "cc" if language == ".c" else "c++", *flags, *STRICT, f"-I{INCLUDE}"]
    done = subprocess.run(
        [*command, "-c", str(source), "-o", str(tmp_path / "all.o")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_tensorflow_path_is_there_and_only_forwards() -> None:
    assert sorted(
        set(headers()) - {name for name in headers() if name.startswith("drystone/")}
    ) == (TENSORFLOW_PATHS)
    for name in TENSORFLOW_PATHS:
        text = re.sub(r"/\*.*?\*/", "", (INCLUDE / name).read_text(), flags=re.DOTALL)
        for line in filter(None, map(str.strip, text.splitlines())):
            assert re.fullmatch(r'#include "drystone/\w+\.h"|#(ifndef|define|endif).*', line), name


ENTRIES = {
    "kernels.cc": ["TF_InitKernel"],
    "optimizer.c": ["TF_InitGraph"],
    "filesystem.cc": ["TF_InitPlugin"],
    "filesystem_tree.cc": ["TF_InitPlugin"],
    "device.c": ["SE_InitPlugin", "TF_InitProfiler"],
}


WRITTEN = [
    *((source, "-std=c11") for source in ENTRIES if source.endswith(".c")),
    *((source, f"-std=c++{n}") for source in ENTRIES for n in (17, 20) if "cc" in source),
]
"""Each of them in the standards of its language."""


def exported(library: Path) -> list[str]:
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    return sorted(line.split()[-1] for line in listed.stdout.splitlines())


@pytest.mark.parametrize(("source", "standard"), WRITTEN)
def test_plugins_written_for_tensorflow_compile_unchanged(
    source: str, standard: str, compile_library: Callable[..., Path]
) -> None:
    """Row E7. S2-no-exports: nothing but entry symbols is visible."""
    flags = [*drystone_abi.get_compile_flags(), *drystone_abi.get_link_flags(), standard]
    library = compile_library(STYLE / source, flags=flags)
    assert exported(library) == ENTRIES[source], "entry symbols, and nothing else"


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize(("source", "standard"), WRITTEN)
def test_plugins_written_for_tensorflow_compile_with_clang(
    source: str, standard: str, tmp_path: Path
) -> None:
    """Row B1. The system's compiler links: Zig would first compile a standard library for that."""
    made, out = tmp_path / "plugin.o", tmp_path / "plugin.so"
    driver = "cc" if source.endswith(".c") else "c++"
    flags = [*drystone_abi.get_compile_flags(), standard, "-c", str(STYLE / source)]
    subprocess.run([*zig(), driver, *flags, "-o", str(made)], check=True)
    link = [*compiling.compiler(".cc"), *drystone_abi.get_link_flags(), str(made), "-o", str(out)]
    subprocess.run(link, check=True)
    assert exported(out) == ENTRIES[source]


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
@pytest.mark.parametrize("source", ENTRIES)
def test_plugins_need_nothing_of_the_host(
    source: str, compile_library: Callable[..., Path]
) -> None:
    """Rows B1, E8. S2-c-only: no library of the host is linked; symbols bind at loading."""
    library = compile_library(STYLE / source, flags=drystone_abi.get_link_flags())
    listed = subprocess.run(
        ["readelf", "-d", str(library)], capture_output=True, text=True, check=True
    )
    needed = re.findall(r"NEEDED.*\[(.*)\]", listed.stdout)
    assert all(re.match(r"lib(c|m|stdc\+\+|gcc_s)\.so", name) for name in needed), needed


def test_a_plugin_that_prepares_the_platform_loads(
    compile_library: Callable[..., Path],
) -> None:
    """`TF_InitMain` is there and leaves the arguments as they are."""
    library = compile_library("loader_init_main.cc")
    plugin = load_library(library, policy="allow_unverified")
    assert plugin.registered["ops"] == ["PreparedOp"]
