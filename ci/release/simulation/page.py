"""docs/how-to/releasing.md, followed word for word in a clone of this checkout."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ci.release import records
from ci.release.simulation.environment import Failure
from ci.scripts.project import ROOT, Package, packages

__all__ = ["follow"]

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
    _pretend_first_releases(clone)
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for step in _STEPS.finditer(text):
        if step["file"]:
            (clone / step["file"]).write_text(step["text"], encoding="utf-8")
            yield f"wrote {step['file']}"
            continue
        for command in step["commands"].splitlines():
            _sh(command, clone)
            yield f"$ {command}"
    yield _outcome(clone)


def _pretend_first_releases(clone: Path) -> None:
    """Record what is in the tree as released, where nothing of it is, with empty fragments."""
    for package in packages(clone).values():
        if records.latest(clone, package.key) is None:
            records.write(clone, records.of_tree(package, "2026-01-01", []))
        _date(package)
    _sh("git add -A && git commit -q --allow-empty -m 'the first releases'", clone)


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


def _outcome(clone: Path) -> str:
    """What the commands left; raises `Failure` where that is not what the page says."""
    tags = _sh("git tag", clone).split()
    wanted = ["metapackage/v0.1.1", "optimizer/v0.1.1"]
    files = sorted(file.name for file in (clone / ".drystone-env/index").iterdir())
    pins = _sh("git show metapackage/v0.1.1:metapackage/pyproject.toml", clone)
    record = records.latest(clone, "optimizer")
    if tags[-2:] != wanted and tags != wanted:
        raise Failure(f"tags are {tags}")
    if '"drystone-optimizer==0.1.0"' not in pins or record is None or record.version != "0.1.1":
        raise Failure("the set holds nothing back, or nothing is recorded")
    if sum(name.endswith(".minisig") for name in files) != 4:
        raise Failure(f"the index has {files}")
    return f"tags {', '.join(wanted)}; {len(files) - 1} files on the index"
