"""The nightly run over random graphs can be stopped and gone on with, and says what it reached."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter

import pytest

pytest.importorskip("drystone_optimizer")

from ci.scripts.random_graphs import MOST_SHOWN, Done, Found, Tally


def tally(count: int = 100) -> Tally:
    return Tally(Namespace(first=40, count=count, seconds=float("inf")))


def test_it_says_where_to_go_on_and_what_fired(capsys: pytest.CaptureFixture[str]) -> None:
    found = tally()
    fired = Counter({("constant_folding", "folded"): 3, ("constant_folding", "sum of one"): 1})
    found.take(Done([Found(40, "images", "all", ""), Found(41, "program", "all", "bad")], fired))
    assert capsys.readouterr().out == "seed 41: program, all: bad\n"
    assert found.progress().endswith("to go on from here: --first 42")
    lines = found.report().splitlines()
    assert "debug_stripper: never" in lines
    assert "constant_folding: folded 3, sum of one 1" in lines
    assert lines[-1].startswith("2 graphs (1 of images, 1 of program), seeds up to 42; 1 differ; ")


def test_it_ends_when_enough_was_seen() -> None:
    found = tally()
    found.take(Done([Found(k, "images", "all", "") for k in range(99)], Counter()))
    assert not found.is_over
    found.take(Done([Found(k, "images", "all", "bad") for k in range(MOST_SHOWN)], Counter()))
    assert found.is_over
