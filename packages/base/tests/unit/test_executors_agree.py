"""Both executors give the same values for random graphs, and both refuse the same."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import draw

from drystone_base.graph import output_name
from drystone_base.host import available
from drystone_base.session import Session, SessionConfig

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**31))
def test_random_graphs_agree(seed: int) -> None:
    drawn = draw(seed)
    fetches = [output_name(value) for value in drawn.values[-6:]]
    answers = []
    for executor in ("reference", "native"):
        session = Session(drawn.graph, SessionConfig(executor=executor))  # type: ignore[arg-type]
        answers.append([session.run(fetches, drawn.feeds) for _ in range(2)])
    for once, again in zip(*answers, strict=True):
        for a, b in zip(once, again, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-6, err_msg=f"seed {seed}")
