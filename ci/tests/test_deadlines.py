"""The table of long kernels, and what counts as late."""

from typing import Any

import numpy as np
import pytest

from ci.scripts.deadlines.__main__ import is_good, line, measured
from ci.scripts.deadlines.table import SMALL, TABLE
from drystone_base.graph.validate import validate
from drystone_base.ops.defs import op_def


def row(
    seconds: float, how: str, way: str = "deadline", end: float = 0.0, waited: float = 0.0
) -> dict[str, Any]:
    return {"name": "n", "executor": "native", "way": way, "seconds": seconds, "how": how,
            "end": end, "waited": waited}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "good"),
    [
        (row(1.4, "left"), True),
        (row(1.6, "left"), False),
        (row(1.6, "left", waited=0.2), True),
        (row(0.2, "brief"), True),
        (row(1.2, "deadline-exceeded", end=3.0), False),
        (row(1.2, "plugin-kernel-failed"), False),
        (row(1.2, "left", "ctrl-c"), False),
        (row(1.2, "interrupted", "ctrl-c"), True),
    ],
)
def test_what_is_late(given: dict[str, Any], good: bool) -> None:
    assert is_good(given) is good
    assert line(given).startswith(" " if good else "!")


def test_a_row_is_measured_in_a_process_of_its_own() -> None:
    found = measured("small", "reference", "deadline")
    assert found["how"].startswith("KeyError")  # no such row, which is said and not hidden


def test_the_rows_name_ops_and_their_attributes() -> None:
    for name, given in TABLE.items():
        definition = op_def(given.op)
        unknown = set(given.attrs) - set(definition.attrs)
        assert not unknown, name


def test_a_row_becomes_a_graph() -> None:
    graph, feeds = SMALL.graph()
    validate(graph, list(graph))
    assert [value.shape for value in feeds.values()] == [(20,)]
    assert np.isfinite(next(iter(feeds.values()))).all()
