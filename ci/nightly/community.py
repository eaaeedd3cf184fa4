"""Plugins of others against the candidates, each in an environment of its own.

A plugin that fails is tried with the wheels of the last release as well: where it passes there,
what changed since broke it, and the commits since its last good night are named.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ci.nightly import results
from ci.nightly.plugin_trial import Entry, Found, marked, read_register, try_plugin, verdict
from ci.nightly.suite import Case, Figures, LeftOut, Place, Wrong
from ci.scripts.project import ROOT, git
from ci.scripts.wheels import newest

__all__ = ["TITLE", "cases", "judge", "since"]

TITLE = "Community plugins"
SHOWN = 5
TREES = ("plugin-abi", "packages", "metapackage")


def cases(_: Place) -> list[Case]:
    """One for each plugin of community/plugins.toml."""
    return [Case(entry.name, partial(_run, entry), 600) for entry in read_register()]


def _run(entry: Entry, place: Place) -> Figures:
    if not marked(entry):
        raise LeftOut(f"it is for machines with {entry.only_on}")
    folder = place.work / entry.name
    try:
        return judge(
            entry,
            try_plugin(entry, place.candidates(), folder / "candidate"),
            _before(entry, place, folder / "released"),
            commits=since(entry, place),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judge(
    entry: Entry, found: Found, before: Callable[[], Found | None], commits: str = ""
) -> Figures:
    """What is kept of a plugin that is as it should be; raises `Wrong` for another one.

    `before` tries it with the last release, which is asked only if there are problems.
    """
    if entry.expected_to_fail:
        if found.problems:
            return {"fails": entry.expected_to_fail, "with": "; ".join(found.problems)[:200]}
        raise Wrong(f"it passes, and is marked as expected to fail ({entry.expected_to_fail}): "
                    "take the mark out of community/plugins.toml")  # fmt: skip
    if not found.problems:
        return verdict(found)
    said = "; ".join(found.problems)
    last = before()
    if last is None:
        blame = "no release to compare with"
    elif last.problems:
        blame = f"with the last release it fails as well: {last.problems[0][:200]}"
    else:
        blame = "with the last release it passes: what changed since broke it"
    raise Wrong(f"{said} [{blame}{f'; {commits}' if commits else ''}; tell {entry.maintainer}]")


def _before(entry: Entry, place: Place, folder: Path) -> Callable[[], Found | None]:
    """A trial with the last release, if there was one."""

    def trial() -> Found | None:
        wheels = newest(place.released)
        return try_plugin(entry, list(wheels.values()), folder) if wheels else None

    return trial


def since(entry: Entry, place: Place) -> str:
    """Commits to packages since the plugin last passed."""
    good = [
        run["commit"].rstrip("+")
        for run in results.load(place.results, "community")
        if run["cases"].get(entry.name, {}).get("state") == "ok"
    ]
    if not good:
        return ""
    words = ("log", "--format=%h %s", f"{good[-1]}..HEAD", "--", *TREES)
    lines = (git(ROOT, *words) or "").splitlines()
    shown = "; ".join(lines[:SHOWN]) or "no commit to packages"
    more = f"; and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    return f"since it passed with {good[-1]}: {shown}{more}"
