"""What installers and packers do with the wheels: each in an environment of its own.

The third-party libraries come from the package index, ours from the folder of candidates alone.
"""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from ci.nightly.suite import Case, Figures, LeftOut, Place, Wrong
from ci.scripts.project import ROOT

__all__ = ["TITLE", "Here", "cases", "console_scripts", "gone", "left_behind"]

TITLE = "pip utilities"
NOTHING: Mapping[str, str] = {}
LIMIT = 300
"""Seconds of a case: on a busy machine a minute goes by until all is copied."""
MODEL = ROOT / "integration_tests" / "data" / "gen-controlflow-v1" / "model.pb"
PROGRAM = f"""
import json
import numpy as np
import drystone as ds
folder = {str(MODEL.parent)!r}
case = json.load(open(folder + "/cases.json"))["cases"][0]
with ds.load({str(MODEL)!r}) as model:
    found = model.run(case["fetches"], dict(np.load(folder + "/" + case["inputs"])))
wanted = np.load(folder + "/" + case["outputs"])
assert all(np.allclose(a, wanted[b], 1e-4) for a, b in zip(found, case["fetches"]))
print("ran, and plugins are", sorted({{plugin.state for plugin in ds.plugins.report().plugins}}))
"""
RAN = ("ran, and plugins are ['loaded']", "ran, and plugins are []")


def cases(place: Place) -> list[Case]:
    """Installers, places to install to, packers, and one for each console script."""
    tried = {
        "uv: install, check, uninstall": _uv,
        "pip: install, check, uninstall": _pip,
        "pip install --target": _target,
        "pip install --prefix": _prefix,
        "uv tool install": _tool,
        "zipapp": _zipapp,
        "PyInstaller, one folder": _pyinstaller,
    }
    wheels = sorted(place.wheels.glob("*.whl")) if place.wheels else []
    scripts = sorted({name for wheel in wheels for name in console_scripts(wheel)})
    tried |= {f"script {name}": partial(_script, name) for name in scripts}
    return [Case(name, partial(_alone, one), LIMIT) for name, one in tried.items()]


def _alone(one: Callable[[Place, Path], Figures], place: Place) -> Figures:
    """Run a case in a folder of its own, of which nothing is kept: an environment is large."""
    folder = place.work / one.__name__ if hasattr(one, "__name__") else place.work / "script"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        return one(place, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Here:
    """An environment for one case, and commands in it."""

    def __init__(self, root: Path, *, pip: bool = False) -> None:
        shutil.rmtree(root, ignore_errors=True)
        seed = ["--seed"] if pip else []
        _run("uv", "venv", "-q", *seed, "--python", sys.executable, str(root))
        self.root = root

    def run(self, *words: str | Path, ok: bool = True, further: Mapping[str, str] = NOTHING) -> str:
        """What a command prints, without variables that lead to a source tree."""
        path = f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return _run(*map(str, words), ok=ok, cwd=self.root, further={"PATH": path, **further})

    def uv(self, *words: str | Path) -> str:
        """`uv pip` for this environment."""
        return self.run("uv", "pip", *words, "-q", "--python", self.root / "bin" / "python")

    def site(self) -> Path:
        """Its site-packages."""
        (found,) = (self.root / "lib").glob("python*/site-packages")
        return found


def _run(
    *words: str, ok: bool = True, cwd: Path | None = None, further: Mapping[str, str] = NOTHING
) -> str:
    left_out = ("PYTHONPATH", "VIRTUAL_ENV", "DRYSTONE_DEVELOPER_MODE", "PYTHONHOME")
    settings = {name: value for name, value in os.environ.items() if name not in left_out}
    settings |= {"DRYSTONE_PLAN_CACHE": "off", **further}
    done = subprocess.run(
        words, capture_output=True, text=True, env=settings, cwd=cwd, check=False, timeout=280
    )
    if ok and done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-6:]
        command = " ".join(" ".join(words).split())[:120]
        raise Wrong(f"`{command}` gave {done.returncode}: {' | '.join(said)[:600]}")
    return done.stdout + done.stderr


def console_scripts(wheel: Path) -> list[str]:
    """Commands that a wheel installs."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
        text = archive.read(names[0]).decode("utf-8") if names else ""
    parsed = configparser.ConfigParser(delimiters=("=",))
    parsed.optionxform = str  # type: ignore[assignment,method-assign]  # names have a case
    parsed.read_string(text)
    return list(parsed["console_scripts"]) if "console_scripts" in parsed else []


def left_behind(site: Path) -> list[str]:
    """What of ours is in a folder of packages."""
    return sorted(path.name for path in site.iterdir() if path.name.startswith("drystone"))


def _works(run: Callable[..., str], further: Mapping[str, str] = NOTHING) -> None:
    """A model is loaded there, and no plugin of ours is refused."""
    printed = run("python", "-c", PROGRAM, further=further)
    if not any(text in printed for text in RAN):
        raise Wrong(f"the installed drystone does not work: {printed[-400:]}")


def _size(folder: Path) -> Figures:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return {"MB": sum(sizes) / 1e6, "files": f"{len(sizes)}"}


def gone(site: Path, scripts: Iterable[Path]) -> None:
    """Nothing of ours is left after uninstalling, empty folders included."""
    left = [*left_behind(site), *(str(path) for path in scripts if path.exists())]
    if left:
        raise Wrong(f"left after uninstalling: {', '.join(left)}")


def _uv(place: Place, folder: Path) -> Figures:
    here = Here(folder)
    here.uv("install", *place.candidates())
    here.uv("check")
    _works(here.run)
    size = _size(here.site())
    here.uv("uninstall", *_names(place))
    gone(here.site(), [here.root / "bin" / "drystone"])
    return size


def _pip(place: Place, folder: Path) -> Figures:
    """Also the same version over itself, by force: nothing is there twice, nothing is lost."""
    here = Here(folder, pip=True)
    install = ("python", "-m", "pip", "install", "-q", *map(str, place.candidates()))
    here.run(*install)
    checked = here.run("python", "-m", "pip", "check")
    if "No broken requirements" not in checked:
        raise Wrong(f"pip check: {checked}")
    size, before = _size(here.site()), left_behind(here.site())
    here.run(*install, "--force-reinstall", "--no-deps")
    if left_behind(here.site()) != before:
        raise Wrong(f"{left_behind(here.site())} after a second install, {before} before")
    _works(here.run)
    here.run("python", "-m", "pip", "uninstall", "-q", "-y", *_names(place))
    gone(here.site(), [here.root / "bin" / "drystone"])
    return size


def _names(place: Place) -> list[str]:
    return [wheel.name.split("-")[0].replace("_", "-") for wheel in place.candidates()]


def _target(place: Place, folder: Path) -> Figures:
    """The folder is found by PYTHONPATH, as plug-in systems and functions in clouds do it."""
    here = Here(folder, pip=True)
    apart = here.root / "apart"
    pip = ("python", "-m", "pip", "install", "-q", "--no-compile")
    here.run(*pip, "--target", apart, *place.candidates())
    _works(here.run, {"PYTHONPATH": str(apart)})
    return _size(apart)


def _prefix(place: Place, folder: Path) -> Figures:
    """Another prefix than Python's, as those who build distributions do it."""
    here = Here(folder, pip=True)
    prefix = here.root / "prefix"
    pip = ("python", "-m", "pip", "install", "-q", "--no-compile")
    here.run(*pip, "--prefix", prefix, *place.candidates())
    (site,) = prefix.glob("lib/python*/site-packages")
    _works(here.run, {"PYTHONPATH": str(site)})
    return _size(prefix)


def _tool(place: Place, folder: Path) -> Figures:
    """The command without an environment that anybody sees."""
    further = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    meta = next(one for one in place.candidates() if one.name.startswith("drystone-"))
    beside = [word for one in place.candidates() if one != meta for word in ("--with", str(one))]
    command = ("uv", "tool", "install", "-q", "--python", sys.executable)
    _run(*command, str(meta), *beside, further=further)
    printed = _run(str(folder / "bin" / "drystone"), "run", str(MODEL), further=further)
    return {"output lines": f"{len(printed.splitlines())}"}


def _zipapp(place: Place, folder: Path) -> Figures:
    """One file by shiv, which unpacks itself where it first runs: libraries cannot stay in it."""
    here = Here(folder, pip=True)
    here.uv("install", "shiv", "setuptools")
    app, unpacked = here.root / "drystone.pyz", here.root / "unpacked"
    here.run("shiv", "-q", "-c", "drystone", "-o", app, *place.candidates())
    here.run("python", app, "run", MODEL, further={"SHIV_ROOT": str(unpacked)})
    return {"MB": app.stat().st_size / 1e6}


def _pyinstaller(place: Place, folder: Path) -> Figures:
    """A folder with Python in it, which runs without the environment that made it."""
    if shutil.which("objdump") is None:
        raise LeftOut("PyInstaller needs objdump (binutils), which is not installed")
    here = Here(folder)
    here.uv("install", *place.candidates(), "pyinstaller")
    program = here.root / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    every = [f"--collect-all={name}" for name in _imported(place)]
    plugins = here.site() / "drystone-plugins"
    data = [f"--add-data={plugins}{os.pathsep}drystone-plugins"] if plugins.is_dir() else []
    here.run("pyinstaller", "--noconfirm", "--log-level=ERROR", *every, *data, program)
    shutil.rmtree(here.root / "lib")  # nothing of the environment may be needed
    made = here.root / "dist" / "program"
    printed = _run(str(made / "program"))
    if not any(text in printed for text in RAN):
        raise Wrong(f"the program printed {printed[-400:]}")
    return {**_size(made), "plugins": "loaded" if RAN[0] in printed else "none"}


def _imported(place: Place) -> list[str]:
    """Modules of the candidates, beside their libraries of plugins."""
    found = set()
    for wheel in place.candidates():
        with zipfile.ZipFile(wheel) as archive:
            found |= {name.split("/")[0] for name in archive.namelist() if name.endswith(".py")}
    return sorted(found)


def _script(name: str, place: Place, folder: Path) -> Figures:
    """It says how it is used, says its version, and refuses what it does not know."""
    here = Here(folder)
    here.uv("install", *place.candidates())
    usage = here.run(name, "--help")
    if name not in usage:
        raise Wrong(f"`{name} --help` prints {usage[:200]!r}")
    unknown = here.run(name, "--no-such-option", ok=False)
    if "--no-such-option" not in unknown or "Traceback" in unknown:
        raise Wrong(f"`{name} --no-such-option` prints {unknown[-300:]!r}")
    return {"lines of help": f"{len(usage.splitlines())}"}
