"""The sessions of what a change touches and of what stands on it: `python -m ci.scripts.changed`.

A change is what the working tree has beyond the last commit that it shares with --base (main). A
package stands on those that ci/packages.toml draws an arrow to, and on those that its tests import
(`with` in ci/matrix.toml). Files of no package have sessions of their own there; what no pattern
fits, every package stands on. `nox -s changed` runs the sessions; --list prints them, --json as
data with the files and packages that lead to them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path

from ci.scripts.jobs import Matrix, tests_of
from ci.scripts.project import ROOT, git

__all__ = ["Plan", "changed_files", "main", "plan"]


@dataclass(frozen=True)
class Plan:
    """What a change asks for: packages that it touches, those that stand on them, and sessions."""

    files: tuple[str, ...]
    touched: tuple[str, ...]
    packages: tuple[str, ...]
    sessions: tuple[tuple[str, ...], ...]
    """Each is a session's name and its arguments."""


def plan(matrix: Matrix, files: Iterable[str], python: str, wheels: str = "") -> Plan:
    """The sessions of a change of some files, on one Python; with `wheels`, on built ones."""
    given = tuple(sorted(files))
    if not given:
        return Plan((), (), (), ())
    touched, sessions = _touched(matrix, given)
    arrows, standing = _standing(matrix, touched)
    always = [(name,) for name in matrix.table["always"]["sessions"]]
    plugins = {(name,) for name in matrix.own_sessions(standing, arrows)}
    ours = [key for key in standing if "python" in matrix.axes(key) and tests_of(matrix, key)]
    built = ("--wheels", wheels) if wheels else ()
    tests = [(f"package-{python}", *ours, *built)] if ours else []
    others = [(name,) for name in sorted(sessions)]
    return Plan(given, touched, standing, (*always, *tests, *others, *sorted(plugins)))


def _touched(matrix: Matrix, files: Sequence[str]) -> tuple[tuple[str, ...], set[str]]:
    """Packages with a file among them, and sessions of files of none."""
    touched, sessions = set(), set()
    # The longest folder first: that of the conformance suites lies in that of the contract.
    folders = sorted(matrix.packages.values(), key=lambda package: -len(package.dir))
    for file in files:
        inside = next((p.key for p in folders if file.startswith(f"{p.dir}/")), None)
        rule = next((one["sessions"] for one in matrix.table["files"]
                     if any(fnmatch(file, pattern) for pattern in one["match"])), None)  # fmt: skip
        if inside is not None:
            touched.add(inside)
        elif rule is not None:
            sessions |= set(rule)
        else:
            touched |= set(matrix.packages)
    return tuple(key for key in matrix.packages if key in touched), sessions


def _standing(matrix: Matrix, touched: Sequence[str]) -> tuple[set[str], tuple[str, ...]]:
    """Those packages and what depends on them; and these with what is tested with one of them."""
    found, size = set(touched), -1
    while len(found) != size:
        size = len(found)
        found |= {key for key, one in matrix.packages.items() if found & set(one.depends_on)}
    beside = {
        key for key, entry in matrix.table["packages"].items() if found & set(entry.get("with", ()))
    }
    return found, tuple(key for key in matrix.packages if key in found | beside)


def changed_files(root: Path, base: str) -> list[str]:
    """Files that differ from the last commit shared with `base`, those that are not added, too."""
    start = git(root, "merge-base", base, "HEAD")
    if start is None:
        raise ValueError(f"{base} and HEAD share no commit here; name another one: --base REF")
    listed = (
        git(root, "diff", "--name-only", "-z", start.strip()),
        git(root, "ls-files", "-z", "--others", "--exclude-standard"),
    )
    return sorted({name for text in listed for name in (text or "").split("\0") if name})


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the sessions; 2 where there is nothing to compare with."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", default="main", metavar="REF", help="what it will be merged into")
    parser.add_argument("--python", default="", metavar="X.Y", help="default: this one")
    parser.add_argument("--wheels", default="", metavar="FOLDER", help="test on these, build none")
    parser.add_argument("--list", action="store_true", help="only print them (nox -s changed)")
    parser.add_argument("--json", action="store_true", help="as data")
    given = parser.parse_args(arguments)
    python = given.python or "{}.{}".format(*sys.version_info[:2])
    try:
        found = plan(Matrix(), changed_files(ROOT, given.base), python, given.wheels)
    except ValueError as error:
        print(f"changed: {error}", file=sys.stderr)
        return 2
    if given.json:
        print(json.dumps(asdict(found), indent=1))
        return 0
    print(f"{len(found.files)} files; touched: {', '.join(found.touched) or 'no package'}; "
          f"with what stands on it: {', '.join(found.packages) or 'no package'}")  # fmt: skip
    for name, *words in found.sessions:
        print(f"nox -s {name}{' -- ' if words else ''}{' '.join(words)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
