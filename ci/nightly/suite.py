"""What a suite is made of: cases by name, each a function that gives figures or says what is wrong.

A suite is a module with `TITLE` and `cases(place)`. Each case is run in a process of its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from ci.scripts.project import ROOT

__all__ = ["SUITES", "Case", "Figures", "LeftOut", "Place", "Suite", "Wrong", "suite"]

Figures = Mapping[str, float | str]
"""What a case found, the most telling first."""
SUITES = ("pip", "notebooks", "models", "convergence", "performance", "network", "community")


class Wrong(Exception):
    """What a case found that must not be; the text says what was expected."""


class LeftOut(Exception):
    """Why a case has nothing to say on this machine."""


@dataclass(frozen=True)
class Place:
    """Where a case works: `work` is kept for the suite, `wheels` are the candidates, if any.

    `released` has the wheels of the last release, as `nox -s release` leaves them.
    """

    work: Path
    wheels: Path | None = None
    results: Path = ROOT / ".drystone-env" / "nightly"
    released: Path = ROOT / ".drystone-env" / "index"

    def candidates(self) -> list[Path]:
        """The wheels to try."""
        found = sorted(self.wheels.resolve().glob("*.whl")) if self.wheels else []
        if not found:
            raise Wrong(f"no wheels in {self.wheels}: run `nox -s build`, or give --wheels FOLDER")
        return found


@dataclass(frozen=True)
class Case:
    """One thing to try, and the seconds after which it is ended."""

    name: str
    run: Callable[[Place], Figures]
    limit: float = 120.0


class Suite(Protocol):
    """A module of cases."""

    TITLE: str

    def cases(self, place: Place) -> list[Case]:
        """In the order in which they run."""


def suite(name: str) -> Suite:
    """The suite of a name of ours, or of a module."""
    module = name if "." in name else f"ci.nightly.{name}"
    return cast(Suite, importlib.import_module(module))
