"""The installed drystone-plugin-abi is all that a plugin's build needs: headers, flags, CMake."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv

CC = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler on this machine")
SOURCE = """#include <drystone/platform_strings.h>
#include <tensorflow/c/kernels.h>
TF_PLATFORM_STRINGS()
void TF_InitKernel(void) {}
"""


def ask(env: InstalledEnv, question: str) -> list[str]:
    return shlex.split(env.run(env.python, "-I", "-m", "drystone_abi", question).stdout)


def test_every_header_compiles_from_the_wheel(installed_env: InstalledEnv, tmp_path: Path) -> None:
    (include,) = ask(installed_env, "--include")
    assert Path(include).is_relative_to(installed_env.root)
    names = sorted(str(path.relative_to(include)) for path in Path(include).rglob("*.h"))
    assert "drystone/kernels.h" in names
    assert "xla/tsl/c/tsl_status.h" in names
    source = tmp_path / "all.c"
    source.write_text("".join(f"#include <{name}>\n" for name in names))
    installed_env.run(str(CC), f"-I{include}", "-std=c11", "-Werror", "-fsyntax-only", source)


def test_flags_build_a_plugin(installed_env: InstalledEnv, tmp_path: Path) -> None:
    source, library = tmp_path / "plugin.c", tmp_path / "libplugin.so"
    source.write_text(SOURCE)
    flags = [*ask(installed_env, "--cflags"), *ask(installed_env, "--libs")]
    installed_env.run(str(CC), *flags, source, "-o", library)
    scanned = installed_env.run(
        installed_env.python, "-I", "-m", "drystone_abi", "--scan", library
    ).stdout.splitlines()
    assert scanned[0] == "TF_PLAT_STR_VERSION=1.0"
    version = installed_env.evaluate(
        "import json, drystone_abi; print(json.dumps(drystone_abi.ABI_VERSION))"
    )
    assert scanned[-1] == f"DRYSTONE_ABI_VERSION={version}"


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_package_is_in_the_wheel(installed_env: InstalledEnv, tmp_path: Path) -> None:
    (tmp_path / "plugin.c").write_text(SOURCE)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(plugin C)\n"
        "find_package(DrystonePluginABI 1.0 CONFIG REQUIRED)\n"
        "drystone_add_plugin(plugin plugin.c)\n"
    )
    (folder,) = ask(installed_env, "--cmake-dir")
    build = tmp_path / "build"
    found = f"-DDrystonePluginABI_DIR={folder}"
    installed_env.run("cmake", "-S", tmp_path, "-B", build, found)
    installed_env.run("cmake", "--build", build)
    assert (build / "libplugin.so").is_file()


def test_importing_the_package_loads_no_protobuf(installed_env: InstalledEnv) -> None:
    loaded = installed_env.evaluate(
        "import json, sys, drystone_abi\nfrom drystone_abi import platform_strings\n"
        "print(json.dumps([n for n in ('numpy', 'google.protobuf') if n in sys.modules]))"
    )
    assert loaded == []
