"""How every check prints what it found."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["report"]


def report(name: str, problems: Sequence[str], note: str = "") -> int:
    """Print `problems` under the check's name and return the exit status, 0 or 1."""
    if not problems:
        print(f"{name}: ok{f' ({note})' if note else ''}")
        return 0
    print(f"{name}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
    for problem in problems:
        print(f"  {problem}")
    return 1
