"""Addresses of other kinds than 127.0.0.1:PORT, and descriptions of clusters that differ."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import Any

import pytest
from clusters import free_ports, there_and_back

import drystone_base as ds
from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_network import ClusterSpec, Group, Server


def runs(target: str) -> bool:
    """Whether a graph over two tasks gives what it should."""
    with ds.Session(there_and_back(), ds.SessionConfig(target=target, deadline=20)) as session:
        return bool(session.run("y:0", {"x:0": 0}) == 0)


@pytest.fixture
def ports() -> list[int]:
    """Of the loopback of IPv6."""
    try:
        with ExitStack() as opened:
            sockets = [opened.enter_context(socket.socket(socket.AF_INET6)) for _ in range(2)]
            for one in sockets:
                one.bind(("::1", 0))
            found = [one.getsockname()[1] for one in sockets]
    except OSError as error:
        pytest.skip(f"there is no IPv6 here: {error}")
    return found


@pytest.mark.parametrize("bind", ["", "::1", "[::1]", "::"])
def test_tasks_at_addresses_of_ipv6(
    ports: list[int], bind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_CLUSTER_TOKEN", "secret")
    cluster = {"worker": [f"[::1]:{port}" for port in ports]}
    with Server(cluster, "worker", 0, bind=bind) as first, Server(cluster, "worker", 1, bind=bind):
        assert first._worker._links.address.startswith("tcp://[::1]:")
        assert runs(first.target)


def test_who_listens_at_all_addresses_names_the_one_of_the_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """0.0.0.0 is no address that others could connect to."""
    monkeypatch.setenv("DRYSTONE_CLUSTER_TOKEN", "secret")
    cluster = {"worker": [f"127.0.0.1:{port}" for port in free_ports(2)]}
    with (
        Server(cluster, "worker", 0, bind="0.0.0.0") as first,
        Server(cluster, "worker", 1, bind="0.0.0.0") as second,
    ):
        assert second._worker._links.address.startswith("tcp://127.0.0.1:")
        assert runs(first.target)


def test_a_task_that_was_started_with_another_cluster() -> None:
    one, two, three = free_ports(3)
    cluster = {"worker": [f"127.0.0.1:{one}", f"127.0.0.1:{two}"]}
    moved = {"worker": [f"127.0.0.1:{three}", f"127.0.0.1:{two}"]}
    with Server(cluster, "worker", 0) as first, Server(moved, "worker", 1):
        with pytest.raises(BadRequest) as caught:
            runs(first.target)
        assert caught.value.code == "cluster-differs"
        assert "/job:worker/replica:0/task:1" in caught.value.what
        assert f"127.0.0.1:{three}" in caught.value.found
        assert f"127.0.0.1:{one}" in caught.value.needed


def test_a_task_that_knows_fewer_tasks_is_one_of_them() -> None:
    one, two = free_ports(2)
    cluster = {"worker": [f"127.0.0.1:{one}", f"127.0.0.1:{two}"]}
    with (
        Server(cluster, "worker", 0) as first,
        Server({"worker": {1: f"127.0.0.1:{two}"}}, "worker", 1),
    ):
        assert runs(first.target)


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1:80", "127.0.0.1:080"], ["host:1", "HOST:1"], ["host:1", "host.:1"],
        ["[::1]:1", "[0:0:0:0:0:0:0:1]:1"], ["[fe80::A]:1", "[fe80::a]:1"],
    ],
)  # fmt: skip
def test_an_address_twice_in_other_words(addresses: list[str]) -> None:
    with pytest.raises(BadRequest) as caught:
        ClusterSpec({"worker": addresses})
    assert caught.value.check == "every task has an address of its own"


@pytest.mark.parametrize("token", ["", None])
def test_a_group_that_others_reach_has_a_token(token: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRYSTONE_CLUSTER_TOKEN", "")
    spec = ClusterSpec({"worker": ["192.0.2.1:1", "192.0.2.2:1"]})
    with pytest.raises(BadRequest) as caught:
        Group(spec, "worker", 0, token=token, seconds=1)
    assert caught.value.code == "insecure-worker"
    assert "192.0.2.1" in caught.value.found
    with pytest.raises(DrystoneError) as unbound:  # nobody has that address
        Group(spec, "worker", 0, token="secret", seconds=1)
    assert unbound.value.code != "insecure-worker"


@pytest.mark.parametrize("transport", ["unix", "shm"])
def test_a_name_that_is_too_long_for_the_system(transport: str) -> None:
    host = ".".join(["h" * 60] * 3)
    spec = ClusterSpec({"worker": [f"{host}:1", f"{host}:2"]})
    with pytest.raises(DrystoneError, match="at most 107 bytes") as caught:
        Group(spec, "worker", 0, transport=transport, token="secret", seconds=1)
    assert caught.value.status == "INVALID_ARGUMENT"
