"""Models whose kernels may run at once give what they give one after another."""

import numpy as np
import pytest
from native_ops import load

from drystone_base import SessionConfig
from drystone_base import load as load_model
from drystone_base.api.model import Model

MODELS = ("blazeface-front", "facemesh")
RUNS = 18  # measured, compared, and some more


def feeds_of(model: Model) -> dict[str, np.ndarray]:
    """Made-up inputs of the default signature."""
    rng = np.random.default_rng(0)
    inputs = model.default_signature().signature.inputs
    shapes = {name: [max(d, 1) for d in spec.shape or ()] for name, spec in inputs.items()}
    return {name: rng.random(shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.mark.parametrize("name", MODELS)
def test_models_agree(name: str) -> None:
    load()
    path = f"integration_tests/data/{name}/model.pb"
    in_order = load_model(path, config=SessionConfig(deterministic=True))
    together = load_model(path, config=SessionConfig(inter_op_threads=4))
    feeds = feeds_of(in_order)
    wanted = in_order.default_signature()(feeds)
    again = in_order.default_signature()(feeds)
    for key, value in wanted.items():
        np.testing.assert_array_equal(again[key], value)
    for _ in range(RUNS):
        found = together.default_signature()(feeds)
        for key, value in wanted.items():
            np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-4)
