"""The simulator of sums over many workers: closed forms where there are some, and who waits."""

from __future__ import annotations

import numpy as np
import pytest

from bench.alone.scaling import SIZES, measured_costs
from bench.scaling import NETWORKS, Costs, Network, all_reduce, step

FLAT = Costs((0.0, 1e6), (1e-5, 1e-5), (2e-5, 2e-5))
BY_BYTE = Costs((0.0, 1e6), (0.0, 1e-3), (0.0, 0.0))
ALONE = Network("each its own")


@pytest.mark.parametrize("workers", [2, 3, 8, 512])
def test_it_is_the_alpha_beta_model_where_all_are_even(workers: int) -> None:
    turns = 2 * (workers - 1)
    assert all_reduce(workers, 1e6, FLAT, ALONE) == pytest.approx((1 + turns) * 3e-5)
    bytes_moved = 1e6 * turns / workers
    assert all_reduce(workers, 1e6, BY_BYTE, ALONE) == pytest.approx(bytes_moved * 1e-9)
    wire = Network("slow", latency=1e-4, rate=1e6)
    expected = (1 + turns) * 1e-4 + bytes_moved / 1e6
    assert all_reduce(workers, 1e6, BY_BYTE, wire) == pytest.approx(expected)


def test_one_worker_sums_nothing() -> None:
    assert all_reduce(1, 1e9, FLAT, NETWORKS[0]).tolist() == [0.0]


def test_everybody_waits_for_who_is_late() -> None:
    late = np.array([0.0, 0.5, 0.0, 0.0])
    assert all_reduce(4, 1e6, FLAT, ALONE, late).min() > 0.5


def test_processes_share_the_processors_that_there_are() -> None:
    times = [all_reduce(n, n * 1e6, BY_BYTE, Network("", cores=2)).max() for n in (2, 4)]
    assert times == pytest.approx([2e-3, 2 * 6e-3])


def test_shares_beyond_the_measured_ones_take_in_proportion() -> None:
    assert BY_BYTE.of(5e6) == pytest.approx((5e-3, 0.0))


def test_the_wire_hides_behind_work_as_far_as_was_measured() -> None:
    wire = Network("slow", rate=1e9)
    times = [
        step(8, 1e8, 0.2, 0.0, Costs(FLAT.shares, FLAT.busy, FLAT.wait, overlap), wire)
        for overlap in (0.0, 0.5, 1.0)
    ]
    assert times[0] > times[1] > times[2] > 0.2
    assert step(8, 1e8, 0.2, 0.1, FLAT, wire) > times[0], "uneven steps wait for the slowest"


def test_costs_of_two_processes_give_their_times_back() -> None:
    wall = [3e-4 + size * 1e-9 for size in SIZES]
    costs = measured_costs((wall, [seconds * 0.6 for seconds in wall], 0.25))
    for size, seconds in zip(SIZES, wall, strict=True):
        assert all_reduce(2, size, costs, ALONE) == pytest.approx(seconds, rel=1e-2)
