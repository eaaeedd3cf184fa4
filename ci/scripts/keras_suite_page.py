"""Write docs/reference/keras-suite.md from the last recorded run of Keras's own tests.

The record is written by ``nox -s keras -- suite --record``, the reasons are those of
ci/config/keras_suite.toml.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from ci.scripts.generated import settle
from ci.scripts.project import ROOT, load_toml

__all__ = ["FOLDERS", "RECORD", "Outcome", "main", "summary", "table", "unexplained"]

FOLDERS = ("ops", "layers", "losses", "metrics", "optimizers", "saving", "models", "trainers")
RECORD = ROOT / "docs" / "reference" / "keras-suite.json"
REASONS = ROOT / "ci" / "config" / "keras_suite.toml"
_PAGE = ROOT / "docs" / "reference" / "keras-suite.md"


class Outcome(NamedTuple):
    """What became of one test: passed, failed, skipped (by Keras), left out, unfit, or not run.

    Unfit is what fails on Keras's own TensorFlow backend, too. Not run is waiting, and begun while
    it runs.
    """

    test: str
    outcome: str
    why: str = ""
    seconds: float = 0.0


def unexplained(found: Mapping[str, Iterable[Outcome]]) -> list[Outcome]:
    """Tests that failed, and that no row of the reasons names."""
    failed = [one for row in found.values() for one in row if one.outcome == "failed"]
    return [one for one in failed if _reason(one.test) is None]


def _reason(test: str) -> str | None:
    for row in load_toml(REASONS).get("failing", ()):
        if any(re.search(pattern, test) for pattern in row["match"]):
            return str(row["reason"])
    return None


def summary(found: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    """Counts by folder, and the tests of each reason."""
    failed: dict[str, list[str]] = defaultdict(list)
    left_out: dict[str, list[str]] = defaultdict(list)
    unfit: list[str] = []
    for one in (one for row in found.values() for one in row):
        if one.outcome == "failed":
            failed[_reason(one.test) or "not explained yet"].append(one.test)
        elif one.outcome == "left out":
            left_out[one.why].append(one.test)
        elif one.outcome == "unfit":
            unfit.append(one.test)
    return {
        "keras": _installed(),
        "commit": _commit(),
        "folders": {name: dict(Counter(one.outcome for one in row)) for name, row in found.items()},
        "failed": {reason: sorted(tests) for reason, tests in failed.items()},
        "unfit": sorted(unfit),
        "left_out": {reason: sorted(tests) for reason, tests in left_out.items()},
    }


def _commit() -> str:
    """The tests ran on this commit, or on this one and changes that were not committed."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--match="]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout[:-1]


def _installed() -> str:
    for name in ("keras-nightly", "keras"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "none"


def table(made: Mapping[str, Any]) -> str:
    """The counts as a table."""
    lines = [
        "| folder | passed | failed | share | skipped by Keras | unfit | left out | not run |",
        "|---|---|---|---|---|---|---|---|",
    ]
    total: Counter[str] = Counter()
    for name, counts in made["folders"].items():
        total.update(counts)
        lines.append(_row(f"`{name}`", counts))
    return "\n".join([*lines, _row("all", total)])


def _row(name: str, counts: Mapping[str, int]) -> str:
    passed, failed = counts.get("passed", 0), counts.get("failed", 0)
    share = f"{100 * passed / (passed + failed):.1f} %" if passed + failed else "none"
    return (
        f"| {name} | {passed} | {failed} | {share} | {counts.get('skipped', 0)} "
        f"| {counts.get('unfit', 0)} | {counts.get('left out', 0)} | {counts.get('waiting', 0)} |"
    )


def page(made: Mapping[str, Any]) -> str:
    """The page of a record."""
    return f"""# Keras's own tests on drystone

The tests of Keras 3.15.1 (the nearest release: nightly builds hold none, and released ones take no
backends of others), run on Keras {made["keras"]} with drystone as its backend:
`nox -s keras -- suite --record`, at commit {made["commit"]}. The share is that of the tests that
passed or failed. Not run is what a run that was cut off did not come to: `--resume` goes on.

{table(made)}

{_missing(made)}
## What fails

{_listed(made["failed"])}

## What is unfit

A test that fails is run once more on Keras's own TensorFlow backend, in the same build. What fails
there, too, shows where the release and the build differ: messages, names, defaults and static
shapes.

{_listed({"fails on TensorFlow's backend, too": made["unfit"]} if made["unfit"] else {})}

## What is left out

Tests that cannot run here, by the reasons of `ci/config/keras_suite.toml`. A whole file counts as
one.

{_listed(made["left_out"])}
"""


def _missing(made: Mapping[str, Any]) -> str:
    """Folders that the record says nothing of."""
    names = [f"`{name}`" for name in FOLDERS if name not in made["folders"]]
    return f"Not in this record: {', '.join(names)}.\n" if names else ""


def _listed(reasons: Mapping[str, Sequence[str]]) -> str:
    """Reasons with their tests, which are named by class where they are many."""
    if not reasons:
        return "Nothing."
    lines = []
    for reason, tests in sorted(reasons.items()):
        lines += [f"**{reason[:1].upper()}{reason[1:]}** ({len(tests)}):", ""]
        lines += [f"- {line}" for line in _by_file(tests)]
        lines.append("")
    return "\n".join(lines).rstrip()


def _by_file(tests: Sequence[str]) -> list[str]:
    """A line for each file: its tests, without the numbers of their parameters."""
    files: dict[str, Counter[str]] = defaultdict(Counter)
    for test in tests:
        file, _, name = test.partition("::")
        files[file][re.sub(r"(?<=[a-z_])\d+$|\[.*$", "", name.rpartition("::")[2])] += 1
    return [
        f"`{file}`: "
        + ", ".join(f"`{name}`" + (f" ({n})" if n > 1 else "") for name, n in names.items() if name)
        if any(names) else f"`{file}`"
        for file, names in files.items()
    ]  # fmt: skip


def main() -> int:
    """Write the page, or with ``--check`` say whether it is outdated."""
    made = page(json.loads(RECORD.read_text("utf-8")))
    return settle(
        "keras-suite.md",
        "keras_suite_page",
        outdated=not _PAGE.exists() or _PAGE.read_text("utf-8") != made,
        check="--check" in sys.argv[1:],
        write=lambda: _PAGE.write_text(made, "utf-8"),
    )


if __name__ == "__main__":
    sys.exit(main())
