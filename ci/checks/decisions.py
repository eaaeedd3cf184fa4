"""Pages of decisions: a status, at most 600 words, no tables of figures, and a place in the index.

The index names the numbers that no page has, so that no reader looks for one. Tables of figures
belong on pages of measurements, where they can be taken again without touching the decision.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT

__all__ = ["MOST_WORDS", "find", "main"]

MOST_WORDS = 600
"""Of a page, its title and status aside."""
FOLDER = Path("docs/explanation/decisions")
_LINK = r"\[(\d{4})\]\((\d{4}-[\w-]+\.md)\)"
_STATUS = re.compile(
    rf"Status: (?:accepted|superseded by {_LINK}|accepted, in part superseded by {_LINK})\."
)
_LISTED = re.compile(r"(?m)^- \[(.+)\]\((\d{4}-[\w-]+\.md)\)$")


def find(root: Path = ROOT) -> list[str]:
    """What is wrong with the pages, and with their index."""
    pages = sorted((root / FOLDER).glob("[0-9]*.md"))
    problems = [problem for page in pages for problem in _of_page(page)]
    return problems + list(_of_index(root / FOLDER / "index.md", pages))


def _of_page(page: Path) -> Iterator[str]:
    place = FOLDER / page.name
    title, _, rest = page.read_text(encoding="utf-8").partition("\n\n")
    status, _, body = rest.partition("\n\n")
    if not title.startswith(f"# {page.name[:4]} "):
        yield f"{place}: the title does not begin with the number"
    found = _STATUS.fullmatch(status)
    if not found:
        yield f"{place}: no status after the title, such as 'Status: accepted.'"
    elif any(target and not (page.parent / target).exists() for target in found.groups()[1::2]):
        yield f"{place}: it is superseded by a page that is not there"
    words = len(body.split())
    if words > MOST_WORDS:
        yield f"{place}: {words} words, at most {MOST_WORDS} are read"
    if _has_figures(body):
        yield f"{place}: a table of figures belongs on a page of docs/reference/measurements"


def _has_figures(text: str) -> bool:
    """Whether a table has a row of which two cells are numbers with units."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line[:1] == "|"]
    return any(sum(bool(re.match(r" *[\d.,]+", cell)) for cell in row[1:]) > 1 for row in rows)


def _of_index(index: Path, pages: list[Path]) -> Iterator[str]:
    text = index.read_text(encoding="utf-8") if index.exists() else ""
    listed = {name: title for title, name in _LISTED.findall(text)}
    for page in pages:
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        if listed.get(page.name) != title:
            yield f"{FOLDER}/index.md: does not list [{title}]({page.name})"
    yield from (
        f"{FOLDER}/index.md: lists {name}, which is not there"
        for name in sorted(listed.keys() - {page.name for page in pages})
    )
    numbers = {int(page.name[:4]) for page in pages}
    named = {int(number) for number in re.findall(r"\b\d{4}\b", _LISTED.sub("", text))}
    missing = set(range(1, max(numbers, default=0))) - numbers - named
    yield from (f"{FOLDER}/index.md: does not say that there is no {n:04}" for n in sorted(missing))
    there = numbers & named
    yield from (f"{FOLDER}/index.md: says that there is no {n:04}" for n in sorted(there))


def main() -> int:
    """Run the check on this checkout."""
    return report("decisions", find())


if __name__ == "__main__":
    sys.exit(main())
