"""Write packages/cpu/kernels/plain/letter_case_data.h: Unicode's upper and lower case of letters.

Run from the repository root: `python -m ci.scripts.letter_case [--check]`. What is written is what
this Python's ``str.lower`` and ``str.upper`` do, which are what the kernels in Python call; the
version of Unicode goes with it. `--check` only compares, where this Python has that version.
"""

from __future__ import annotations

import argparse
import ast
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from ci.scripts.project import ROOT

__all__ = ["FILE", "changes", "main", "render"]

FILE: Final = ROOT / "packages" / "cpu" / "kernels" / "plain" / "letter_case_data.h"
_LONGEST: Final = 3
_SIGMA: Final = "\u03a3"
_FINAL: Final = "\u03c2"

_HEAD: Final = """\
// Upper and lower case of Unicode {version}. Written by `python -m ci.scripts.letter_case`.
#ifndef DRYSTONE_CPU_PLAIN_LETTER_CASE_DATA_H_
#define DRYSTONE_CPU_PLAIN_LETTER_CASE_DATA_H_

#include "plain/letter_case.h"

namespace drystone::cpu {{

// clang-format off
"""
_FOOT: Final = """\
// clang-format on

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_PLAIN_LETTER_CASE_DATA_H_
"""


def _characters() -> Iterator[str]:
    return (chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)


def _runs(change: Callable[[str], str]) -> Iterator[tuple[int, int, int, int]]:
    """First, last, step and difference of characters that become one other."""
    pairs = [(ord(c), ord(change(c)) - ord(c)) for c in _characters()
             if len(change(c)) == 1 and change(c) != c]  # fmt: skip
    at = 0
    while at < len(pairs):
        first, delta = pairs[at]
        end, step = at + 1, 1
        if end < len(pairs) and pairs[end] == (first + 2, delta):
            step = 2
        while end < len(pairs) and pairs[end] == (pairs[end - 1][0] + step, delta):
            end += 1
        yield first, pairs[end - 1][0], step, delta
        at = end


def _ranges(holds: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """First and last of each row of characters for which it holds."""
    start = last = -2
    for c in filter(holds, _characters()):
        if ord(c) != last + 1:
            if start >= 0:
                yield start, last
            start = ord(c)
        last = ord(c)
    yield start, last


def _is_cased(c: str) -> bool:
    """A capital sigma after it ends a word; what is cased but passed over is not meant."""
    return (c + _SIGMA).lower().endswith(_FINAL)


def _is_passed_over(c: str) -> bool:
    """A capital sigma after it ends a word if there is a letter before both."""
    return ("a" + c + _SIGMA).lower().endswith(_FINAL) and not _is_cased(c)


def _table(kind: str, name: str, rows: Iterable[str], width: int = 100) -> str:
    lines = [""]
    for row in rows:
        if len(lines[-1]) + len(row) + 2 > width:
            lines.append("")
        lines[-1] += f"{row}, " if lines[-1] else f"  {row}, "
    body = "\n".join(line.rstrip() for line in lines)
    return f"inline constexpr {kind} {name}[] = {{\n{body}\n}};\n"


def _braced(row: Sequence[int]) -> str:
    return "{" + ",".join(str(part) for part in row) + "}"


def render() -> str:
    """The header as text, by this Python."""
    parts = [_HEAD.format(version=unicodedata.unidata_version)]
    for name, change in (("Lower", str.lower), ("Upper", str.upper)):
        parts.append(_table("CaseRun", f"k{name}Runs", map(_braced, _runs(change))))
        longer = [(ord(c), *map(ord, change(c))) for c in _characters() if len(change(c)) > 1]
        assert max(map(len, longer)) <= _LONGEST + 1
        parts.append(_table("LongCase", f"k{name}Long",
                            (f"{{{row[0]},{_braced(row[1:])}}}" for row in longer)))  # fmt: skip
    for name, holds in (("kCased", _is_cased), ("kPassedOver", _is_passed_over)):
        parts.append(_table("CodeRange", name, map(_braced, _ranges(holds))))
    return "".join([*parts, _FOOT])


def changes(name: str) -> dict[str, str]:
    """What the header makes of each character that ``kNAMERuns`` or ``kNAMELong`` changes."""
    text = FILE.read_text(encoding="utf-8").translate({ord("{"): "[", ord("}"): "]"})
    runs, longer = (
        ast.literal_eval(text.split(f" k{name}{part}[] = ")[1].split(";")[0])
        for part in ("Runs", "Long")
    )
    out = {chr(c): chr(c + delta) for first, last, step, delta in runs
           for c in range(first, last + 1, step)}  # fmt: skip
    return out | {chr(c): "".join(map(chr, to)) for c, to in longer}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the header, or with `--check` exit 1 when it is not what this Python gives."""
    parser = argparse.ArgumentParser(prog="python -m ci.scripts.letter_case", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare, write nothing")
    options = parser.parse_args(arguments)
    name = FILE.relative_to(ROOT)
    if not options.check:
        FILE.write_text(render(), encoding="utf-8")
        print(f"{name}: written")
        return 0
    held = FILE.read_text(encoding="utf-8")
    if f"Unicode {unicodedata.unidata_version}." not in held:
        print(f"{name}: of another version of Unicode than {unicodedata.unidata_version}")
        return 0
    if held == render():
        print(f"{name}: up to date")
        return 0
    print(f"{name}: outdated; run python -m ci.scripts.letter_case")
    return 1


if __name__ == "__main__":
    sys.exit(main())
