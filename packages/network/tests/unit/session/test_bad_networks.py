"""Between tasks is a network that delays, stalls, cuts and spoils: runs end, and say where."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from clusters import free_ports, there_and_back
from proxies import Proxy

import drystone_base as ds
from drystone_base.core.errors import DrystoneError
from drystone_network import ClusterSpec, Server


@contextmanager
def behind(**how: Any) -> Iterator[tuple[Proxy, ds.Session]]:
    """A session whose first task reaches the second through such a network."""
    one, two = free_ports(2)
    spec = ClusterSpec({"worker": [f"127.0.0.1:{one}", f"127.0.0.1:{two}"]})
    with Server(spec, "worker", 0) as first, Server(spec, "worker", 1) as second:
        links = second._worker._links
        with Proxy(int(links.address.rpartition(":")[2]), **how) as proxy:
            links.address = proxy.address
            config = ds.SessionConfig(target=first.target, deadline=3.0, optimizer="off")
            with ds.Session(there_and_back(), config) as session:
                yield proxy, session


def runs(session: ds.Session, size: int) -> None:
    """The graph gives what it should."""
    x = np.linspace(-2, 2, size, dtype=np.float32)
    want = ds.Session(there_and_back(), ds.SessionConfig(optimizer="off")).run("y:0", {"x:0": x})
    assert np.array_equal(session.run("y:0", {"x:0": x}), want)


def test_a_network_that_is_slow() -> None:
    with behind(delay=0.02) as (_, session):
        for size in (3, 30_000):
            runs(session, size)


def test_a_network_that_stalls_ends_the_run_at_its_deadline() -> None:
    with behind() as (proxy, session):
        runs(session, 3)
        proxy.stalls = True
        start = time.monotonic()
        with pytest.raises(DrystoneError) as caught:
            runs(session, 3)
        assert caught.value.code == "deadline-exceeded"
        assert time.monotonic() - start < 6
        proxy.stalls = False
        runs(session, 3)


def seldom(*values: Any) -> list[Any]:
    """Values of a kind that the gate has others of: each waits for seconds."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]


@pytest.mark.parametrize("cut_after", [10, 50_000, *seldom(0, 100, 1_000)])
def test_a_connection_that_is_cut_is_an_error_that_names_the_task(cut_after: int) -> None:
    with behind(cut_after=cut_after) as (proxy, session):
        start = time.monotonic()
        with pytest.raises(DrystoneError) as caught:
            runs(session, 100_000)
        assert time.monotonic() - start < 5
        assert caught.value.code in ("task-lost", "cluster-token", "task-unreachable")
        assert "/job:worker/replica:0/task:" in caught.value.what
        proxy.cut_after = None
        runs(session, 100_000)


@pytest.mark.parametrize(
    "how",
    [
        {"flip": 20}, {"flip": 200}, {"drop": 60}, {"swap": 24},
        *seldom(
            {"flip": 3}, {"flip": 150}, {"drop": 0}, {"drop": 1000}, {"drop": 100_000},
            {"swap": 0}, {"swap": 170},
        ),
    ],
    ids=str,
)  # fmt: skip
def test_bytes_that_are_spoiled_lost_or_in_another_order_are_noticed(how: dict[str, int]) -> None:
    """But for those within values: TCP has sums of its own, and this proxy spoils it after them."""
    with behind(**how) as (_, session):
        start = time.monotonic()
        with pytest.raises(DrystoneError) as caught:
            runs(session, 100_000)
    assert time.monotonic() - start < 6
    assert "/job:worker/replica:0/task:" in f"{caught.value.what} {caught.value.found}"
    assert caught.value.code in (
        "task-lost", "cluster-token", "task-unreachable", "deadline-exceeded",
    )  # fmt: skip
