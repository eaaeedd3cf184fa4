"""Write the notebooks of tutorials from their pages; `--check` only compares.

A page is what tests run: its `python` blocks are the notebook's cells of code, a `text` block is
what the cell before it prints, and pictures are the page's own. Run from the repository root:
`python -m ci.scripts.notebooks [--check]`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ci.scripts.generated import settle
from ci.scripts.project import ROOT

__all__ = ["PAGES", "files", "main", "outdated", "render"]

PAGES = ("train-digits", "fine-tune-keras")
FOLDER = Path("docs/tutorials")
NOTEBOOKS = Path("notebooks")
_BLOCK = re.compile(r"(?ms)^```(python|text)\n(.*?)^```$")


def render(page: str) -> str:
    """The notebook of a page, as JSON."""
    cells = [{"id": f"cell-{k}", **cell} for k, cell in enumerate(_cells(page))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cells(page: str) -> Iterator[dict[str, Any]]:
    """Text and code in turn; what is printed belongs to the code before it."""
    at = 0
    code: dict[str, Any] | None = None
    for found in _BLOCK.finditer(page):
        between = page[at : found.start()].strip()
        at = found.end()
        if found[1] == "text" and code is not None and not between:
            printed = {"name": "stdout", "output_type": "stream", "text": _lines(found[2])}
            code["outputs"].append(printed)
            continue
        if code is not None:
            yield code
        if between:
            yield _markdown(between)
        code = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
                "source": _lines(found[2].rstrip("\n"))}  # fmt: skip
    if code is not None:
        yield code
    yield _markdown(page[at:].strip())


def _markdown(text: str) -> dict[str, Any]:
    linked = re.sub(r"\]\((?!https?:|#)", lambda _: f"](../{FOLDER.as_posix()}/", text)
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(linked)}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def outdated(root: Path = ROOT) -> list[str]:
    """Notebooks that are not what their pages say."""
    return [str(file) for file, text in files(root).items() if _read(root / file) != text]


def files(root: Path = ROOT) -> dict[Path, str]:
    """Each notebook and its text."""
    found = {}
    for name in PAGES:
        page = (root / FOLDER / f"{name}.md").read_text(encoding="utf-8")
        found[NOTEBOOKS / f"{name}.ipynb"] = render(page)
    return found


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _write() -> None:
    for file, text in files().items():
        (ROOT / file).parent.mkdir(exist_ok=True)
        (ROOT / file).write_text(text, encoding="utf-8")


def main() -> int:
    """Write them, or with `--check` exit 1 when one is outdated."""
    return settle(
        "notebooks of tutorials",
        "notebooks",
        outdated=bool(outdated()),
        check="--check" in sys.argv[1:],
        write=_write,
    )


if __name__ == "__main__":
    sys.exit(main())
