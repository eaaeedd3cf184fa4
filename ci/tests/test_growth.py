"""Growth: the table measures what it says, and the chosen few of it grow no faster than allowed."""

from __future__ import annotations

import time

import pytest

from ci.scripts.growth.__main__ import main, pairs
from ci.scripts.growth.build import Made
from ci.scripts.growth.graph_jobs import Job, Work
from ci.scripts.growth.measure import grow
from ci.scripts.growth.plain_shapes import chain


def spinning(power: int) -> Job:
    """Work whose steps are a power of the size."""

    def prepare(made: Made) -> Work:
        steps = 300 * len(made.proto.node) ** power
        return lambda: sum(range(steps))

    return prepare


def test_what_is_linear_passes_and_what_is_quadratic_is_found() -> None:
    linear = grow(spinning(1), chain, least=0.004, first=50, most=800, limit=20.0)
    quadratic = grow(spinning(2), chain, least=0.004, first=5, most=80, limit=20.0)
    assert linear.is_linear
    assert not quadratic.is_linear
    assert quadratic.ratio > 10


def test_what_takes_next_to_nothing_is_not_judged() -> None:
    found = grow(lambda _: lambda: None, chain, least=0.5, first=4, most=8, limit=20.0)
    assert found.is_linear


def test_every_job_and_shape_has_a_name_of_its_own() -> None:
    names = [title for title, _, _ in pairs("", quick=False)]
    assert len(names) == len(set(names)) > 3000


@pytest.mark.parametrize(
    "shape",
    ["equal_nodes", "many_arguments", "many_controls", "concatenations"],
)
def test_optimizing_grows_with_the_graph(shape: str) -> None:
    """Each was quadratic, or worse, once."""
    begin = time.monotonic()
    only = f"optimize / {shape}"
    assert main(["--only", only, "--least", "0.01", "--most", "800"]) == 0
    assert time.monotonic() - begin < 120


def test_text_and_plans_grow_with_what_they_are_of() -> None:
    assert main(["--only", "pbtxt: backslashes", "--least", "0.01", "--most", "6400"]) == 0
    assert main(["--only", "place on two / call_chain", "--least", "0.01", "--most", "800"]) == 0
