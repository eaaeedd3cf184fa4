"""Run a suite of the night, or write the page of the last runs.

`python -m ci.nightly SUITE [--wheels FOLDER] [--only CASE] [--resume]`; `python -m ci.nightly page`
writes the page again. After each case its result goes to .drystone-env/nightly/SUITE.json; a run
that was interrupted, or that took its ten minutes, goes on by --resume.

exit status: 0 all is well; 1 a case failed, or was not reached; 2 wrong usage; 130 interrupted
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ci.nightly import page
from ci.nightly.runner import run_case, run_suite
from ci.nightly.suite import SUITES, Place, suite
from ci.scripts.project import ROOT

__all__ = ["main"]

RESULTS = ROOT / ".drystone-env" / "nightly"
RELEASED = ROOT / ".drystone-env" / "index"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say."""
    parser = _parser()
    given = parser.parse_args(arguments)
    results: Path = given.results.resolve()
    if given.suite == "page":
        print(page.write(results))
        return 0
    if given.suite not in SUITES and "." not in given.suite:
        parser.error(f"there is no suite {given.suite!r}: there are {', '.join(SUITES)}, and page")
    work = given.work or results.with_name("nightly-work") / given.suite.rpartition(".")[2]
    work.mkdir(parents=True, exist_ok=True)
    wheels = given.wheels and given.wheels.resolve()
    place = Place(work.resolve(), wheels, results, given.released.resolve())
    names = [case.name for case in suite(given.suite).cases(place)]
    if given.list:
        print("\n".join(names))
        return 0
    if given.case:
        return run_case(given.suite, given.case, place, given.answer)
    unknown = [name for name in given.only if name not in names]
    if unknown:
        parser.error(f"there is no case {unknown[0]!r} in {given.suite}: {', '.join(names)}")
    status = run_suite(
        given.suite, place, only=given.only, resume=given.resume, minutes=given.minutes
    )
    print(f"page: {page.write(results)}")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ci.nightly",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("suite", help=f"{', '.join(SUITES)}; or page")
    add("--wheels", type=Path, metavar="FOLDER", help="the candidates")
    add("--released", type=Path, metavar="FOLDER", default=RELEASED, help="the last release")
    add("--only", action="append", default=[], metavar="CASE", help="some of the cases")
    add("--list", action="store_true", help="print the names of the cases")
    add("--resume", action="store_true", help="go on with the last run of this commit")
    add("--minutes", type=float, default=10, help="after which no further case begins (10)")
    add("--results", type=Path, default=RESULTS, metavar="FOLDER", help="where results are kept")
    add("--work", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)
    add("--case", help=argparse.SUPPRESS)
    add("--answer", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
