"""Simulate a year of releases: `python -m ci.release.simulation WHEELS [--only NAME]`.

WHEELS is a folder with a built wheel of each package. For each date of the timeline a request is
resolved against the index of that date, installed into an empty environment, and two models are
run; then the failure modes of S2, plugins for each plugin ABI on hosts of each, and the commands of
docs/how-to/releasing.md as they stand.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

from ci.release.index import UPLOADS, serving
from ci.release.simulation import abi, failures, page, timeline
from ci.release.simulation.environment import Environment, Failure
from ci.release.simulation.reversion import reversion
from ci.release.simulation.timeline import BASE, OPTIMIZER, Release, World

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts; 1 where one of them fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--only", choices=PARTS, action="append", help="some of the parts")
    given = parser.parse_args(arguments)
    names = given.only or [*PARTS]
    with tempfile.TemporaryDirectory(prefix="releases-") as work, ThreadPoolExecutor(2) as pool:
        parts = [PARTS[name](given.wheels, Path(work)) for name in names]
        return int(any(list(pool.map(_part, names, parts))))


def _part(name: str, lines: Iterator[str]) -> int:
    """Print what a part finds, and how long it took, beside another; how many failures it had."""
    start, failed = time.perf_counter(), 0
    try:
        for line in lines:
            print(f"{name}: {line}", flush=True)
    except Failure as failure:
        print(f"{name}: FAILED: {failure}", flush=True)
        failed = 1
    print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    return failed


def make_index(releases: Iterable[Release], wheels: Path, folder: Path) -> None:
    """Put the releases into a folder, as wheels of those versions with those dates."""
    folder.mkdir(parents=True, exist_ok=True)
    uploads = {}
    for one in releases:
        stem = one.package.replace("-", "_")
        (built,) = wheels.glob(f"{stem}-[0-9]*.whl")
        made = reversion(built, one.version, folder, requires=one.requires, edits=one.edits)
        uploads[made.name] = f"{one.date}T00:00:00Z"
    (folder / UPLOADS).write_text(json.dumps(uploads), encoding="utf-8")


def _timeline(wheels: Path, work: Path) -> Iterator[str]:
    folder = work / "timeline"
    make_index(timeline.RELEASES, wheels, folder)
    with serving(folder) as address, ThreadPoolExecutor(max_workers=2) as pool:
        roots = (work / f"env{number}" for number in range(len(timeline.WORLDS)))
        yield from pool.map(_world, timeline.WORLDS, repeat(address), roots)


def _world(world: World, address: str, root: Path) -> str:
    """What a date gave; raises `Failure` for anything else than it must."""
    index = f"{address}/until/{world.date}/simple/"
    asked = " ".join(world.asks)
    there = Environment.make(root, seed=world.pip)
    if world.pip:  # which shall know this index only: what packages need from others is there
        _check(there.uv(*world.asks, index=index))
        ours = list(there.versions())
        _check(there.run("uv", "pip", "uninstall", "-q", "--python", str(there.python), *ours))
        done = there.pip(*world.asks, index=index)
    else:
        done = there.uv(*world.asks, index=index)
    if isinstance(world.gives, str):
        flat = " ".join(done.stderr.split())
        if not done.returncode or world.gives not in flat:
            raise Failure(f"{world.date} {asked}: {world.gives!r} is not in: {flat}")
        return f"{world.date}  {asked}: refused, {flat[:160]}..."
    _check(done)
    found = there.versions()
    if any(found.get(name) != version for name, version in world.gives.items()):
        raise Failure(f"{world.date} {asked}: {found}, not {world.gives}")
    there.run_models()
    shutil.rmtree(root)
    told = ", ".join(f"{name} {found[name]}" for name in world.gives)
    return f"{world.date}  {asked}{' (pip)' if world.pip else ''}: {told}; two models run"


def _failures(wheels: Path, work: Path) -> Iterator[str]:
    folder = work / "failures"
    early = [
        one for one in timeline.RELEASES if one.version == "1.0.0" and one.package != "drystone"
    ]
    make_index([*early, *failures.RELEASES], wheels, folder)
    with serving(folder) as address:
        install = _installer(address, work / "env")
        for failure in failures.FAILURES:
            yield f"{failure.__name__}:"
            yield from (f"  {line}" for line in failure(install))


def _installer(address: str, root: Path) -> Callable[..., Environment]:
    """A function that installs as of a date, and checks which versions that gave."""

    def install(
        date: str, *asks: str, base: str = "", optimizer: str = "", into: Environment | None = None
    ) -> Environment:
        there = into or Environment.make(root)
        _check(there.uv(*asks, index=f"{address}/until/{date}/simple/"))
        found = there.versions()
        for name, wanted in ((BASE, base), (OPTIMIZER, optimizer)):
            if wanted and found.get(name) != wanted:
                raise Failure(f"{date}: {name} {found.get(name)} was installed, not {wanted}")
        return there

    return install


def _check(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise Failure(done.stderr.strip() or done.stdout.strip())


def _abi(wheels: Path, work: Path) -> Iterator[str]:
    folder = work / "abi"
    folder.mkdir()
    uploads = abi.put_hosts(wheels, folder)
    (folder / UPLOADS).write_text(json.dumps(uploads), encoding="utf-8")
    with serving(folder) as address:
        yield from abi.pairs(address, work)


# The longest first: two of them run beside each other, and one works on one processor only.
PARTS = {"page": page.follow, "timeline": _timeline, "failures": _failures, "abi": _abi}


if __name__ == "__main__":
    sys.exit(main())
