"""Run every generator of this repository: `python -m ci.scripts.generate [--check] [--only NAME]`.

Indexes, pages, pins and tables that are made from code or data are written again where they differ.
Run from the repository root, with drystone installed (`nox -s generate` installs it). Those that
need TensorFlow, or run all tests, are not among them: docs/how-to/contributing.md names them.

Examples:

    python -m ci.scripts.generate               write what is outdated
    python -m ci.scripts.generate --check       say what is outdated, and exit 1
    python -m ci.scripts.generate --only cli_page,settings_pages
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

from ci.scripts.project import ROOT

__all__ = ["ELSEWHERE", "GENERATORS", "main"]

GENERATORS = (
    "platform_tables", "abi_platform_macros", "letter_case", "metapackage_pins", "compat_page",
    "missing_packages",
    "codeowners", "matrix_page", "workflows",
    "families_index", "ops_stub",
    "settings_pages", "cli_page", "headers_page", "native_ops", "ops_left_out",
    "coverage_generate", "gradients_page", "keras_suite_page", "seed_coverage",
    "performance_page", "notebooks",
)  # fmt: skip
"""In order: a page may be made from what another one writes."""
ELSEWHERE = {
    "abi_lock": "changes the contract, which is decided by a person",
    "opdefs_generate": "needs TensorFlow",
    "pass_stages": "runs the tests of all passes",
    "protos_generate": "needs grpcio-tools of one version",
    "shape_sharpness": "needs TensorFlow",
}
"""Generators that are run by themselves, and why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the generators; 1 where one is outdated and only checked, or fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--only", default="", metavar="NAMES", help="some, with commas between")
    given = parser.parse_args(arguments)
    chosen = given.only.split(",") if given.only else list(GENERATORS)
    unknown = [name for name in chosen if name not in GENERATORS]
    if unknown:
        parser.error(f"no generator is called {unknown[0]}; there are {', '.join(GENERATORS)}")
    failed = [name for name in chosen if not _ran(name, check=given.check)]
    if failed and given.check:
        print(f"outdated: {', '.join(failed)}; run python -m ci.scripts.generate")
    elif failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def _ran(name: str, *, check: bool) -> bool:
    """Whether a generator ends well, in a process of its own, as it would by itself."""
    command = [sys.executable, "-m", f"ci.scripts.{name}", *(["--check"] if check else [])]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
