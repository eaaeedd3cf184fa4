"""Groups: what processes compute together is what one computes of all that they have."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from clusters import free_ports

import drystone_base as ds
from drystone_base.core.errors import BadRequest, DrystoneError, HostError, KernelError
from drystone_base.ops.attrs import TensorAttr
from drystone_base.state.collectives import use_collectives
from drystone_network import ClusterSpec, Engine, Group, all_reduce, data_parallel
from drystone_network.collectives.shared import _Collectives

Call = Callable[[Group], Any]


def together(groups: list[Group], call: Call) -> list[Any]:
    """What each of the groups' processes, here threads, gets from a call."""
    out: list[Any] = [None] * len(groups)

    def work(k: int) -> None:
        try:
            out[k] = call(groups[k])
        except DrystoneError as error:
            out[k] = error

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(groups))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return out


def joined(size: int, transport: str = "tcp", tokens: Any = None, **more: Any) -> list[Any]:
    """Groups that have joined, or how they failed."""
    spec = ClusterSpec({"worker": [f"127.0.0.1:{port}" for port in free_ports(size)]})
    out: list[Any] = [None] * size

    def work(k: int) -> None:
        token = "t" if tokens is None else tokens[k]
        try:
            out[k] = Group(spec, "worker", k, transport=transport, token=token, **more)
        except DrystoneError as error:
            out[k] = error

    threads = [threading.Thread(target=work, args=(k,)) for k in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return out


@pytest.fixture(scope="module", params=[(1, "tcp"), (2, "shm"), (3, "tcp"), (4, "unix")])
def groups(request: pytest.FixtureRequest) -> Iterator[list[Group]]:
    """Groups of several sizes."""
    found = joined(*request.param)
    yield found
    for group in found:
        group.close()


def values(size: int, shape: Any, dtype: Any = np.float32) -> list[Any]:
    rng = np.random.default_rng(size)
    return [(rng.normal(size=shape) * 8).astype(dtype) for _ in range(size)]


@pytest.mark.parametrize("shape", [(), (1,), (5,), (0,), (3, 7), (300_007,)])
@pytest.mark.parametrize("op", ["sum", "max", "mean"])
def test_all_have_the_reduction_of_all(groups: list[Group], shape: Any, op: str) -> None:
    have = values(len(groups), shape)
    found = together(groups, lambda g: g.all_reduce(have[g.rank], op))
    reduction: Any = {"sum": np.sum, "max": np.max, "mean": np.mean}[op]
    want = reduction(np.stack(have), axis=0)
    for one in found:
        assert one.shape == want.shape
        np.testing.assert_allclose(one, want, rtol=1e-5, atol=1e-5)
        assert one.tobytes() == found[0].tobytes(), "the same bits everywhere"
    again = together(groups, lambda g: g.all_reduce(have[g.rank], op))
    assert again[0].tobytes() == found[0].tobytes(), "and each time"


@pytest.mark.parametrize("transport", ["tcp", "shm"])
@pytest.mark.parametrize(("size", "last"), [(3, 2), (3000, 5)])
def test_who_is_done_may_leave_while_others_are_not(
    transport: str, size: int, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three the first has all it needs before the second has sent the third its last message.

    Small arrays go round whole, in two messages of each; of others one is to agree, and
    four are shares.
    """
    groups, left = joined(3, transport), threading.Event()
    send, sent = groups[1]._send, [0]

    def sends_late(*given: Any) -> Any:
        sent[0] += 1
        if sent[0] == last:
            assert left.wait(30)
            time.sleep(0.1)  # the third sees that the first is gone
        return send(*given)

    def call(group: Group) -> Any:
        found = group.all_reduce(np.full(size, group.rank + 1, np.float32))
        if group.rank == 0:
            group.close()
            left.set()
        return set(found.tolist())

    monkeypatch.setattr(groups[1], "_send", sends_late)
    assert together(groups, call) == [{6}] * 3
    assert sent[0] == last
    found = together(groups[1:], lambda g: g.all_reduce(np.float32([1])))
    assert [one.code for one in found] == ["task-lost"] * 2, "but it is missed in the next call"
    for group in groups:
        group.close()


def test_few_chunks_are_on_their_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """More would fill buffers of the system, and be out of the caches before they are read."""
    groups, most = joined(2), [0, 0]
    for group in groups:
        _count_ahead(group, most, monkeypatch)
    have = values(2, (10 << 18) + 3)
    for found in together(groups, lambda g: g.all_reduce(have[g.rank])):
        assert np.array_equal(found, have[0] + have[1])
    for group in groups:
        group.close()
    assert max(most) <= 3, "chunks of 1 MiB: two, and the one for which another has just come"


def _count_ahead(group: Group, most: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Note how many messages a group has sent at most beyond those that it got."""
    send, wait, ahead = group._send, group._wait, [0]

    def sends(*given: Any) -> int:
        ahead[0] += 1
        most[group.rank] = max(most[group.rank], ahead[0])
        return send(*given)

    def waits(*given: Any) -> Any:
        event = wait(*given)
        ahead[0] -= event.kind == "received"
        return event

    monkeypatch.setattr(group, "_send", sends)
    monkeypatch.setattr(group, "_wait", waits)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64])
@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("shape", [(3, 50_001), (3,)])
def test_a_result_may_take_the_place_of_the_value(
    groups: list[Group], shape: Any, dtype: Any, in_place: bool
) -> None:
    given = values(len(groups), shape, dtype)
    want = together(groups, lambda g: g.all_reduce(given[g.rank]))[0]
    into = [one.copy() if in_place else np.empty_like(one) for one in given]

    def call(g: Group) -> Any:
        return g.all_reduce(into[g.rank] if in_place else given[g.rank], out=into[g.rank])

    for k, found in enumerate(together(groups, call)):
        assert found is into[k]
        assert np.array_equal(found, want)


@pytest.mark.parametrize(
    "out",
    [np.empty(4, np.float32), np.empty(3, np.float64), np.empty(6, np.float32)[::2]],
    ids=["shape", "dtype", "in pieces"],
)
def test_what_cannot_take_a_result(out: Any) -> None:
    spec = ClusterSpec({"worker": [f"127.0.0.1:{free_ports(1)[0]}"]})
    with Group(spec) as group, pytest.raises(BadRequest) as caught:
        group.all_reduce(np.ones(3, np.float32), out=out)
    assert caught.value.code == "bad-collective"


@pytest.mark.parametrize("size", [1000, 9000])
def test_short_floats_are_summed_in_float32(groups: list[Group], size: int) -> None:
    have = values(len(groups), (size,), ml_dtypes.bfloat16)
    want = np.sum(np.stack(have).astype(np.float32), axis=0)
    for one in together(groups, lambda g: g.all_reduce(have[g.rank])):
        assert one.dtype == ml_dtypes.bfloat16
        error = np.abs(one.astype(np.float32) - want)
        assert np.all(error <= np.abs(want) * 2**-8 + 1e-6)


def test_whole_numbers_are_exact(groups: list[Group]) -> None:
    have = values(len(groups), (101,), np.int64)
    for one in together(groups, lambda g: g.all_reduce(have[g.rank], "prod")):
        assert np.array_equal(one, np.prod(np.stack(have), axis=0))


def test_gathering_scattering_and_copying(groups: list[Group]) -> None:
    size = len(groups)
    have = values(size, (2 * size, 3))
    for one in together(groups, lambda g: g.all_gather(have[g.rank])):
        assert np.array_equal(one, np.concatenate(have))
    total = np.sum(np.stack(have), axis=0)
    for k, one in enumerate(together(groups, lambda g: g.reduce_scatter(have[g.rank]))):
        np.testing.assert_allclose(one, total[2 * k : 2 * k + 2], rtol=1e-5, atol=1e-5)
    large = values(size, (200_001,))
    for root in range(size):
        found = together(groups, lambda g, root=root: g.broadcast(large[g.rank], root))  # type: ignore[misc]
        assert all(np.array_equal(one, large[root]) for one in found)
    assert together(groups, lambda g: g.barrier()) == [None] * size


def test_structures_go_round_as_they_are(groups: list[Group]) -> None:
    size = len(groups)
    step = [
        data_parallel(
            lambda k=k: {"loss": np.float32(k), "grads": [np.full((2, 2), k, np.float64), None]},
            group,
        )
        for k, group in enumerate(groups)
    ]
    mean = (size - 1) / 2
    for one in together(groups, lambda g: step[g.rank]()):
        assert one["loss"] == np.float32(mean)
        assert np.array_equal(one["grads"][0], np.full((2, 2), mean))
        assert one["grads"][1] is None


def test_ops_of_graphs_use_the_group(groups: list[Group]) -> None:
    graph = ds.Graph()
    number = ds.as_dtype("int32")

    def integer(name: str, value: int) -> ds.Node:
        tensor = TensorAttr(array=np.array(value, np.int32))
        return graph.add("Const", name, attrs={"dtype": number, "value": tensor})

    x = graph.add("Placeholder", "x", attrs={"dtype": ds.as_dtype("float32"), "shape": None})
    keys = [integer("size", len(groups)), integer("group", 1), integer("instance", 2)]
    attrs = {"T": ds.as_dtype("float32"), "Nordering_token": 0, "merge_op": "Add",
             "final_op": "Div", "max_subdivs_per_device": -1}  # fmt: skip
    graph.add("CollectiveReduceV2", "y", [x, *keys], attrs=attrs)
    session = ds.Session(graph, ds.SessionConfig(optimizer="off"))
    if len(groups) > 1:
        with pytest.raises(KernelError, match="no group was joined"):
            session.run("y:0", {"x:0": 1})
        return
    use_collectives(_Collectives(groups[0]))
    try:
        assert session.run("y:0", {"x:0": 3}) == 3
    finally:
        use_collectives(None)


@pytest.mark.parametrize("sizes", [(2, 3), (2, 5000), (5000, 6000)])
def test_calls_that_differ_are_an_error(sizes: tuple[int, int]) -> None:
    groups = joined(2)
    found = together(groups, lambda g: g.all_reduce(np.zeros(sizes[g.rank], np.float32)))
    codes = {one.code: one.found for one in found}
    assert codes.keys() <= {"bad-collective", "task-lost"}
    assert "all_reduce sum float32 [" in codes["bad-collective"]
    for one in together(groups, lambda g: g.barrier()):
        assert one.code == "no-group"


def test_a_process_that_leaves_is_named() -> None:
    groups = joined(3)
    groups[1].close()
    start = time.monotonic()
    found = together([groups[2], groups[0]], lambda g: g.all_reduce(np.zeros(2, np.float32)))
    assert [one.code for one in found] == ["task-lost", "task-lost"]
    assert "task:1" in found[0].what
    assert time.monotonic() - start < 5


def test_a_process_that_does_not_call_is_waited_for_in_time() -> None:
    groups = joined(2, seconds=0.5)
    with pytest.raises(HostError) as caught:
        groups[0].all_reduce(np.zeros(2, np.float32))
    assert caught.value.code == "group-waited"
    assert "task:1 sent nothing for 0.5 seconds" in caught.value.found
    for group in groups:
        group.close()


def test_who_does_not_join_and_who_may_not() -> None:
    spec = ClusterSpec({"worker": [f"127.0.0.1:{port}" for port in free_ports(2)]})
    with pytest.raises(HostError) as caught:
        Group(spec, "worker", 0, seconds=0.5)
    assert caught.value.code == "task-unreachable"
    found = joined(2, tokens=["right", "wrong"], seconds=5)
    assert all(isinstance(one, HostError) for one in found)
    assert "cluster-token" in {one.code for one in found}


def test_who_connects_later_is_let_go() -> None:
    groups = joined(2)
    with Engine("tcp") as stranger:
        for _ in range(3):
            stranger.connect(f"tcp://{groups[0].address}")
        until, lost = time.monotonic() + 20, 0
        while lost < 3:
            assert time.monotonic() < until
            found = together(groups, lambda g: g.all_reduce(np.ones(2, np.float32)))
            assert [one.tolist() for one in found] == [[2, 2], [2, 2]]
            lost += sum(event.kind == "lost" for event in stranger.progress(0.01))
    for group in groups:
        group.close()


def test_what_cannot_be_reduced() -> None:
    with Group(ClusterSpec({"w": ["127.0.0.1:1"]}), "w", 0) as group:
        for value, op in ((b"a", "sum"), (True, "sum"), (1.0, "median")):
            with pytest.raises(BadRequest) as caught:
                group.all_reduce(np.array(value), op)
            assert caught.value.code == "bad-collective"
        assert group.all_reduce(2.5) == 2.5
    with pytest.raises(BadRequest) as caught:
        all_reduce(1.0)
    assert caught.value.code == "no-group"
