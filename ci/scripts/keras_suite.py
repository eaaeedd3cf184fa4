"""Keras's own tests on drystone: the tests of a release, beside the Keras that is installed.

Nightly builds of Keras hold no tests, and released ones have no backends of others: the tests
of the nearest release are put beside a copy of the installed package, in a scratch folder, and each
folder is run by one process. What is left out, and why, is in ci/config/keras_suite.toml. A test
that fails is run once more on the TensorFlow backend of the same Keras: where it fails there too,
release and build differ, and it says nothing of drystone.

Examples:

    nox -s keras -- suite                        all folders
    nox -s keras -- suite ops/nn_test.py losses  some
    nox -s keras -- suite --resume layers        go on where a run was cut off
    nox -s keras -- suite --failed layers        only what failed in the last run
    nox -s keras -- suite --record               all, and write docs/reference/keras-suite.json

"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from ci.scripts.keras_suite_page import FOLDERS, RECORD, Outcome, summary, table, unexplained
from ci.scripts.project import ROOT

__all__ = ["main", "outcomes", "prepared"]

LEFT_OUT = ROOT / "ci" / "config" / "keras_suite.toml"
_RELEASE = "keras==3.15.1"
_CONFTEST = ROOT / "ci" / "scripts" / "keras_suite_conftest.py"
_UNKNOWN = 'else:\n    raise ImportError(f"Invalid backend:'
_OURS = (
    'elif backend.backend() == "drystone":\n    from keras_drystone.src.trainer import Trainer\n'
)
_TAKEN = (
    (_UNKNOWN, _OURS + _UNKNOWN),
    ('"torch": "cpu",', '"torch": "cpu", "drystone": "cpu",'),
    ("TensorFlowTrainer as Trainer", "Trainer"),
    ("NumpyTrainer as Trainer", "Trainer"),
)
"""What tests of trainers say for each backend by name, and names that the build has changed."""
_STARTS = 20
"""So often a process is started again that a test has ended."""
_ENDED = "the process ended in this test"


def fetched(folder: Path) -> Path:
    """The source archive of the release, from the registry where it is not there yet."""
    if not list(folder.glob("keras-*.tar.gz")):
        options = ["-q", "--no-deps", "--no-binary=keras", "-d", str(folder)]
        subprocess.run([sys.executable, "-m", "pip", "download", *options, _RELEASE], check=True)
    return next(folder.glob("keras-*.tar.gz"))


def prepared(archive: Path, scratch: Path) -> Path:
    """The scratch folder: the installed keras, the tests of a source archive, and the settings."""
    if not (scratch / "keras").is_dir():
        _copy(scratch)
        with tarfile.open(archive) as opened:
            for member in opened.getmembers():
                _put(opened, member, scratch)
    shutil.copy(_CONFTEST, scratch / "conftest.py")
    return scratch


def _copy(scratch: Path) -> None:
    """Copy the files that a build of Keras brought, and none that another one left beside them."""
    for file in _distribution().files or ():
        if file.parts[0] == "keras" and file.suffix != ".pyc":
            target = scratch / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.locate(), target)


def _distribution() -> Distribution:
    for name in ("keras-nightly", "keras"):
        try:
            return distribution(name)
        except PackageNotFoundError:
            continue
    raise SystemExit("keras is not installed: the session keras installs it")


def _put(opened: tarfile.TarFile, member: tarfile.TarInfo, scratch: Path) -> None:
    """Put one file of tests where it belongs."""
    inner = member.name.partition("/")[2]
    target = scratch / inner
    wanted = inner.startswith("keras/") and inner.endswith("_test.py")
    if wanted and target.parent.is_dir() and not target.exists():
        found = opened.extractfile(member)
        if found is not None:
            target.write_text(_with_ours(found.read().decode("utf-8")), "utf-8")


def _with_ours(text: str) -> str:
    """A file of tests that knows of our backend where it lists all of them."""
    for theirs, ours in _TAKEN:
        text = text.replace(theirs, ours)
    return text


def run(scratch: Path, places: Sequence[str], record: Path, seconds: int, **settings: str) -> None:
    """Run the tests of some places; a process that a test ends is started again."""
    tests = [str(scratch / "keras" / "src" / place) for place in places]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly",
               "--tb=short", "--continue-on-collection-errors", "--rootdir", str(scratch),
               f"--timeout={seconds}", *tests]  # fmt: skip
    env = {**os.environ, "KERAS_BACKEND": "drystone", "KERAS_SUITE_LEFT_OUT": str(LEFT_OUT),
           "KERAS_SUITE_RECORD": str(record), **settings}  # fmt: skip
    for _ in range(_STARTS):
        with record.with_suffix(".log").open("ab") as log:
            subprocess.run(command, cwd=scratch, env=env, check=False, stdout=log, stderr=log)
        ended = [one for one in outcomes(record) if one.outcome == "begun"]
        if not ended:
            return
        _write(record, [one._replace(outcome="failed", why=_ENDED) for one in ended], mode="a")


def compare(scratch: Path, record: Path, seconds: int) -> None:
    """Run what failed on Keras's own backend, too, and mark what fails there."""
    failed = [one for one in outcomes(record) if one.outcome == "failed"]
    if not failed:
        return
    only, beside = record.with_suffix(".only"), record.with_suffix(".beside.jsonl")
    only.write_text("\n".join(one.test for one in failed), "utf-8")
    beside.unlink(missing_ok=True)
    files = sorted({one.test.partition("::")[0] for one in failed})
    run(scratch, files, beside, seconds, KERAS_BACKEND="tensorflow", KERAS_SUITE_ONLY=str(only))
    unfit = {one.test: one for one in outcomes(beside) if one.outcome == "failed"}
    rows = [
        one._replace(outcome="unfit", why=unfit[one.test].why) if one.test in unfit else one
        for one in outcomes(record)
    ]
    _write(record, rows, mode="w")


def _write(record: Path, rows: Sequence[Outcome], *, mode: str) -> None:
    with record.open(mode, encoding="utf-8") as file:
        file.writelines(json.dumps(one._asdict()) + "\n" for one in rows)


def outcomes(record: Path) -> list[Outcome]:
    """What became of each test, in order; where it was written down twice, failures count."""
    found: dict[str, Outcome] = {}
    for line in record.read_text("utf-8").splitlines() if record.exists() else ():
        one = Outcome(**json.loads(line))
        before = found.get(one.test)
        if before is None or before.outcome != "failed":
            found[one.test] = one
    return list(found.values())


def _forgotten(record: Path, *, resume: bool, failed: bool, places: Sequence[str]) -> None:
    """Forget what is to be run again."""
    kept = outcomes(record) if resume or failed else []
    if failed:
        kept = [one for one in kept if one.outcome not in ("failed", "unfit", "left out")]
    elif not resume:
        every = outcomes(record)
        kept = [one for one in every if not one.test.startswith(tuple(places))]
    _write(record, kept, mode="w")
    record.with_suffix(".log").unlink(missing_ok=True)


def main(arguments: list[str] | None = None) -> int:
    """Run folders, and print their counts; 1 where a test fails that has no reason."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where it works")
    parser.add_argument("places", nargs="*", default=FOLDERS, help="folders or files of keras/src")
    parser.add_argument("--seconds", type=int, default=120, help="the longest that a test may take")
    parser.add_argument("--resume", action="store_true", help="run what was not run yet")
    parser.add_argument("--failed", action="store_true", help="run what failed, again")
    parser.add_argument("--record", action="store_true", help="write what the page is made from")
    given = parser.parse_intermixed_args(arguments)  # options stand before places, too
    folder = given.folder.resolve() / "keras_suite"
    folder.mkdir(parents=True, exist_ok=True)
    scratch = prepared(fetched(folder), folder / "scratch")
    found = {}
    for top in FOLDERS:
        record = folder / f"{top}.jsonl"
        places = [place for place in given.places if place.partition("/")[0] == top]
        if places:
            _forgotten(record, resume=given.resume, failed=given.failed, places=places)
            run(scratch, places, record, given.seconds)
            compare(scratch, record, given.seconds)
            if not outcomes(record):
                raise SystemExit(f"no test of {top} ran: see {record.with_suffix('.log')}")
        if outcomes(record):
            found[top] = outcomes(record)
    made = summary(found)
    print(table(made))
    if given.record:
        RECORD.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    wrong = unexplained(found)
    for one in wrong:
        print(f"failed: {one.test}: {one.why}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
