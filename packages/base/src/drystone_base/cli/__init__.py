"""The ``drystone`` command: run, inspect, compare and time models from the shell."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point of the ``drystone`` command; ends the process with a documented exit code."""
    try:
        from drystone_base.cli._app import app

        app(prog_name="drystone")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
