"""A suite for test_nightly: cases that pass, fail, hang, end their process and are left out."""

from __future__ import annotations

import os
import time

from ci.nightly.suite import Case, Figures, LeftOut, Place, Wrong

__all__ = ["TITLE", "cases"]

TITLE = "A suite of tests"


def cases(_: Place) -> list[Case]:
    """One of each kind."""
    return [
        Case("good", _good),
        Case("wrong", _wrong),
        Case("raises", _raises),
        Case("ends", _ends),
        Case("hangs", _hangs, limit=1.0),
        Case("left", _left),
        Case("counts", _counts),
    ]


def _good(_: Place) -> Figures:
    return {"steps": "3", "ms": 1.25}


def _wrong(_: Place) -> Figures:
    raise Wrong("2, where <3> is expected")


def _raises(_: Place) -> Figures:
    raise KeyError("nothing of that name")


def _ends(_: Place) -> Figures:
    print("these are its last words", flush=True)
    os._exit(7)


def _hangs(_: Place) -> Figures:
    time.sleep(60)
    return {}


def _left(_: Place) -> Figures:
    raise LeftOut("there is no such processor here")


def _counts(place: Place) -> Figures:
    """How often it ran."""
    file = place.work / "count"
    number = int(file.read_text(encoding="utf-8")) + 1 if file.exists() else 1
    file.write_text(str(number), encoding="utf-8")
    return {"runs": f"{number}"}
