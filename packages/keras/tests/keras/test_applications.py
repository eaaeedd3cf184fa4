"""Networks of keras.applications give what Keras on TensorFlow gave.

applications.json was printed by applications.py with Keras 3.15.1 on TensorFlow 2.21, oneDNN off;
all weights are those of a seed.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from applications import NETWORKS, outputs

RECORDED = json.loads((Path(__file__).parent / "applications.json").read_text("utf-8"))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_gives_what_tensorflow_gave(name: str) -> None:
    np.testing.assert_allclose(outputs(name), RECORDED[name], rtol=0, atol=1e-4)
