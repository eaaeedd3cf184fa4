"""Wheels by a cross compiler: what the build is told, and what auditwheel refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ci.release import sbom
from ci.scripts import portable
from ci.scripts.project import packages
from ci.tests.test_sbom import wheel


@pytest.mark.parametrize("arch", portable.ARCHITECTURES)
def test_compilers_are_for_that_processor_and_glibc(tmp_path: Path, arch: str) -> None:
    told = portable.environment(arch, tmp_path)
    for variable, language in (("CC", "cc"), ("CXX", "c++")):
        program = Path(told[variable]).read_text(encoding="utf-8")
        assert f"-m ziglang {language} -target {arch}-linux-gnu.2.28" in program
        asked = ["-march=x86-64-v3", "-I a b", "-march=armv8-a"]
        Path(told[variable]).write_text(program.replace("exec ", "echo "), encoding="utf-8")
        said = subprocess.run([told[variable], *asked], capture_output=True, text=True, check=True)
        assert said.stdout.endswith("-march=x86_64_v3 -I a b -march=armv8-a\n")
    assert f"-DCMAKE_SYSTEM_PROCESSOR={arch}" in told["CMAKE_ARGS"]
    assert told["_PYTHON_HOST_PLATFORM"] == f"linux-{arch}"


def test_a_package_is_built_for_the_processors_that_have_it() -> None:
    every = packages()
    assert [portable.fits(every["cpu"], arch) for arch in portable.ARCHITECTURES] == [True, False]
    assert all(portable.fits(every["base"], arch) for arch in portable.ARCHITECTURES)


@pytest.mark.parametrize("refuses", ["", "auditwheel", "abi3audit"])
def test_only_what_passes_is_there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    refuses: str,
) -> None:
    def run(command: tuple[str, ...], **_: object) -> subprocess.CompletedProcess[str]:
        words = list(command)
        name = "auditwheel" if portable.JUDGE in words else words[0]
        verdict = int(name == refuses)
        if name == "abi3audit":
            return subprocess.CompletedProcess(words, verdict)
        if name == "auditwheel":
            assert words[words.index(portable.JUDGE) + 1] == "aarch64"
            to = Path(words[words.index("-w") + 1])
            to.mkdir()
            tag = words[words.index("--plat") + 1]
            wheel(to).rename(to / f"quarry_stones-1.3-cp311-abi3-{tag}.whl")
            return subprocess.CompletedProcess(words, verdict)
        to = Path(words[words.index("-o") + 1])
        to.mkdir(exist_ok=True)
        wheel(to)
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sbom, "add", lambda _: None)
    folder = tmp_path / "portable"
    assert portable.main([str(folder), "filesystem", "--arch", "aarch64"]) == bool(refuses)
    made = [file.name for file in folder.iterdir()]
    if refuses:
        assert made == []
        assert "not for glibc 2.28: filesystem for aarch64" in capsys.readouterr().out
    else:
        assert made == ["quarry_stones-1.3-cp311-abi3-manylinux_2_28_aarch64.whl"]
