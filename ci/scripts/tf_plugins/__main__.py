"""Run three plugin wheels made for TensorFlow: `python -m ci.scripts.tf_plugins [--wheels DIR]`.

The wheels come from the package index (`pip download`, by uv where pip is not installed) and are
kept in .drystone-env/tf-plugins. Each is unpacked, loaded by policy and put to work in a process of
its own. One that cannot be had is a failure; on a platform that a wheel does not support, it says
what it skipped and why.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ci.scripts.project import ROOT

__all__ = ["download", "main", "unpack"]

WORK = ROOT / ".drystone-env" / "tf-plugins"
WHEELS = {
    "itex": "intel-extension-for-tensorflow-lib==2.15.0.0.0",
    "gcs": "tensorflow-io-gcs-filesystem==0.37.1",
    "directml": "tensorflow-directml-plugin==0.4.0.dev230202",
}
_PYTHON = {"directml": "3.10"}  # its last wheel is for that; the library knows no Python
_PLATFORM = (
    *("--only-binary=:all:", "--no-deps", "--platform=manylinux2010_x86_64"),
    *("--platform=manylinux2014_x86_64", "--platform=manylinux_2_17_x86_64"),
)


def _pip() -> list[str] | None:
    """The command of pip: of this environment, or one that uv makes for it."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    uv = shutil.which("uv")
    return None if uv is None else [uv, "tool", "run", "--quiet", "pip"]


def download(requirement: str, folder: Path, python: str = "3.11") -> Path | str:
    """The wheel in `folder`, fetched when it is not there; or why there is none."""
    name, version = requirement.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not list(folder.glob(pattern)):
        pip = _pip()
        if pip is None:
            return "neither pip nor uv is installed"
        folder.mkdir(parents=True, exist_ok=True)
        command = [*pip, "download", "-q", *_PLATFORM, f"--python-version={python}"]
        command += ["-d", str(folder), requirement]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            return lines[-1] if lines else f"pip ended with status {done.returncode}"
    return next(iter(folder.glob(pattern)))


def unpack(wheel: Path, folder: Path) -> Path:
    """The wheel's files below `folder`, as pip would lay them out."""
    target = folder / wheel.name.removesuffix(".whl")
    if not target.exists():
        draft = target.with_suffix(".part")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(draft)
        draft.rename(target)
    return target


def _run(name: str, requirement: str, folder: Path) -> bool:
    print(f"== {requirement}", flush=True)
    wheel = download(requirement, folder, _PYTHON.get(name, "3.11"))
    if isinstance(wheel, str):
        print(f"failed: the wheel cannot be had here: {wheel}")
        return False
    place = unpack(wheel, folder)
    command = [sys.executable, "-m", f"ci.scripts.tf_plugins.{name}", str(place)]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the plugins asked for; 0 when each worked, or its platform is another."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wheels", type=Path, default=WORK, help="folder of the wheels")
    parser.add_argument("names", nargs="*", choices=[*WHEELS, []], help="default: all")
    options = parser.parse_args(arguments)
    results = [_run(n, WHEELS[n], options.wheels) for n in options.names or WHEELS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
