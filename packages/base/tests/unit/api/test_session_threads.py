"""How many threads a session's native kernels use."""

import numpy as np
import pytest
from tiny_models import affine

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import BadRequest

X = np.ones((2, 3), np.float32)


@pytest.mark.parametrize("name", ["intra_op_threads", "inter_op_threads"])
@pytest.mark.parametrize("threads", [-1, 10**6])
def test_a_number_of_threads_must_make_sense(name: str, threads: int) -> None:
    with pytest.raises(BadRequest, match=f"SessionConfig.{name} is not understood") as caught:
        SessionConfig(**{name: threads})  # type: ignore[arg-type]
    assert caught.value.code == "bad-threads"
    assert "0 (one per core)" in str(caught.value)


@pytest.mark.parametrize(
    "config",
    [
        SessionConfig(deterministic=True),
        SessionConfig(intra_op_threads=1),
        SessionConfig(inter_op_threads=2),
    ],
)
def test_sessions_run_with_any_number_of_threads(config: SessionConfig) -> None:
    session = Session(affine(), config)
    for _ in range(20):
        np.testing.assert_array_equal(session.run("y:0", {"x:0": X}), X * 3)
