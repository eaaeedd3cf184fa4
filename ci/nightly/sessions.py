"""Sessions of noxfile.py that run at night. `-- --wheels FOLDER` takes built wheels as candidates.

Further words after `--` are those of ci.nightly: `--resume`, `--only CASE`, `--list`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import nox

from ci.scripts.session_parts import requirements
from ci.scripts.sessions import WHEELS, build_packages, install_built, install_wheels, pytest

__all__ = [
    "community",
    "devices",
    "nightly_convergence",
    "nightly_models",
    "nightly_network",
    "nightly_notebooks",
    "nightly_page",
    "nightly_performance",
    "nightly_pip",
    "pjrt",
    "soak_network",
]


@nox.session
def devices(session: nox.Session) -> None:
    """The strict device under ASan, UBSan and TSan: graphs, variables, all recorded models.

    `-- ARGUMENTS` are those of ci.scripts.sanitize_devices.
    """
    install_wheels(session, "test", cpu=False)
    session.install("cmake", "ninja")
    session.run("python", "-m", "ci.scripts.sanitize_devices", *session.posargs)


@nox.session
def nightly_pip(session: nox.Session) -> None:
    """Wheels by pip and uv, to --target and --prefix, as zipapp, by PyInstaller; each command."""
    folder, words = _candidates(session)
    session.install("uv>=0.5")
    session.run("python", "-m", "ci.nightly", "pip", "--wheels", str(folder), *words)


@nox.session
def nightly_notebooks(session: nox.Session) -> None:
    """The notebooks of docs/ run, and print what is stored; `-- --store` stores what they give."""
    words = _installed(session, "notebooks")
    if words == ["--store"]:
        session.run("python", "-m", "ci.nightly.notebooks")
        return
    session.run("python", "-m", "ci.nightly", "notebooks", *words)


@nox.session
def nightly_models(session: nox.Session) -> None:
    """Recorded models, a few steps each, against TensorFlow's answers."""
    session.run("python", "-m", "ci.nightly", "models", *_installed(session))


@nox.session
def nightly_convergence(session: nox.Session) -> None:
    """Six training graphs until their loss is at a target, within steps and seconds."""
    session.run("python", "-m", "ci.nightly", "convergence", *_installed(session))


@nox.session
def nightly_performance(session: nox.Session) -> None:
    """Cases beside work of the same length every night; an alarm 15 % below what is stored."""
    session.run("python", "-m", "ci.nightly", "performance", *_installed(session))


@nox.session
def nightly_network(session: nox.Session) -> None:
    """Messages of 2 GiB by each transport, and 30 minutes of random kills with flat memory."""
    session.run("python", "-m", "ci.nightly", "network", *_installed(session, "test"))


@nox.session
def soak_network(session: nox.Session) -> None:
    """Random kills of workers: errors in time, flat memory; `-- --minutes 5` for less than 30."""
    install_built(session, build_packages(session, only=("network",), quick=True))
    session.run("python", "-m", "ci.scripts.distributed.soak", *session.posargs)


@nox.session
def community(session: nox.Session) -> None:
    """Plugins of community/plugins.toml against the candidates, beside the last release."""
    folder, words = _candidates(session)
    session.install("uv>=0.5", "packaging>=24")
    session.run("python", "-m", "ci.nightly", "community", "--wheels", str(folder), *words)


@nox.session
def pjrt(session: nox.Session) -> None:
    """drystone-pjrt with XLA for the processor (large downloads): ops and recorded models."""
    wheels = build_packages(session, without=("cpu",), quick=True)
    install_built(session, wheels, *requirements("test"))
    session.install("xla-cpu-pjrt==0.0.1")
    pytest(session, "pjrt", "packages/pjrt/tests/compiled")


@nox.session
def nightly_page(session: nox.Session) -> None:
    """Write the page of the last runs, .drystone-env/nightly/index.html, again."""
    session.run("python", "-m", "ci.nightly", "page", *session.posargs)


def _candidates(session: nox.Session) -> tuple[Path, list[str]]:
    """The folder of wheels to try, built where none is given, and the words that are left."""
    words = argparse.ArgumentParser(add_help=False)
    words.add_argument("--wheels", type=Path)
    given, left = words.parse_known_args(session.posargs)
    if given.wheels is None:
        build_packages(session)
    return given.wheels or WHEELS, left


def _installed(session: nox.Session, *names: str) -> list[str]:
    """Install the candidates with requirement files; the words that are left."""
    folder, words = _candidates(session)
    install_built(session, sorted(folder.resolve().glob("*.whl")), *requirements(*names))
    return words
