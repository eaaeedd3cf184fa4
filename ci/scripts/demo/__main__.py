"""Run every part of the demo; pictures and sound go to `demo-output/`, which git ignores."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ci.scripts.demo import faces, languages, notes
from ci.scripts.demo._case import Checked

PARTS = (languages.show, faces.show, notes.show)
OUTPUT = Path("demo-output")


def main() -> int:
    """Run the parts, then say how far each model is from TensorFlow; 1 when one is too far."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    output.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    checked = [model for part in PARTS for model in part(console, output)]
    console.print(_table(checked))
    console.print(f"everything took {time.perf_counter() - start:.1f} s")
    for path in sorted(output.iterdir()):
        console.print(f"wrote [bold]{path}[/bold] ({path.stat().st_size / 1024:.0f} KiB)")
    bad = [model.name for model in checked if not model.agrees]
    if bad:
        console.print(f"[red]further from TensorFlow than allowed: {', '.join(bad)}")
    return 1 if bad else 0


def _table(checked: list[Checked]) -> Table:
    table = Table(title="Against TensorFlow's recorded outputs", title_justify="left")
    table.add_column("model")
    for name in ("load", "run", "largest difference", "allowed"):
        table.add_column(name, justify="right")
    table.add_column("")
    for model in checked:
        table.add_row(
            model.name,
            f"{model.load_seconds * 1e3:.0f} ms",
            f"{model.run_seconds * 1e3:.0f} ms",
            f"{model.difference:.1e}",
            f"{model.tolerance:.0e}",
            "[green]agrees" if model.agrees else "[red]differs",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
