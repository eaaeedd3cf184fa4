"""Random programs give the same with and without the optimizer."""

from __future__ import annotations

import numpy as np
import pytest
from random_programs import draw

from drystone_base.session import Session, SessionConfig
from drystone_optimizer import OptimizerConfig


@pytest.mark.parametrize("seed", range(150))
def test_random_program(seed: int) -> None:
    drawn = draw(seed)
    fetches = [f"{node.name}:{k}" for node, k in drawn.values[-4:]]
    config = OptimizerConfig(fail_on_optimizer_errors=True, min_graph_nodes=-1)
    runs = [
        Session(drawn.graph, SessionConfig(executor="reference", optimizer=o, seed=3)).run(
            fetches, drawn.feeds
        )
        for o in ("off", config)
    ]
    for name, one, other in zip(fetches, *runs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6, err_msg=name)
