"""SavedModels with libraries: converted, moved, run where TVM is not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.errors import KernelError
from drystone_base.tracing import operations as ops

pytest.importorskip("tvm", reason="apache-tvm is not installed: `nox -s tvm` installs it")
pytest.importorskip("drystone_subgraph", reason="regions are cut by drystone-subgraph")
F32 = np.float32


def dense(x: Any) -> Any:
    """A chain, an op without a rule, and a chain behind it."""
    y = ops.softmax(ops.tanh(x * 2.0 + 1.0))
    return ops.relu(ops.cumsum(y, 1) - ops.mean(y, [1], keep_dims=True))


def image(x: Any) -> Any:
    """A small convolutional network."""
    w = np.linspace(-1, 1, 3 * 3 * 2 * 4, dtype=F32).reshape(3, 3, 2, 4)
    y = ops.relu(ops.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME") + 0.5)
    y = ops.max_pool(y, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    return ops.softmax(ops.mean(y, [1, 2]))


def weighted(x: Any) -> Any:
    """A layer with variables, which the checkpoint has."""
    return ops.sigmoid(ops.matmul(x, KERNEL) + BIAS)


KERNEL = ds.Variable(np.linspace(-1, 1, 12, dtype=F32).reshape(4, 3), name="kernel")
BIAS = ds.Variable(np.ones(3, F32), name="bias")
MODELS = {
    "dense": (dense, [None, 5]),
    "image": (image, [None, 6, 6, 2]),
    "weighted": (weighted, [None, 4]),
}


def saved(name: str, folder: Path) -> Path:
    function, shape = MODELS[name]
    traced = ds.function(function).trace(ds.Spec(shape))
    ds.save(traced, folder / name)
    return folder / name


def convert(*words: object) -> Any:
    command = [sys.executable, "-m", "drystone_base", "convert", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "--json" in words:
        return json.loads(done.stdout)
    return done


def given(name: str) -> np.ndarray[Any, Any]:
    shape = [3 if size is None else size for size in MODELS[name][1]]
    return np.random.default_rng(3).normal(size=shape).astype(F32)


ELSEWHERE = """
import sys
sys.modules["tvm"] = sys.modules["tvm_ffi"] = None
import numpy as np
import drystone_base as ds
folder, inputs, outputs = sys.argv[1:]
model = ds.load(folder, config=ds.SessionConfig(access=ds.Access(libraries=[folder])))
np.save(outputs, next(iter(model(np.load(inputs)).values())))
"""


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_converted_moved_and_run_without_tvm(name: str, tmp_path: Path) -> None:
    model, x = saved(name, tmp_path), given(name)
    expected = next(iter(ds.load(model)(x).values()))
    found = convert(model, "--output", tmp_path / "out", "--json")
    assert found["regions"]
    assert sum(len(one["nodes"]) for one in found["regions"]) <= found["nodes"]
    assert {one["op"] for one in found["left"]} >= {"Placeholder"}
    shutil.rmtree(model)
    moved = shutil.move(tmp_path / "out", tmp_path / "elsewhere")
    np.save(tmp_path / "x.npy", x)
    command = [sys.executable, "-c", ELSEWHERE, moved, tmp_path / "x.npy", tmp_path / "y.npy"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, rtol=1e-5, atol=1e-6)


SERVER = """
import json, sys, threading, urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
sys.modules["tvm"] = sys.modules["tvm_ffi"] = None
import numpy as np
import drystone_base as ds
folder, inputs, outputs = sys.argv[1:]
model = ds.load(folder, config=ds.SessionConfig(access=ds.Access(libraries=[folder])))


class Predict(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            (y,) = model(np.array(asked["instances"], np.float32)).values()
            status, found = 200, {"predictions": y.tolist()}
        except ds.DrystoneError as error:
            status, found = 400, {"error": str(error)}
        data = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def ask(x):
    request = urllib.request.Request(url, json.dumps({"instances": x}).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return {"status": error.code} | json.load(error)


server = ThreadingHTTPServer(("127.0.0.1", 0), Predict)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1/models/dense:predict"
with ThreadPoolExecutor(8) as clients:
    found = list(clients.map(ask, json.load(open(inputs))))
server.shutdown()
server.server_close()
json.dump(found, open(outputs, "w"))
"""


def test_a_converted_model_is_served_to_many_clients(tmp_path: Path) -> None:
    model, chance = saved("dense", tmp_path), np.random.default_rng(1)
    asked = [chance.normal(size=(rows, 5)).astype(F32) for rows in (*range(1, 9), *range(1, 9))]
    expected = [next(iter(ds.load(model)(x).values())) for x in asked]
    assert convert(model, "--output", tmp_path / "out").returncode == 0
    shutil.rmtree(model)
    wrong: list[Any] = [[[1.0, 2.0]]]
    (tmp_path / "x.json").write_text(json.dumps([*(x.tolist() for x in asked), *wrong]))
    words = [tmp_path / "out", tmp_path / "x.json", tmp_path / "y.json"]
    command = [sys.executable, "-c", SERVER, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    *answers, refused = json.loads((tmp_path / "y.json").read_text())
    for found, y in zip(answers, expected, strict=True):
        np.testing.assert_allclose(np.array(found["predictions"], F32), y, rtol=1e-5, atol=1e-6)
    assert refused["status"] == 400
    assert "2" in refused["error"]


def opened(folder: Path) -> Any:
    return ds.load(folder, config=ds.SessionConfig(access=ds.Access(libraries=(folder,))))


def test_libraries_are_opened_only_where_that_is_allowed_and_as_they_were(tmp_path: Path) -> None:
    out, x = tmp_path / "out", given("dense")
    done = convert(saved("dense", tmp_path), "--output", out, "--ops", "Tanh,Mul,AddV2,Softmax")
    assert done.returncode == 0, done.stderr
    assert "tvm_subgraph_0" in done.stdout
    assert "left: 1 x Cumsum: Cumsum is none of the ops that are asked for" in done.stdout
    with pytest.raises(KernelError, match="may not open library") as caught:
        ds.load(out)(x)
    assert caught.value.code == "access-denied"
    assert str(out / "assets.extra") in str(caught.value)
    assert opened(out)(x)
    (library,) = (out / "assets.extra" / "tvm").iterdir()
    whole = library.read_bytes()
    library.write_bytes(whole.replace(b"tanh", b"tanf") + b"x")
    with pytest.raises(KernelError, match="another one than the graph was made with"):
        opened(out)(x)
    library.unlink()
    with pytest.raises(KernelError, match="cannot be read: No such file"):
        opened(out)(x)
    library.write_bytes(whole)
    ds.save(opened(out), tmp_path / "again")
    assert opened(out)(x)


def test_what_cannot_be_converted_is_refused(tmp_path: Path) -> None:
    model = saved("dense", tmp_path)
    for words, text in (
        (("--ops", "Softmx"), "did you mean|there is no rule for op 'Softmx'"),
        (("--target", "opencl"), "there is no target 'opencl'"),
    ):
        done = convert(model, "--output", tmp_path / "out", *words)
        assert done.returncode == 2
        assert any(part in done.stderr for part in text.split("|")), done.stderr
        assert not (tmp_path / "out").exists()
    done = convert(model, "--output", model)
    assert done.returncode == 2
    assert "is there already" in done.stderr
    ds.write_graph(ds.Graph(), tmp_path / "graph.pb")
    done = convert(tmp_path / "graph.pb", "--output", tmp_path / "out")
    assert "cannot carry compiled code" in done.stderr
    assert "Examples:" in convert("--help").stdout


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    model = saved("image", tmp_path / "model")
    command = [sys.executable, "-m", "drystone_base", "convert", str(model), "-o", "made"]
    work = tmp_path / "work"
    work.mkdir()
    child = subprocess.Popen(
        command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(tmp_path / "work")}, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 120
    while not list(work.glob("made*")):  # the draft, which is there while libraries are compiled
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    said, error = child.communicate(timeout=60)
    assert (child.returncode, said) == (130, ""), error
    assert error.endswith("interrupted\n")
    assert "Traceback" not in error
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--ops", ""), "names no op"),
        (("--ops", " , "), "names no op"),
        (("--target", ""), "there is no target ''"),
        (("--backend", "nine"), "nine"),
        (("--size", "-1"), "-1"),
    ],
)
def test_odd_arguments_are_refused(tmp_path: Path, words: tuple[str, ...], text: str) -> None:
    done = convert(saved("dense", tmp_path), "-o", tmp_path / "out", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_model_is_not_converted_into_itself(tmp_path: Path) -> None:
    model = saved("dense", tmp_path)
    before = sorted(model.rglob("*"))
    done = convert(model, "-o", model / "assets" / "out")
    assert done.returncode == 2
    assert "inside the model" in done.stderr
    assert sorted(model.rglob("*")) == before
