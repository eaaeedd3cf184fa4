"""What several sessions of noxfile.py do: build, install, check, test."""

from __future__ import annotations

import argparse
from functools import partial
from os import sched_getaffinity
from pathlib import Path
from random import randrange

import nox

from ci.scripts.jobs import Matrix, closure, tests_of
from ci.scripts.project import ROOT, packages
from ci.scripts.session_parts import TREE, requirements
from ci.scripts.steps import Steps
from ci.scripts.wheels import chosen, newest, wheel_of

__all__ = [
    "PACKAGES",
    "REPORTS",
    "WHEELS",
    "WORK",
    "build_packages",
    "build_site",
    "close",
    "folders",
    "install_built",
    "install_wheels",
    "lint_steps",
    "package_tests",
    "pytest",
    "run_distributed",
    "run_types",
    "test_steps",
    "without_cpu",
]

PACKAGES = packages()
WORK = ROOT / ".drystone-env"
WHEELS = WORK / "wheels"
REPORTS = WORK / "reports"
ANY_ORDER = "--any-order"
MYPY = ("mypy", "--config-file", "ci/config/mypy.ini")


def build_site(session: nox.Session) -> None:
    """Build the documentation; a warning, such as a page that is not in the nav, is a failure."""
    session.env["NO_MKDOCS_2_WARNING"] = "1"  # the theme's word about mkdocs 2, which is not used
    session.run("python", "-m", "mkdocs", "build", "--strict", "-q", "-f", "ci/config/mkdocs.yml")


def build_packages(
    session: nox.Session,
    without: tuple[str, ...] = (),
    apart: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    quick: bool = False,
    alone: bool = False,
) -> list[Path]:
    """Build every package into an sdist and, from that, a wheel; the wheels, lowest layer first.

    Those named in `without` are not built, and those whose build needs large downloads only where
    `apart` names them. With `only`, those and what they depend on. A `quick` build is for this
    machine only. With `alone` there are wheels of Python alone, too, in a folder of theirs.
    """
    session.install("uv>=0.5")
    named = {"without": without, "apart": apart, "only": only}
    options = [f"--{option}={key}" for option, keys in named.items() for key in keys]
    options += ["--quick"] * quick + ["--alone"] * alone
    session.run("python", "-m", "ci.scripts.wheels", str(WHEELS), *options)
    return [wheel_of(package, WHEELS) for package in chosen(without, apart, only)]


def install_wheels(
    session: nox.Session,
    *names: str,
    cpu: bool = True,
    without: tuple[str, ...] = (),
    quick: bool = True,
) -> None:
    """Build and install every package, replacing older builds, with requirement files `names`.

    Those named in `without`, and drystone-cpu without `cpu`, are left out. What is about a release,
    its speed or its levels of instructions, is not `quick`.
    """
    left_out = without if cpu else (*without, "cpu")
    install_built(session, build_packages(session, left_out, quick=quick), *requirements(*names))


def package_tests(session: nox.Session) -> None:
    """Tests of the packages that the session is given, on their wheels and what those need.

    After `--wheels FOLDER` nothing is built. After `--released FOLDER` what they need is the last
    release in it: a package is not held up by what is new below it.
    """
    words = argparse.ArgumentParser(prog="nox -s package --")
    here = [key for key, package in PACKAGES.items() if not package.apart]
    words.add_argument("packages", nargs="+", choices=here, metavar="PACKAGE")
    words.add_argument("--wheels", type=Path, help="folder with built ones")
    words.add_argument("--released", type=Path, help="folder with released ones of what they need")
    given = words.parse_args(session.posargs)
    session.posargs.clear()
    matrix = Matrix()
    beside = [
        key for one in given.packages for key in matrix.table["packages"][one].get("with", ())
    ]
    needed = closure(PACKAGES, [*given.packages, *beside])
    there = newest(given.released) if given.released else {}
    names = {key: PACKAGES[key].distribution.replace("-", "_") for key in needed}
    old = {key: there[names[key]] for key in needed if names[key] in there}
    new = [key for key in needed if key in given.packages or key not in old]
    if not given.wheels:
        build_packages(session, only=tuple(new), quick=True)
    folder = given.wheels or WHEELS
    wheels = [wheel_of(PACKAGES[key], folder) if key in new else old[key] for key in needed]
    install_built(session, wheels, *requirements("test"))
    report = f"package-{session.python}"
    pytest(session, report, *(path for key in given.packages for path in tests_of(matrix, key)))


def without_cpu(built: list[Path]) -> list[Path]:
    """The wheels but drystone-cpu's."""
    return [wheel for wheel in built if not wheel.name.startswith("drystone_cpu-")]


def install_built(session: nox.Session, wheels: list[Path], *further: str) -> None:
    """Install wheels with what they need, replacing older builds.

    The metapackage's pins are not asked for: no index has those that are left out here.
    """
    needing = [wheel for wheel in wheels if not wheel.name.startswith("drystone-")]
    session.install(*map(str, needing), *further)
    session.install("--force-reinstall", "--no-deps", *map(str, wheels))


def folders(*parts: str) -> list[str]:
    """Folders of all packages, relative to the top, that exist; `{}` stands for the import name."""
    named = [f"{p.dir}/{part.format(p.import_name)}" for p in PACKAGES.values() for part in parts]
    return [folder for folder in named if (ROOT / folder).is_dir()]


def pytest(session: nox.Session, report: str, *arguments: str) -> None:
    """Run pytest, leaving a JUnit file under `report`; in any order by a seed that is printed."""
    any_order = ANY_ORDER in session.posargs
    order = (f"--randomly-seed={randrange(2**32)}",) if any_order else ("-p", "no:randomly")
    command = ("pytest", "-q", *order, "--durations=10", f"--junitxml={REPORTS / report}.xml")
    session.run(*command, *arguments, *(word for word in session.posargs if word != ANY_ORDER))


def run_distributed(session: nox.Session) -> None:
    """Have two workers, each with an environment of its own, serve the session's own."""
    wheels = build_packages(session, only=("network",), quick=True)
    install_built(session, wheels)
    pythons = []
    for k in range(2):
        folder = Path(session.create_tmp(), f"worker-{k}")
        session.run("uv", "venv", "-q", "--clear", str(folder))
        pythons.append(str(folder / "bin" / "python"))
        session.run("uv", "pip", "install", "-q", "--python", pythons[k], *map(str, wheels))
    session.run("python", "-m", "ci.scripts.distributed", *pythons)


def lint_steps(session: nox.Session, steps: Steps) -> None:
    """Style of every file, then the promises in ci/checks that need only the tree.

    Tables are compared with those of drystone_base, which needs what it always needs.
    """
    for name, command in {
        "ruff check": ("ruff", "check", "."),
        "ruff format": ("ruff", "format", "--check", "."),
        "checks": ("python", "-m", "ci.checks"),
        "workflows": (
            "check-jsonschema",
            "--builtin-schema",
            "vendor.github-workflows",
            *sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml"))),
        ),
    }.items():
        steps.run(name, partial(session.run, *command, env=TREE))


def run_types(session: nox.Session) -> None:
    """Strict types of every package, the tooling and the tests."""
    ours = [one for one in folders("src/{}", "tests", "bench") if [*(ROOT / one).rglob("*.py")]]
    session.run(*MYPY, *ours, "bench", "ci", "integration_tests", "noxfile.py")


def close(session: nox.Session, steps: Steps) -> None:
    """End a session of steps: print what each gave, and fail if one did."""
    if not steps.close():
        session.error("some steps failed")


def test_steps(session: nox.Session, steps: Steps, name: str, *arguments: str) -> None:
    """A step of tests by some workers, or three by one: no test may see what another leaves."""
    any_order = ANY_ORDER in session.posargs
    # Many tests wait, for a process or a limit: one more worker than processors has work meanwhile.
    count = len(sched_getaffinity(0)) + 1
    workers = () if any_order else ("-n", str(count), "--dist", "worksteal")
    for order in (" 1", " 2", " 3") if any_order else ("",):
        report = f"{name}{order}".replace(" ", "-")
        steps.run(
            f"{name}{order}",
            partial(pytest, session, report, *workers, "-m", "not nightly", *arguments),
            junit=REPORTS / f"{report}.xml",
        )
