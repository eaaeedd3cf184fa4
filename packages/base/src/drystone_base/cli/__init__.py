"""The ``drystone`` command: run, inspect, compare and time models from the shell."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point of the ``drystone`` command; ends the process with a documented exit code."""
    from drystone_base.cli._streams import abandon_output, keep_for_document, make_printable

    make_printable()
    if "--json" in sys.argv:
        keep_for_document()
    try:
        from drystone_base.cli._app import app

        app(prog_name="drystone")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except OSError as error:  # of help and versions, which are printed before a command runs
        print(f"error: the output cannot be written: {error}", file=sys.stderr)
        abandon_output()
        sys.exit(2)
