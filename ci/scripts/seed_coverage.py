"""Tests by paragraph of the source documents; writes docs/reference/spec/seed-coverage.md.

`python -m ci.scripts.seed_coverage [--check]`. The paragraphs are in
docs/reference/spec/seed-paragraphs.toml; a test stands for one when its docstring, or that of its
class or file, holds the paragraph's id (S0-merge), or the row of a table ("Row B14"). With --check
nothing is written: exit 1 when the page is outdated or a paragraph has no test.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ci.scripts.project import ROOT, load_toml, tracked_files

__all__ = ["cited_tests", "main", "paragraphs", "render"]

PAGE = ROOT / "docs" / "reference" / "spec" / "seed-coverage.md"
_ID = re.compile(r"\bS[0123]-[a-z0-9]+(?:-[a-z0-9]+)*\b")
_ROWS = re.compile(r"\bRows? ([BCDEHJ]\d+(?:,? (?:and )?[BCDEHJ]\d+)*)\b")
_HEAD = """# Paragraphs and their tests

What source documents ask, and the tests that hold it. Written by
`python -m ci.scripts.seed_coverage` from `seed-paragraphs.toml` and the tests' docstrings.
"""
_TITLES = {
    "S0": "S0: RFC 318, pluggable graph optimizers",
    "S1": "S1: MXNet's subgraph API",
    "S2": "S2: Modular TensorFlow, the C side",
    "S3": "S3: the registry of optimization passes",
    "B": "B: rows of the feature table for plugin optimizers",
    "C": "C: rows of the feature table for the built-in optimizers",
    "D": "D: rows of the feature table for subgraph backends",
    "E": "E: rows of the feature table for modules and filesystems",
    "H": "H: rows of the feature table for the pass registry",
    "J": "J: rows of the feature table about optimizers that no source document names",
}


def paragraphs(root: Path = ROOT) -> dict[str, str]:
    """Titles by id, in the order of the documents."""
    table = load_toml(root / "docs" / "reference" / "spec" / "seed-paragraphs.toml")
    return {
        f"{seed}-{key}" if seed.startswith("S") else f"{seed}{key}": text
        for seed in table
        for key, text in table[seed].items()
    }


def _documented(node: ast.AST) -> str:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    return (ast.get_docstring(node) or "") if isinstance(node, kinds) else ""


def _citations(node: ast.AST, above: str) -> Iterator[tuple[str, str]]:
    """Pairs of test name and paragraph id below a node; `above` is the text it inherits."""
    for child in ast.iter_child_nodes(node):
        text = above + " " + _documented(child)
        if isinstance(child, ast.FunctionDef) and child.name.startswith("test_"):
            for found in sorted(_ids(text)):
                yield child.name, found
        elif isinstance(child, ast.ClassDef):
            yield from _citations(child, text)


def _ids(text: str) -> set[str]:
    rows = " ".join(_ROWS.findall(text))
    return {*_ID.findall(text), *re.findall(r"[BCDEHJ]\d+", rows)}


def _test_files(root: Path) -> Iterator[Path]:
    """Those of the tree: a build leaves copies beside them."""
    files = tracked_files(root)
    for folder in ("plugin-abi", "packages", "ci/tests", "integration_tests"):
        tests = (file for file in files if file.match("test_*.py"))
        yield from (root / file for file in tests if file.is_relative_to(folder))


def cited_tests(root: Path = ROOT) -> dict[str, list[str]]:
    """Tests as ``file::name`` by paragraph id; raises ``ValueError`` for an unknown id."""
    found: dict[str, list[str]] = {name: [] for name in paragraphs(root)}
    for file in _test_files(root):
        text = file.read_text(encoding="utf-8")
        if not _ids(text):
            continue
        tree = ast.parse(text)
        where = file.relative_to(root).as_posix()
        for test, paragraph in _citations(tree, _documented(tree)):
            if paragraph not in found:
                raise ValueError(f"{where}::{test} names {paragraph}, which is no paragraph")
            found[paragraph].append(f"{where}::{test}")
    return found


def render(root: Path = ROOT) -> str:
    """Text of the page."""
    tests = cited_tests(root)
    lines, seed = [_HEAD], ""
    for name, title in paragraphs(root).items():
        own = name.split("-")[0] if "-" in name else name.rstrip("0123456789")
        if own != seed:
            seed = own
            lines.append(f"## {_TITLES[seed]}\n")
        lines.append(f"**{name}** {title}.\n")
        lines += [f"- `{test}`" for test in tests[name]] or ["- *no test yet*"]
        lines.append("")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or compare it."""
    checking = "--check" in (sys.argv[1:] if arguments is None else arguments)
    missing = [name for name, tests in cited_tests().items() if not tests]
    text = render()
    outdated = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if outdated and not checking:
        PAGE.write_text(text, encoding="utf-8")
    for name in missing:
        print(f"seed coverage: no test names {name}")
    if outdated and checking:
        print("seed coverage: the page is outdated; run python -m ci.scripts.seed_coverage")
    print(f"seed coverage: {len(paragraphs()) - len(missing)} of {len(paragraphs())} paragraphs")
    return int(bool(missing) or (outdated and checking))


if __name__ == "__main__":
    sys.exit(main())
