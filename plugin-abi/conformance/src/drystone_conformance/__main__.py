"""``python -m drystone_conformance``: hold a library against its suites, or measure its wishes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

__all__ = ["main"]

_SECONDS = 600.0
EXAMPLES = """examples:
  python -m drystone_conformance build/libmine.so
  python -m drystone_conformance build/libmine.so --plugin-report report.json
  python -m drystone_conformance build/libmine.so -k values --plugin-numeric exact
  python -m drystone_conformance toggles build/libmine.so
  python -m drystone_conformance toggles build/libmine.so --json costs.json

What follows the library is given to pytest, whose status is the command's: 0 where everything that
was tested holds. `pytest --plugin build/libmine.so` is the same. Each suite runs in a process of
its own: where the plugin ends it, the report says of which test, by what, and in which call.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suites, or ``toggles``; the status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["toggles"]:
        from drystone_conformance.children import run_apart

        return run_apart("toggles", given[1:], _SECONDS)
    parser = argparse.ArgumentParser(
        "python -m drystone_conformance",
        description="Hold a plugin library against the suites that every plugin should pass; "
        "`toggles` measures what the passes are worth that its optimizer turns off.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("library", help="a shared library, or the word toggles")
    known, more = parser.parse_known_args(given)
    import pytest

    return int(pytest.main(["--plugin", known.library, *more]))


if __name__ == "__main__":
    sys.exit(main())
