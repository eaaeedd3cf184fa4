"""``python -m drystone`` and the command of this package: the same as that of drystone-base."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Entry point of the ``drystone`` command; ends the process with a documented exit code."""
    try:
        from drystone_base.cli import main as command
    except ImportError as error:
        from drystone._missing import named

        raise SystemExit(f"error: {named(error)}") from None
    command()


if __name__ == "__main__":
    main()
