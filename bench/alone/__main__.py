"""Entry point: choose sections, print their tables, and write them as JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.alone._report import Report, show
from bench.machine import processor

__all__ = ["SECTIONS", "main"]

SECTIONS = {
    "graphs": "graphs",
    "plugins": "plugin_loading",
    "plugin-kernels": "plugin_kernels",
    "host-calls": "host_calls",
    "optimizers": "round_trip",
    "small-files": "small_files",
    "network": "network",
    "scaling": "scaling",
    "pjrt": "pjrt",
    "tvm": "compiled_calls",
}
"""Sections by name, in the order they run, with the module of each."""

EXAMPLES = """examples:
  python -m bench.alone --quick          everything, a minute or two
  python -m bench.alone --only graphs    one section; may be repeated
  python -m bench.alone --json FILE      also as data, for comparing runs
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen sections one after the other; 1 when something could not be measured."""
    parser = argparse.ArgumentParser(
        prog="bench.alone", description="Benchmarks of drystone's own parts.", epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--only", action="append", choices=list(SECTIONS), metavar="SECTION",
                        help=f"one of {', '.join(SECTIONS)}")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="fewer rounds, 10k-node graphs only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there")
    options = parser.parse_args(arguments)
    console = Console(width=None if Console().is_terminal else 160)
    failed = 0
    found: dict[str, Any] = {"machine": machine()}
    console.print(" · ".join(found["machine"].values()), highlight=False, markup=False)
    for name in options.only or SECTIONS:
        with console.status(f"measuring: {name}"):
            report: Report = importlib.import_module(f"bench.alone.{SECTIONS[name]}").run(
                options.quick
            )
        show(console, report)
        found[name] = report.data()
        failed += len(report.failures)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0


def machine() -> dict[str, str]:
    """What the numbers depend on: processor, system, Python and NumPy."""
    return {
        "when": datetime.now(UTC).isoformat(timespec="minutes"),
        "drystone_base": f"drystone-base {version('drystone-base')}",
        "python": f"Python {platform.python_version()}",
        "numpy": f"NumPy {version('numpy')}",
        "system": platform.platform(terse=True),
        "processor": processor(),
    }


if __name__ == "__main__":
    raise SystemExit(main())
