"""docs/how-to/releasing.md, followed word for word in a clone of this checkout.

Only its versions are others: those that follow the releases that are recorded.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ci.release import records
from ci.release.simulation.environment import Failure
from ci.scripts.project import ROOT, Package, packages

__all__ = ["as_of_now", "follow", "pretend_releases"]

PAGE = "docs/how-to/releasing.md"
_STEPS = re.compile(
    r"^New file `(?P<file>[^`]+)`:\n\n```\w+\n(?P<text>.*?)^```$|^```sh\n(?P<commands>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def follow(_wheels: Path, work: Path) -> Iterator[str]:
    """Do what the page says to do, and look at what came of it."""
    clone = work / "checkout"
    _sh(f"git clone -q {ROOT} {clone}", ROOT)
    _sh("git config user.name maintainer; git config user.email m@example.invalid", clone)
    last = pretend_releases(clone)
    _sh("git add -A && git commit -q --allow-empty -m 'all of the tree is released'", clone)
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for step in _STEPS.finditer(text):
        if step["file"]:
            (clone / step["file"]).write_text(step["text"], encoding="utf-8")
            yield f"wrote {step['file']}"
            continue
        for line in step["commands"].splitlines():
            command = as_of_now(line, last)
            _sh(command, clone)
            yield f"$ {command}"
    yield _outcome(clone, last)


def pretend_releases(clone: Path) -> dict[str, str]:
    """Record each release as if it had what the tree has; the last version of each package.

    Names that the tree has and no release yet, and bounds that wait for one, are the business of
    who releases next: they do not keep the page from being followed.
    """
    found = {}
    for package in packages(clone).values():
        made = records.of_tree(package, "2026-01-01", [])
        versions = [one.version for one in records.read_all(clone, package.key)]
        for version in versions or [package.version]:
            records.write(clone, replace(made, version=version))
            found[package.key] = version
        _date(package)
    return found


def as_of_now(command: str, last: Mapping[str, str]) -> str:
    """A command of the page, with the version that follows a package's last, or that last one."""
    command = re.sub(
        r"(release -- )(\S+) \d+\.\d+\.\d+",
        lambda found: f"{found[1]}{found[2]} {_next(last[found[2]])}",
        command,
    )
    return re.sub(
        r"drystone-([\w-]+)==\d+\.\d+\.\d+",
        lambda found: f"drystone-{found[1]}=={last[found[1]]}",
        command,
    )


def _next(version: str) -> str:
    major, minor, patch = records.number(version)
    return f"{major}.{minor}.{patch + 1}"


def _date(package: Package) -> None:
    file = package.path / "CHANGELOG.md"
    if file.exists():
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("(unreleased)", "(2026-01-01)"), encoding="utf-8")


def _sh(command: str, folder: Path) -> str:
    """Run a command as a person would type it."""
    left_out = ("PYTHONPATH", "VIRTUAL_ENV")
    settings = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise Failure(f"{command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def _outcome(clone: Path, last: Mapping[str, str]) -> str:
    """What the commands left; raises `Failure` where that is not what the page says."""
    made = {key: _next(last[key]) for key in ("metapackage", "optimizer")}
    tags = [f"{key}/v{version}" for key, version in made.items()]
    missing = set(tags) - set(_sh("git tag", clone).split())
    if missing:
        raise Failure(f"there is no tag {missing}")
    pins = _sh(f"git show {tags[0]}:metapackage/pyproject.toml", clone)
    record = records.latest(clone, "optimizer")
    held = f'"drystone-optimizer=={last["optimizer"]}"'
    if held not in pins or record is None or record.version != made["optimizer"]:
        raise Failure("the set holds nothing back, or nothing is recorded")
    files = sorted(file.name for file in (clone / ".drystone-env/index").iterdir())
    if sum(name.endswith(".minisig") for name in files) != 4:
        raise Failure(f"the index has {files}")
    return f"tags {', '.join(tags)}; {len(files) - 1} files on the index"
