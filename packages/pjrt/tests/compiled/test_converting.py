"""``drystone convert --backend pjrt``: executables beside a model that is moved, and served."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.tracing import operations as ops
from drystone_pjrt.api.client import Client

F32 = np.float32
SERVER = """
import json, sys, threading, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import numpy as np
import drystone_base as ds
from drystone_subgraph import PartitionConfig, executables

folder, inputs, outputs = sys.argv[1:]
config = PartitionConfig(("pjrt",), artefacts=f"{folder}/assets.extra/executables")
model = ds.load(folder, config=ds.SessionConfig(subgraphs=config))


class Predict(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        (y,) = model(np.array(asked["instances"], np.float32)).values()
        data = json.dumps({"predictions": y.tolist()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Predict)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1/models/layers:predict"
found = []
for x in json.load(open(inputs)):
    request = urllib.request.Request(url, json.dumps({"instances": x}).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        found.append(json.load(answer)["predictions"])
server.shutdown()
server.server_close()
states = [(one.state, one.loaded) for one in executables(model.session)]
json.dump({"found": found, "states": states}, open(outputs, "w"))
"""


@pytest.fixture(autouse=True)
def _keeping(device: Client) -> None:
    if not device.keeps:
        pytest.skip("the plugin cannot write executables")


def python(words: Sequence[object], cache: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, words)],
        env=os.environ | {"DRYSTONE_EXECUTABLE_CACHE": str(cache)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


def test_a_converted_model_is_moved_and_served_without_compiling(tmp_path: Path) -> None:
    kernel = ds.Variable(np.linspace(-1, 1, 12, dtype=F32).reshape(4, 3), name="kernel")

    def layers(x: Any) -> Any:
        return ops.softmax(ops.tanh(ops.matmul(x, kernel)) * 2.0)

    ds.save(ds.function(layers).trace(ds.Spec([None, 4])), tmp_path / "model")
    command = ["-m", "drystone_base", "convert", tmp_path / "model", "--backend", "pjrt"]
    words = [*command, "--size", 1, "--size", 3, "-o", tmp_path / "out", "--json"]
    report = json.loads(python(words, tmp_path / "first"))
    (region,) = report["regions"]
    assert {"MatMul", "Tanh", "Softmax"} <= set(region["ops"])
    given = [np.linspace(-2, 2, 4 * rows, dtype=F32).reshape(rows, 4) for rows in (1, 3, 1)]
    (tmp_path / "x.json").write_text(json.dumps([x.tolist() for x in given]))
    expected = [next(iter(ds.load(tmp_path / "model")(x).values())) for x in given]
    shutil.rmtree(tmp_path / "model")
    moved = shutil.move(tmp_path / "out", tmp_path / "elsewhere")
    python(["-c", SERVER, moved, tmp_path / "x.json", tmp_path / "y.json"], tmp_path / "second")
    answered = json.loads((tmp_path / "y.json").read_text())
    for x, y in zip(answered["found"], expected, strict=True):
        np.testing.assert_allclose(np.array(x, F32), y, rtol=1e-5, atol=1e-6)
    assert answered["states"] == [["ready", True]] * 2  # loaded, not compiled
