"""Whether a program gives the same with passes as without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drystone_base.api.session import Session, SessionConfig
from drystone_base.host import available
from random_programs.agree import DEADLINE, outcome, same
from random_programs.draw import Program

__all__ = ["differences"]


def differences(program: Program, passes: Mapping[str, Any], **more: Any) -> list[str]:
    """What the runs of a program give otherwise with ``passes``; runs after a failure do not count.

    Where the program fails as it is, it may do without: what nothing reads need not run.
    """
    config: dict[str, Any] = {
        "executor": "native" if available() else "reference",
        "deadline": DEADLINE,
        "optimizer": "off",
        **more,
    }
    plain = Session(program.graph, SessionConfig(**config))
    changed = Session(program.graph, SessionConfig(**config, passes=dict(passes)))
    for number, (fetches, feeds) in enumerate(program.runs):
        wanted, found = outcome(plain, fetches, feeds), outcome(changed, fetches, feeds)
        if not isinstance(wanted, list):
            return []
        if not isinstance(found, list):
            return [f"seed {program.seed}, run {number}: {found.text}"]
        for name, a, b in zip(fetches, wanted, found, strict=True):
            if not same(a, b, exact=name not in program.inexact):
                return [f"seed {program.seed}, run {number}, {name}: {a!r} became {b!r}"]
    return []
