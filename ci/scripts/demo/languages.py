"""Which programming language is each file of this repository written in? (guesslang)"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ci.scripts.demo._case import Checked, RecordedModel
from ci.scripts.project import ROOT

__all__ = ["pick_files", "show"]

FOLDERS = ("ci", "docs", "packages", "integration_tests", ".ci")
EXPECTED = {
    ".py": "py", ".md": "md", ".toml": "toml", ".ini": "ini", ".yml": "yaml", ".json": "json",
    "": "sh",
}  # fmt: skip
PER_SUFFIX = {".py": 6, ".md": 4}
GENERATED = ("build", "data", "cases", "__pycache__", "_data", "coverage.md", "coverage.json")
CHARACTERS = 8000


def pick_files(root: Path = ROOT) -> list[Path]:
    """Some files of each kind, the larger ones first: short texts say little."""
    found: dict[str, list[Path]] = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            known = path.suffix in EXPECTED and (path.suffix or path.parent.name == ".ci")
            hidden = any(part in GENERATED for part in path.parts)
            if known and not hidden and path.is_file() and path.stat().st_size > 200:
                found.setdefault(path.suffix, []).append(path)
    picked = []
    for suffix, paths in sorted(found.items()):
        paths.sort(key=lambda p: (-p.stat().st_size, p))
        spread = max(1, len(paths) // 8)
        picked += paths[::spread][: PER_SUFFIX.get(suffix, 2)]
    return picked


def show(console: Console, _: Path) -> list[Checked]:
    """Print file, language and probability for files of this repository."""
    guesslang = RecordedModel("guesslang")
    files = pick_files()
    texts = [path.read_bytes()[:CHARACTERS] for path in files]
    start = time.perf_counter()
    found = guesslang.model.signatures["serving_default"](np.array(texts, dtype=object))
    seconds = time.perf_counter() - start
    table = Table(
        title="Languages of this repository's own files (guesslang)", title_justify="left"
    )
    for name in ("file", "language", "probability", "next"):
        table.add_column(name, justify="left")
    right = 0
    for path, scores, names in zip(files, found["scores"], found["classes"], strict=True):
        best, second = np.argsort(scores)[::-1][:2]
        language = names[best].decode()
        right += language == EXPECTED[path.suffix]
        colour = "[green]" if language == EXPECTED[path.suffix] else "[yellow]"
        bar = "█" * round(10 * float(scores[best]))
        table.add_row(
            str(path.relative_to(ROOT)),
            f"{colour}{language}",
            f"{scores[best]:4.0%} {bar}",
            f"{names[second].decode()} {scores[second]:.0%}",
        )
    console.print(table)
    console.print(f"{right} of {len(files)} as their names say, in {seconds * 1e3:.0f} ms\n")
    return [guesslang.check()]
