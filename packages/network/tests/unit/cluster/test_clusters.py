"""Descriptions of clusters, and what goes between tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from drystone_base.core.errors import BadRequest
from drystone_network import ClusterSpec, Task
from drystone_network.session.server import Server
from drystone_network.workers.failures import from_fields, task_lost, to_fields
from drystone_network.workers.wire import BadFrame, pack, unpack

JOBS = {"worker": ["a:1", "b:2"], "ps": {"3": "c:3"}}


def test_a_cluster_is_read_from_what_tensorflow_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ClusterSpec({"worker": ["a:1", "b:2"], "ps": {3: "c:3"}})
    assert ClusterSpec.from_json(json.dumps(JOBS)) == spec
    file = tmp_path / "c.json"
    file.write_text(spec.to_json())
    assert ClusterSpec.from_json(file) == spec
    config = {"cluster": JOBS, "task": {"type": "ps", "index": "3"}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    assert ClusterSpec.from_tf_config() == (spec, Task("ps", 3))
    assert spec.jobs == ["ps", "worker"]
    assert spec.tasks("worker") == [Task("worker", 0), Task("worker", 1)]
    assert spec.address(Task("ps", 3)) == "c:3"
    assert str(Task("ps", 3)) == "/job:ps/replica:0/task:3"
    assert Task.of_device(Task("ps", 3).device()) == Task("ps", 3)
    assert len({spec, ClusterSpec(spec.as_dict())}) == 1


@pytest.mark.parametrize(
    ("jobs", "check"),
    [
        ({}, "a cluster has jobs by name"),
        ([1], "a cluster has jobs by name"),
        ({"a b": ["x:1"]}, "a job's name is letters, digits and _"),
        ({"w": []}, "a job has tasks"),
        ({"w": "x:1"}, "tasks of job 'w' are a list, or a mapping by number"),
        ({"w": ["x"]}, "the address of task 0 of job 'w' is HOST:PORT"),
        ({"w": ["x:0"]}, "the address of task 0 of job 'w' is HOST:PORT"),
        ({"w": ["x:70000"]}, "the address of task 0 of job 'w' is HOST:PORT"),
        ({"w": ["x:1", None]}, "the address of task 1 of job 'w' is HOST:PORT"),
        ({"w": {-1: "x:1"}}, "a task of job 'w' has a number from 0 on"),
        ({"w": {True: "x:1"}}, "a task of job 'w' has a number from 0 on"),
        ({"w": ["x:1", "x:1"]}, "every task has an address of its own"),
    ],
)
def test_what_is_no_cluster(jobs: Any, check: str) -> None:
    with pytest.raises(BadRequest) as caught:
        ClusterSpec(jobs)
    assert (caught.value.code, caught.value.check) == ("bad-cluster", check)


@pytest.mark.parametrize("text", ["", "{", '{"cluster": {"w": ["a:1"]}}', "[1]", '{"task": 1}'])
def test_what_is_no_tf_config(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(BadRequest) as caught:
        ClusterSpec.from_tf_config()
    assert caught.value.code == "bad-cluster"


def test_a_task_that_is_not_there() -> None:
    with pytest.raises(BadRequest) as caught:
        ClusterSpec({"w": ["a:1"]}).address(Task("w", 1))
    assert caught.value.render() == (
        "/job:w/replica:0/task:1 is not in the cluster [unknown-task]\n"
        "  check: a task is one that the cluster names\n"
        "  found: /job:w/replica:0/task:1\n"
        "  needed: /job:w/replica:0/task:0\n"
        "  remedy: name one of these, or add the task to the cluster"
    )


@pytest.mark.parametrize(
    ("address", "given"),
    [("10.0.0.1:1", {}), ("10.0.0.1:1", {"bind": "0.0.0.0"}), ("127.0.0.1:1", {"bind": "0.0.0.0"})],
)
def test_a_worker_that_others_reach_is_told_so_and_has_a_token(
    address: str, given: dict[str, Any]
) -> None:
    with pytest.raises(BadRequest) as caught:
        Server({"worker": [address]}, token="", **given)
    assert caught.value.code == "insecure-worker"


# ---- The wire ------------------------------------------------------------------------------------

VALUES: list[Any] = [
    np.arange(6, dtype=np.int32).reshape(2, 3),
    None,
    np.array(3, np.float32),
    np.array([b"ab", b"", b"xyz"], object),
    np.zeros((0, 3)),
    np.ones(3, ml_dtypes.bfloat16),
    np.array([True, False]),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array(b"", object),
]


def test_values_come_as_they_went() -> None:
    document, found = unpack(pack({"key": "\u2603"}, VALUES))
    assert document == {"key": "\u2603"}
    for want, got in zip(VALUES, found, strict=True):
        if want is None or got is None:
            assert want is got
            continue
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert np.array_equal(got, want)


def test_a_value_that_means_nothing_elsewhere() -> None:
    with pytest.raises(BadRequest, match="a value cannot be sent to another task") as caught:
        pack({}, [np.array([object()], object)])
    assert caught.value.code == "cannot-send"


def test_what_is_no_message_is_refused_and_does_no_harm() -> None:
    rng = np.random.default_rng(3)
    base, refused = pack({"key": 1}, VALUES), 0
    for _ in range(3_000):
        bad = bytearray(base)
        for _ in range(int(rng.integers(1, 5))):
            bad[int(rng.integers(0, len(bad)))] = int(rng.integers(0, 256))
        cut = len(bad) if rng.random() < 0.7 else int(rng.integers(0, len(bad)))
        try:
            unpack(bytes(bad[:cut]))
        except BadFrame:
            refused += 1
    assert refused > 1_000


def test_an_error_is_the_same_elsewhere() -> None:
    error = task_lost(Task("w", 1), "it is gone", edges="edge 'a:0' was waited for")
    error.add_details({"drystone/task": "x"})
    again = from_fields(json.loads(json.dumps(to_fields(error))))
    assert type(again) is type(error)
    assert again.render() == error.render()
    assert again.details == error.details
    assert from_fields({}).code == "host-call-failed"
    assert "KeyError" in from_fields(to_fields(KeyError("x"))).found
