"""Keras's own tests on drystone: the tests of a release, beside the Keras that is installed.

Nightly builds of Keras hold no tests, and released ones have no backends of others: the tests
of the nearest release are put beside a copy of the installed package, in a scratch folder. What
is left out, and why, is in ci/config/keras_suite.toml. ``nox -s keras -- suite --sample 8 layers``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from ci.scripts.project import ROOT, load_toml

__all__ = ["FOLDERS", "counts", "main", "prepared", "table"]

FOLDERS = ("ops", "layers", "losses", "metrics", "optimizers", "saving", "models", "trainers")
LEFT_OUT = ROOT / "ci" / "config" / "keras_suite.toml"
_RELEASE = "keras==3.15.1"
_CONFTEST = ROOT / "ci" / "scripts" / "keras_suite_conftest.py"


def fetched(folder: Path) -> Path:
    """The source archive of the release, from the registry."""
    options = ["-q", "--no-deps", "--no-binary=keras", "-d", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, _RELEASE], check=True)
    return next(folder.glob("keras-*.tar.gz"))


def prepared(archive: Path, scratch: Path) -> Path:
    """The scratch folder: the installed keras, the tests of a source archive, and the settings."""
    spec = importlib.util.find_spec("keras")
    if spec is None or spec.origin is None:
        raise SystemExit("keras is not installed: the session keras installs it")
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(
        Path(spec.origin).parent, scratch / "keras", ignore=shutil.ignore_patterns("__pycache__")
    )
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            _, _, inner = member.name.partition("/")
            target = scratch / inner
            wanted = inner.startswith("keras/") and inner.endswith("_test.py")
            if not wanted or not target.parent.is_dir() or target.exists():
                continue
            found = opened.extractfile(member)
            if found is not None:
                target.write_bytes(found.read())
    shutil.copy(_CONFTEST, scratch / "conftest.py")
    return scratch


def run(scratch: Path, folder: str, sample: int, seconds: int) -> Path:
    """Run the tests of a folder; where their report is."""
    report = scratch / f"{folder}.xml"
    tests = scratch / "keras" / "src" / folder
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line",
               "--continue-on-collection-errors", f"--timeout={seconds}",
               f"--junitxml={report}", str(tests)]  # fmt: skip
    env = {**os.environ, "KERAS_BACKEND": "drystone", "KERAS_SUITE_SAMPLE": str(sample),
           "KERAS_SUITE_LEFT_OUT": str(LEFT_OUT)}  # fmt: skip
    subprocess.run(command, cwd=scratch, env=env, check=False)
    return report


def counts(report: Path) -> Counter[str]:
    """How many tests of a report passed, failed, and were skipped by Keras itself."""
    found: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        failed = bool(kinds & {"failure", "error"})
        found["failed" if failed else "skipped" if "skipped" in kinds else "passed"] += 1
    return found


def table(rows: dict[str, Counter[str]]) -> str:
    """The counts as a table."""
    lines = ["| folder | passed | failed | skipped by Keras | share |", "|---|---|---|---|---|"]
    for folder, found in rows.items():
        tried = found["passed"] + found["failed"]
        share = f"{100 * found['passed'] / tried:.1f} %" if tried else "none"
        lines.append(
            f"| `{folder}` | {found['passed']} | {found['failed']} | {found['skipped']} | {share} |"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run folders, and print their counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where it works")
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--sample", type=int, default=1, help="one test in so many, by its name")
    parser.add_argument("--seconds", type=int, default=120, help="the longest that a test may take")
    given = parser.parse_args(arguments)
    folder = given.folder.resolve() / "keras_suite"
    scratch = prepared(fetched(folder), folder / "scratch")
    rows = {
        folder: counts(run(scratch, folder, given.sample, given.seconds))
        for folder in given.folders
    }
    print(table(rows))
    for row in load_toml(LEFT_OUT)["left_out"]:
        print(f"left out: {row['reason']}: {', '.join(row['match'])}")
    return int(any(found["failed"] for found in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
