"""Training by groups of actors: one process's numbers, also when actors are lost on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from on_actors import Fit, one_process

import drystone_base as ds
import drystone_ray


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_group_trains_as_one_process(tmp_path: Path, workers: int) -> None:
    told: list[dict[str, Any]] = []
    found = drystone_ray.train(
        Fit(str(tmp_path)), workers=workers, folder=tmp_path / "run", progress=told.append
    )
    assert found.restarts == 0
    assert found.checkpoint == tmp_path / "run" / "step-12"
    assert len(found.results) == workers
    for result in found.results:
        np.testing.assert_array_equal(result, found.results[0], "all processes hold the same bits")
        np.testing.assert_allclose(result, one_process(), rtol=1e-5)
    assert [said["step"] for said in told] == list(range(12))


def test_a_lost_actor_is_replaced_and_the_training_goes_on(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    found = drystone_ray.train(
        Fit(str(tmp_path), "once"), folder=tmp_path / "run", progress=told.append
    )
    assert found.restarts == 1
    np.testing.assert_allclose(found.results[0], one_process(), rtol=1e-5)
    steps = [said["step"] for said in told]
    assert steps[-8:] == list(range(4, 12)), "from the checkpoint of step 4"


def test_actors_that_are_lost_again_and_again(tmp_path: Path) -> None:
    with pytest.raises(ds.HostError, match="2 times; the last time") as error:
        drystone_ray.train(Fit(str(tmp_path), "always"), folder=tmp_path / "run", restarts=1)
    assert error.value.code == "actors-lost"


def test_an_error_of_the_loop_is_the_callers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the loop's own"):
        drystone_ray.train(Fit(str(tmp_path), "error"), folder=tmp_path / "run", seconds=20)
