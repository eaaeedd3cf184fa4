"""Headers of other releases: those in frozen/, and one to come, made by appending to today's."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from compiling import INCLUDE, compiler, made_once

__all__ = ["EXAMPLE", "PLUGINS", "build_plugin", "headers", "names"]

ROOT = Path(__file__).resolve().parents[1]
STYLE = ROOT / "tests" / "plugins" / "tf_style"
EXAMPLE = ROOT / "examples" / "device_c"
# Plugins to build with the headers of each release.
PLUGINS = {
    "device": [EXAMPLE / "fake_device.c", EXAMPLE / "fake_profiler.c"],
    "style-device": [STYLE / "device.c"],
    "kernels": [STYLE / "kernels.cc"],
    "optimizer": [STYLE / "optimizer.c"],
    "filesystem": [STYLE / "filesystem.cc"],
}
_LATER = "  void (*of_a_later_release)(void);\n"
# Struct, header, and the macro with its size or None where that is sizeof.
_GROWING = {
    "SP_Device": "device.h",
    "SP_DeviceFns": "device.h",
    "SP_PlatformFns": "device.h",
    "SP_StreamExecutor": "device.h",
    "SP_TimerFns": "device.h",
    "SE_PlatformRegistrationParams": "device.h",
    "TP_Profiler": "profiler.h",
    "TP_ProfilerFns": "profiler.h",
    "TP_Optimizer": "optimizer.h",
    "TP_OptimizerConfigs": "optimizer.h",
    "TF_FilesystemOps": "filesystem.h",
    "TF_RandomAccessFileOps": "filesystem.h",
}


def names() -> list[str]:
    """Releases there are headers of, today's first."""
    frozen = sorted(folder.name for folder in (ROOT / "frozen").glob("v*"))
    return ["today", "later", *frozen]


@cache
def headers(name: str) -> Path:
    """The include folder of a release."""
    if name == "today":
        return INCLUDE
    return ROOT / "frozen" / name if name != "later" else made_once("later", _later)


def _later(folder: Path) -> None:
    """Write today's headers with a member more in every struct that may grow, version 1.999."""
    shutil.copytree(INCLUDE, folder)
    for struct, header in _GROWING.items():
        _edit(folder / _path(header), rf"^\}} {struct};", f"{_LATER}}} {struct};")
    for header in sorted(set(_GROWING.values())):
        path = folder / _path(header)
        for struct in (name for name, place in _GROWING.items() if place == header):
            text = path.read_text()
            grown = re.sub(
                rf"TF_OFFSET_OF_END\({struct},\s*\w+\)",
                f"TF_OFFSET_OF_END({struct}, of_a_later_release)",
                text,
            )
            path.write_text(grown)
    _edit(folder / _path("version.h"), r"_MINOR \d+$", "_MINOR 999")


def _path(name: str) -> Path:
    """Where a header of the contract lies in an include folder."""
    return Path("drystone") / name


def _edit(path: Path, pattern: str, text: str) -> None:
    changed, count = re.subn(pattern, lambda _: text, path.read_text(), flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f"{pattern} occurs {count} times in {path}")
    path.write_text(changed)


def build_plugin(kind: str, release: str, folder: Path, flags: Sequence[str] = ()) -> Path:
    """The plugin `kind` of `PLUGINS`, built with the headers of a release."""
    sources = PLUGINS[kind]
    out = folder / f"{kind}-{release}.so"
    suffix = sources[0].suffix
    standard = "-std=c11" if suffix == ".c" else "-std=c++17"
    command = [*compiler(suffix), standard, "-shared", "-fPIC", "-fvisibility=hidden"]
    subprocess.run(
        [*command, f"-I{headers(release)}", *flags, *map(str, sources), "-o", str(out)], check=True
    )
    return out
