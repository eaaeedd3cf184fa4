"""Predictions over datasets, actors that hold sessions, and what is lost when one is killed."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from on_actors import Slow, rows

import drystone_base as ds
import drystone_ray

FLOAT32 = ds.as_dtype("float32")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``y = 2 x``, and a counter of calls."""
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 2)})
    graph.add("AddV2", "y", [x, x], attrs={"T": FLOAT32})
    folder = tmp_path_factory.mktemp("model") / "m"
    ds.save(graph, folder, signatures={"serving_default": ({"x": "x:0"}, {"y": "y:0"})})
    return folder


def test_every_row_of_a_dataset(model: Path) -> None:
    data = ray.data.range(100).map_batches(rows, batch_size=None)
    found = drystone_ray.predict(data, model, keep=["id"], batch_size=16).take_all()
    assert sorted(int(row["id"]) for row in found) == list(range(100))
    for row in found:
        np.testing.assert_array_equal(row["y"], [2 * row["id"], -2 * row["id"]])


def test_names_are_checked_before_anything_runs(model: Path) -> None:
    with pytest.raises(ds.BadRequest, match="must name outputs of the signature"):
        drystone_ray.predict(ray.data.range(4), model, outputs={"z": "z"})


def test_a_killed_actor_loses_nothing_and_repeats_nothing(model: Path) -> None:
    data = ray.data.range(400, override_num_blocks=8).map_batches(rows, batch_size=None)
    data = data.materialize()
    predicted = data.map_batches(
        Slow,
        fn_constructor_args=(model,), fn_constructor_kwargs={"keep": ["id"]},
        batch_size=10, zero_copy_batch=True, concurrency=2, num_cpus=1,
    )  # fmt: skip
    seen: list[int] = []
    processes: list[int] = []
    for batch in predicted.iter_batches(batch_size=50):
        if not seen:
            os.kill(int(batch["pid"][0]), signal.SIGKILL)
        seen += map(int, batch["id"])
        processes += map(int, batch["pid"])
        assert not batch["writeable"].any(), "batches are views of Ray's memory, not copies"
    assert sorted(seen) == list(range(400))
    assert len(set(processes)) >= 2


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a variable that its calls add to."""
    with ds.VariableStore():
        total = ds.Variable(0.0, "total")

        @ds.function
        def add(x: Any) -> Any:
            total.assign_add(x)
            return {"total": total + 0}

        add(np.float32(0))
        folder = tmp_path_factory.mktemp("counter") / "m"
        ds.save(add, folder)
    return folder


def test_an_actor_goes_on_from_its_checkpoint(counter: Path, tmp_path: Path) -> None:
    actor = drystone_ray.session_actor(counter, checkpoints=tmp_path)

    def add(x: float) -> Any:
        return ray.get(actor.call.remote({"x": np.float32(x)}))["total"]

    assert [float(add(1)), float(add(2))] == [1, 3]
    assert ray.get(actor.save.remote(7)) == str(tmp_path / "step-7")
    assert float(add(10)) == 13
    ray.kill(actor, no_restart=False)
    until = time.monotonic() + 60
    while time.monotonic() < until:  # the old process may answer until it is gone
        with suppress(ray.exceptions.RayActorError):
            if float(add(0)) == 3:
                break
        time.sleep(0.2)
    assert float(add(1)) == 4
    assert ray.get(actor.step.remote()) == 7
    ray.kill(actor)


def test_an_actor_without_a_folder_says_so(counter: Path) -> None:
    actor = drystone_ray.session_actor(counter)
    with pytest.raises(ds.BadRequest, match="no-checkpoint-folder"):
        ray.get(actor.save.remote(1))
    ray.kill(actor)
