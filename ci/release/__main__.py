"""Release one package: `python -m ci.release PACKAGE VERSION [--key FILE] [--hold NAME==VERSION]`.

Run from the repository root; docs/how-to/releasing.md says when and why. What speaks against it is
printed, and nothing is changed then. Otherwise: the version and the changelog are written, wheel
and sdist built and signed, the record and the notes written, the commit and the tag made, and the
files put into the local index. Uploading them and pushing the tag is left to a person. Wheels that
other machines build, from the tag, are named with --tags; none is built here then.

Examples:

    python -m ci.release optimizer 0.2.0 --check
    python -m ci.release optimizer 0.2.0 --key ~/drystone-release.key
    python -m ci.release base 0.2.0 --tags cp311-abi3-linux_x86_64 cp311-abi3-linux_aarch64
    python -m ci.release metapackage 0.2.0 --hold drystone-subgraph==0.1.0
"""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ci.release.gates import refusals
from ci.release.steps import Order, carry_out
from ci.release.wheels import DEVELOPMENT_KEY
from ci.scripts.project import ROOT, packages

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Release, or say what speaks against it; the exit status."""
    parser = argparse.ArgumentParser(
        prog="release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("package", choices=packages(ROOT))
    parser.add_argument("version")
    parser.add_argument("--check", action="store_true", help="only say what speaks against it")
    parser.add_argument("--key", type=Path, default=ROOT / DEVELOPMENT_KEY)
    parser.add_argument("--password", action="store_true", help="ask for the password of the key")
    parser.add_argument("--hold", action="append", default=[], metavar="NAME==VERSION")
    parser.add_argument("--tags", nargs="+", default=[], help="of wheels that are built elsewhere")
    parser.add_argument("--date", default=f"{datetime.now(UTC):%Y-%m-%d}", help="of the release")
    given = parser.parse_args(arguments)
    package = packages(ROOT)[given.package]
    if given.hold and package.key != "metapackage":
        parser.error("--hold is for the metapackage, whose sets may hold packages back")
    held = dict(text.split("==", 1) for text in given.hold if "==" in text)
    problems = refusals(package, given.version)
    for problem in problems:
        print(f"refused: {problem}", file=sys.stderr)
    if problems or given.check:
        return 1 if problems else 0
    password = getpass.getpass("password of the key: ") if given.password else ""
    elsewhere = tuple(given.tags)
    order = Order(package, given.version, given.date, given.key, password, held, elsewhere)
    return carry_out(order)


if __name__ == "__main__":
    sys.exit(main())
