"""A C program without Python links the installed host library, loads two plugins and calls both."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv

EXAMPLES = Path(__file__).resolve().parents[2] / "plugin-abi" / "examples"
_PRINTED = """\
ramdemo://box/data/a: 16 bytes
ramdemo://box/data/b: 16 bytes
ramdemo://box/data/sum: 16 bytes
a + 0.5 b = 6 12 18 24
"""


def _built(env: InstalledEnv, name: str, folder: Path, result: str) -> Path:
    """Build an example with CMake against what is installed; one file of it."""
    target = folder / name
    python = f"-DPython_EXECUTABLE={env.python}"
    env.run("cmake", "-S", EXAMPLES / name, "-B", target, python, "-DCMAKE_BUILD_TYPE=Release")
    env.run("cmake", "--build", target)
    return target / result


@pytest.fixture(scope="module")
def program(
    installed_env: InstalledEnv, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, Path]:
    """The program, the kernel plugin and the filesystem plugin."""
    folder = tmp_path_factory.mktemp("embed")
    return (
        _built(installed_env, "embed_c", folder, "embed"),
        _built(installed_env, "kernels_c", folder, "libexample_kernels.so"),
        _built(installed_env, "filesystem_c", folder, "libramdemo.so"),
    )


def _run(*command: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run without anything of the environment: nothing leads to a Python."""
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env=variables,
        timeout=60,
        check=False,
    )


def test_both_plugins_are_called(program: tuple[Path, Path, Path]) -> None:
    """Row E1. S2-filesystems, S2-kernels."""
    done = _run(*program)
    assert (done.returncode, done.stderr) == (0, "")
    first, _, rest = done.stdout.partition("\n")
    assert first.startswith("drystone host ")
    assert rest == _PRINTED


def test_no_python_is_in_the_process(program: tuple[Path, Path, Path]) -> None:
    done = _run(*program, LD_DEBUG="files")  # the linker tells every file that it opens
    assert done.returncode == 0
    opened = [line for line in done.stderr.splitlines() if "file=" in line]
    assert any("libdrystone_host.so" in line for line in opened)
    assert any("libramdemo.so" in line for line in opened)
    for name in ("libpython", "protobuf", "absl", "tensorflow"):
        assert not [line for line in opened if name in line.split("file=")[1].split("/")[-1]]


def test_a_wrong_plugin_is_an_error_and_no_crash(program: tuple[Path, Path, Path]) -> None:
    embed, kernels, filesystem = program
    done = _run(embed, filesystem, kernels)
    assert done.returncode == 1
    assert "does not export TF_InitKernel" in done.stderr
    done = _run(embed, kernels, Path("/nowhere.so"))
    assert done.returncode == 1
    assert "/nowhere.so" in done.stderr
