"""Two processes that have joined a group train one model, as one process does on all the data."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("drystone_network", reason="drystone-network is not installed")

PROGRAM = """
import json, sys
import keras_drystone
import keras
import numpy as np
import drystone_base as ds
from drystone_network import ClusterSpec, join

rank, addresses, steps = int(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
group = None
if addresses:
    group = join(ClusterSpec({"worker": addresses}), "worker", rank, seconds=60)
keras.utils.set_random_seed(7 + rank)  # only that of the first counts
model = keras.Sequential([
    keras.layers.Input((5,)), keras.layers.Dense(8, activation="tanh"),
    keras.layers.BatchNormalization(momentum=0.5, trainable=sys.argv[4] == "norm"),
    keras.layers.Dense(1),
])
model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"], steps_per_execution=steps)
data = np.random.default_rng(3)
x = data.normal(size=(64, 5)).astype(np.float32)
y = x.sum(1, keepdims=True)
if group is not None:  # of each batch of 16 its own half
    mine = [k for k in range(64) if k % 16 // 8 == rank]
    x, y = x[mine], y[mine]
size = 8 if group is not None else 16
stop = keras.callbacks.EarlyStopping("loss", patience=1, min_delta=1e9)
callbacks = [stop] if sys.argv[5] == "stop" else []
told = model.fit(x, y, batch_size=size, epochs=4, shuffle=False, verbose=0, callbacks=callbacks,
                 validation_data=(x, y))
if group is not None:
    group.close()
print(json.dumps({
    "weights": [w.tolist() for w in model.get_weights()],
    "history": told.history,
    "bits": [w.tobytes().hex() for w in model.get_weights()],
}))
"""


def trained(count: int, *, steps: int = 1, layer: str = "", how: str = "") -> list[dict[str, Any]]:
    """What each of so many processes has in the end."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(k), json.dumps(addresses * (count > 1)),
             str(steps), layer, how],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"DRYSTONE_PLUGINS_DISABLE": "cpu"},
        )
        for k in range(count)
    ]  # fmt: skip
    said = [process.communicate(timeout=240) for process in begun]
    for process, (_, error) in zip(begun, said, strict=True):
        assert process.returncode == 0, error[-3000:]
    return [json.loads(out.splitlines()[-1]) for out, _ in said]


@pytest.mark.parametrize("steps", [1, 2])
def test_two_processes_have_the_weights_of_one(steps: int) -> None:
    (alone,) = trained(1, steps=steps)
    one, other = trained(2, steps=steps)
    assert one["bits"] == other["bits"]
    assert one["history"] == other["history"]
    for found, want in zip(one["weights"], alone["weights"], strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-3, atol=1e-4)
    assert set(one["history"]) == {"loss", "mae", "val_loss", "val_mae"}
    for name, want in alone["history"].items():
        np.testing.assert_allclose(one["history"][name], want, rtol=1e-3, atol=1e-4)


def test_what_no_gradient_changes_is_the_same_everywhere_and_all_stop_at_once() -> None:
    """Means of batches differ from process to process, until the end of an epoch."""
    one, other = trained(2, layer="norm", how="stop")
    assert one["bits"] == other["bits"]
    assert one["history"] == other["history"]
    assert len(one["history"]["loss"]) == 2
