"""Whether a program does the same from plans that an earlier session has kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from drystone_base.api.cached_plans import CachedPlans
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.plan_cache.background import BACKGROUND
from drystone_base.loaders.graphdef import load_graphdef, write_graph
from random_programs.agree import DEADLINE, Disagreement, Failed, outcome, same
from random_programs.draw import Program

__all__ = ["cached_disagreement"]


class _Counted:
    """How many plans were found, and how many looked for."""

    def __init__(self) -> None:
        self.found = self.looked = 0
        self._find = CachedPlans.find

    def __enter__(self) -> Self:
        def find(plans: CachedPlans, *names: Any) -> Any:
            kept = self._find(plans, *names)
            self.looked += 1
            self.found += kept is not None
            return kept

        CachedPlans.find = find  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *_: object) -> None:
        CachedPlans.find = self._find  # type: ignore[method-assign]


def cached_disagreement(
    program: Program, folder: Path, optimizer: Any = "off"
) -> tuple[Disagreement | None, int]:
    """The first difference between two sessions of one file, and how many plans were kept.

    The first session makes the plans, the second finds those that were kept; ``folder`` is that of
    the file, which ``DRYSTONE_PLAN_CACHE`` does not name. Errors say the same, too.
    """
    file = folder / "program.pb"
    write_graph(program.graph, file)
    config = SessionConfig(executor="native", deadline=DEADLINE, optimizer=optimizer)
    try:
        sessions = [Session(load_graphdef(file).source, config) for _ in range(2)]
    except DrystoneError:  # of two sessions of one file the second says nothing new
        return None, 0
    wanted = [outcome(sessions[0], *run) for run in program.runs]
    BACKGROUND.finish()
    with _Counted() as plans:
        for number, (fetches, feeds) in enumerate(program.runs):
            found = outcome(sessions[1], fetches, feeds)
            first = wanted[number]
            if isinstance(first, Failed) or isinstance(found, Failed):
                differs = first[:5] != found[:5]
            else:
                pairs = zip(fetches, first, found, strict=True)
                differs = not all(same(a, b, exact=f not in program.inexact) for f, a, b in pairs)
            if differs:
                return Disagreement(program.seed, number, "", first, found), plans.found
    return None, plans.found
