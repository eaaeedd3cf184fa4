"""The notebooks of docs/notebooks, run by nbclient: no cell fails, each prints what is stored.

Cells with the tag `varies` print times and the like, and are not compared; pictures never are.
`python -m ci.nightly.notebooks` runs them and stores what they give, for the pages of the site.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from ci.nightly.suite import Case, Figures, Place, Wrong
from ci.scripts.project import ROOT

__all__ = ["TITLE", "cases", "differences", "executed", "main", "run_notebook"]

TITLE = "Notebooks"
FOLDER = ROOT / "docs" / "notebooks"
VARIES = "varies"


def cases(_: Place) -> list[Case]:
    """One for each notebook."""
    return [Case(file.stem, partial(_run, file)) for file in sorted(FOLDER.glob("*.ipynb"))]


def _run(file: Path, _: Place) -> Figures:
    return run_notebook(file)


def run_notebook(file: Path) -> Figures:
    """Run a notebook; raises `Wrong` for a cell that fails or prints something else."""
    start = time.perf_counter()
    found = executed(file)
    seconds = time.perf_counter() - start
    different = differences(json.loads(file.read_text(encoding="utf-8")), found)
    if different:
        raise Wrong("; ".join(different))
    code = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    pictures = sum("image/png" in one.get("data", {}) for c in code for one in c["outputs"])
    return {"seconds": seconds, "cells": f"{len(code)}", "pictures": f"{pictures}"}


def executed(file: Path) -> dict[str, Any]:
    """The notebook with what its cells give, run where it lies."""
    nbformat, nbclient = import_module("nbformat"), import_module("nbclient")
    notebook: Any = nbformat.read(file, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=90, kernel_name="python3", resources={"metadata": {"path": file.parent}},
        record_timing=False,
    )  # fmt: skip
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        raise Wrong(f"a cell fails: {error.ename}: {error.evalue}") from None
    found: dict[str, Any] = json.loads(nbformat.writes(notebook))
    return found


def differences(stored: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Cells that print something else than is stored, those that may left out."""
    return [
        f"cell {number} prints {_printed(new)!r}, and {_printed(old)!r} is stored"
        for number, (old, new) in enumerate(zip(stored["cells"], found["cells"], strict=True))
        if new["cell_type"] == "code" and VARIES not in new["metadata"].get("tags", ())
        and _printed(old) != _printed(new)
    ]  # fmt: skip


def _printed(cell: dict[str, Any]) -> str:
    """The text of a cell's outputs, without what is beside a picture."""
    texts = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        text = output.get("text", "" if "image/png" in data else data.get("text/plain", ""))
        texts.append(text if isinstance(text, str) else "".join(text))
    return "".join(texts)


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks, or those that are named, and store what they give."""
    names = sys.argv[1:] if arguments is None else arguments
    for file in [FOLDER / f"{name}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb")):
        found = executed(file)
        for number, cell in enumerate(found["cells"]):
            cell["id"] = f"cell-{number}"
        found["metadata"]["language_info"] = {"name": "python"}
        text = json.dumps(found, indent=1, ensure_ascii=False)
        file.write_text(text + "\n", encoding="utf-8")
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
