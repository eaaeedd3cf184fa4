"""Write docs/reference/c-headers.md from the headers themselves; `--check` only compares.

Run from the repository root: `python -m ci.scripts.headers_page`. A header's opening comment is its
manual; of each function the first sentence of the comment above it is shown.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ci.scripts.generated import settle
from ci.scripts.project import ROOT

__all__ = ["functions", "main", "opening", "outdated", "render"]

HEADERS = ROOT / "plugin-abi" / "include" / "drystone"
PAGE = ROOT / "docs" / "reference" / "c-headers.md"
INTRO = """# C headers

Generated from `plugin-abi/include/drystone`; `python -m drystone_abi --include` prints where an
installed copy is. The headers are the manual: ownership, threads, statuses, and what NULL and zero
mean, stand there for every function and member. Names that begin with `TF_`, `TP_` and `SE_` are
TensorFlow's, with its signatures and layouts; those that begin with `DS_` are drystone's.
[The C contract](spec/abi.md) says what holds for all of them;
[plugin authors](../how-to/plugin_authors/index.md) see them at work.
"""

_DECLARED = re.compile(
    r"(?:/\*(?P<comment>(?:[^*]|\*(?!/))*)\*/\s*)?"
    r"(?:TF|DS|SE)_CAPI_EXPORT(?:\s+extern)?\s+(?P<type>[\w\s*]+?)(?P<name>\b(?:TF|DS|SE|TP)_\w+)\("
)


def _text(comment: str) -> str:
    """A comment without its stars."""
    lines = [re.sub(r"^\s*(?:\*|//) ?", "", line) for line in comment.strip().splitlines()]
    return "\n".join(line.rstrip() for line in lines).strip()


def opening(source: str) -> str:
    """The comment with which a header begins, without its first words, the header's own name."""
    found = re.match(r"\s*/\*(.*?)\*/", source, re.DOTALL)
    text = _text(found[1]) if found else _text(source.partition("\n\n")[0].partition("#")[0])
    text = re.sub(r"^drystone/\w+\.h: ", "", text)
    return text[:1].upper() + text[1:]


def functions(source: str) -> list[tuple[str, str]]:
    """Names of functions that a header declares, and the first sentence about each."""
    found = []
    for match in _DECLARED.finditer(source):
        told = " ".join(_text(match["comment"] or "").split())
        found.append((match["name"], re.split(r"(?<=[.;:]) ", told)[0] if told else ""))
    return found


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").rstrip(";:")


def _section(file: Path) -> list[str]:
    source = file.read_text(encoding="utf-8")
    rows = [f"| `{name}` | {_cell(told)} |" for name, told in functions(source)]
    table = ["", "| function | does |", "|---|---|", *rows] if rows else []
    return [f"## {file.name}", "", "```text", opening(source), "```", *table, ""]


def render() -> str:
    """The page as the headers stand."""
    files = [f for f in sorted(HEADERS.glob("*.h")) if not f.name.startswith("platform_macros_")]
    return "\n".join([INTRO, *(line for file in files for line in _section(file))]).rstrip() + "\n"


def outdated() -> bool:
    """Whether the page differs from the headers."""
    return not PAGE.exists() or PAGE.read_text(encoding="utf-8") != render()


def main(arguments: list[str] | None = None) -> int:
    """Write or compare the page."""
    arguments = sys.argv[1:] if arguments is None else arguments
    return settle(
        str(PAGE.relative_to(ROOT)),
        "headers_page",
        outdated=outdated(),
        check="--check" in arguments,
        write=lambda: PAGE.write_text(render(), encoding="utf-8"),
    )


if __name__ == "__main__":
    sys.exit(main())
