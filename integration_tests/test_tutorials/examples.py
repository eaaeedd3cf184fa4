"""A pytest plugin that runs the blocks of Markdown files, for the environment of test_pages.py.

`python` blocks share one namespace per page, `sh` blocks must succeed, and a `text` block
must be what the block before it printed: each of its lines, in that order, spaces aside; a line
`...` stands for any number of lines.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["pytest_collect_file"]

PRINTED = "printed"
DOCS = Path(__file__).resolve().parents[2] / "docs"


def run_python(example: Example) -> None:
    """Run a block in the page's namespace."""
    code = compile(example.parsed, example.path, "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, example.namespace)
    example.namespace[PRINTED] = out.getvalue()


def run_shell(example: Example) -> None:
    """Run a block by bash, which stops at the first command that fails."""
    done = subprocess.run(
        ["bash", "-euc", example.parsed], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise AssertionError(f"gave {done.returncode}\n{done.stdout}\n{done.stderr}")
    example.namespace[PRINTED] = done.stdout


def compare(example: Example) -> None:
    """Hold a block of output against what was printed."""
    printed = [" ".join(line.split()) for line in example.namespace[PRINTED].splitlines()]
    left = iter(printed)
    for wanted in (" ".join(line.split()) for line in example.parsed.splitlines()):
        if wanted != "..." and not any(line.startswith(wanted) for line in left):
            raise AssertionError(f"{wanted!r} is not, or not there, in\n" + "\n".join(printed))


def start(_: dict[str, Any]) -> None:
    """Work where files may be written; the models are reached by the paths that the pages use."""
    os.chdir(os.environ["EXAMPLES_FOLDER"])


pytest_collect_file: Callable[..., Any] = Sybil(
    parsers=[
        CodeBlockParser("python", run_python),
        CodeBlockParser("sh", run_shell),
        CodeBlockParser("text", compare),
    ],
    path=str(DOCS),
    patterns=["*.md", "**/*.md"],
    setup=start,
).pytest()
