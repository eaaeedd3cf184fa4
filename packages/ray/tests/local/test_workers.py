"""Workers without Ray: shares, checkpoints, what they report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import drystone_base as ds
from drystone_network import ClusterSpec, Group
from drystone_ray import Worker, train
from drystone_ray.checkpoints import newest, write


class _Rank:
    """A group of a size, without its processes."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size


@given(rows=st.integers(0, 50), size=st.integers(1, 9))
def test_shares_are_all_rows_once(rows: int, size: int) -> None:
    shares = [Worker(_Rank(k, size), None, lambda _: None).share(rows) for k in range(size)]  # type: ignore[arg-type]
    taken = [row for share in shares for row in range(rows)[share]]
    assert taken == list(range(rows))
    sizes = {len(range(rows)[share]) for share in shares}
    assert max(sizes) - min(sizes) <= 1


def test_a_worker_goes_on_where_it_was(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    spec = ClusterSpec({"worker": ["127.0.0.1:1"]})
    with Group(spec, "worker", 0, transport="unix") as group, ds.VariableStore() as store:
        w = ds.Variable([1.0, 2.0], "w")
        worker = Worker(group, tmp_path / "run", told.append)
        assert worker.restore(store) == 0
        w.assign(np.asarray([5.0, 6.0], np.float32))
        for step in range(1, 6):
            worker.save(store, step)
        w.assign(np.asarray([0.0, 0.0], np.float32))
        assert worker.restore(store) == 5
        np.testing.assert_array_equal(w.value, [5, 6])
        worker.report(loss=np.float32(0.5), step=3)
    assert told == [{"loss": 0.5, "step": 3}]
    kept = sorted(path.name for path in (tmp_path / "run").glob("*.index"))
    assert kept == ["step-3.index", "step-4.index", "step-5.index"]


def test_without_a_folder_nothing_is_kept() -> None:
    spec = ClusterSpec({"worker": ["127.0.0.1:1"]})
    with Group(spec, "worker", 0, transport="unix") as group, ds.VariableStore() as store:
        worker = Worker(group, None, lambda _: None)
        worker.save(store, 1)
        assert worker.restore(store) == 0


def test_an_older_step_can_be_written_again(tmp_path: Path) -> None:
    with ds.VariableStore() as store:
        ds.Variable(1.0, "w")
        for step in (10, 20, 30, 5):
            write(store, tmp_path, step)
    assert newest(tmp_path) == (5, tmp_path / "step-5")


@pytest.mark.parametrize("options", [{"workers": 0}, {"workers": True}, {"restarts": -1}])
def test_numbers_that_mean_nothing(options: dict[str, Any]) -> None:
    with pytest.raises(ds.BadRequest, match="bad-argument"):
        train(lambda _: None, **options)
