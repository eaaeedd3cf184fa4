"""What `predict` of keras.applications takes on each of Keras's backends.

``python -m bench.alone.keras_predict [--python BACKEND=FILE ...] [--only NAME] [--rounds N]``:
drystone's own interpreter writes each model's weights, pictures and answers; every backend loads
them in a process of its own, must give these answers, and is timed. Backends take turns, and a
time is the median of its rounds' medians. Milliseconds of ``model.predict`` for a batch of one
picture and of eight, with two threads. A star: answers that are as far off as numbers of 16 bits.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

TOP: Final = Path(__file__).resolve().parents[2]
NAMES: Final = ("MobileNetV2", "ResNet50", "EfficientNetB0", "DenseNet121")
BACKENDS: Final = ("drystone", "tensorflow", "jax", "torch", "openvino")
ROWS: Final = (1, 8)
SECONDS, TOLERANCE, HALF = 2.0, 1e-3, 0.05
THREADS: Final = "2"


def _model(name: str) -> Any:
    if os.environ["KERAS_BACKEND"] == "drystone":
        importlib.import_module("keras_drystone")  # before keras
    import keras

    keras.utils.set_random_seed(1)
    return getattr(keras.applications, name)(weights=None)


def _write(name: str, folder: Path) -> dict[str, float]:
    """Write weights, pictures and answers, as drystone has them."""
    model = _model(name)
    model.save_weights(folder / f"{name}.weights.h5")
    x = np.random.default_rng(0).random((max(ROWS), 224, 224, 3), np.float32)
    np.savez(folder / f"{name}.npz", x=x, y=model.predict(x, verbose=0))
    return {}


def _timed(name: str, folder: Path) -> dict[str, float]:
    """Seconds of a call by rows, and how far its answers are off."""
    model, data = _model(name), np.load(folder / f"{name}.npz")
    model.load_weights(folder / f"{name}.weights.h5")
    found = {"off": 0.0}
    for rows in ROWS:
        x = data["x"][:rows]
        times: list[float] = []
        y = model.predict(x, batch_size=rows, verbose=0)
        model.predict(x, batch_size=rows, verbose=0)
        want = data["y"][:rows]
        off = float((np.abs(y - want) / (np.abs(want) + data["y"].std())).max())
        found["off"] = max(found["off"], off)
        until = time.perf_counter() + SECONDS
        while time.perf_counter() < until or len(times) < 5:
            begin = time.perf_counter()
            model.predict(x, batch_size=rows, verbose=0)
            times.append(time.perf_counter() - begin)
        found[str(rows)] = median(times)
    return found


def _child(python: str, backend: str, what: str, name: str, folder: Path) -> dict[str, float]:
    """What a process of a backend answers; raises ``RuntimeError`` with its last words."""
    threads = {f"{key}_NUM_THREADS": THREADS for key in ("OMP", "OPENBLAS", "DRYSTONE")}
    own = {"KERAS_BACKEND": backend, "PYTHONPATH": str(TOP), "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [python, "-W", "ignore", "-m", "bench.alone.keras_predict", what, name, str(folder)],
        env={**os.environ, **threads, **own, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{backend}, {name}: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _compare(name: str, pythons: dict[str, str], rounds: int, folder: Path) -> Iterator[str]:
    """Rows of a table: a model with so many pictures, and each backend beside ours."""
    _child(pythons["drystone"], "drystone", "write", name, folder)
    times: dict[str, list[dict[str, float]]] = {backend: [] for backend in pythons}
    for _ in range(rounds):
        for backend, python in pythons.items():
            found = _child(python, backend, "time", name, folder)
            if found["off"] > HALF:
                raise RuntimeError(f"{backend}, {name}: answers are {found['off']:.2g} off")
            times[backend].append(found)
    for rows in map(str, ROWS):
        took = {backend: median(one[rows] for one in some) for backend, some in times.items()}
        mark = {b: "*" if some[0]["off"] > TOLERANCE else "" for b, some in times.items()}
        others = [backend for backend in pythons if backend != "drystone"]
        ratios = " | ".join(f"{took[b] / took['drystone']:.2f}{mark[b]}" for b in others)
        yield f"| {name}, {rows} | {took['drystone'] * 1e3:.1f} | {ratios} |"


def main() -> int:
    """Print a table: our milliseconds, and how many times that the others take."""
    if sys.argv[1:2] in (["write"], ["time"]):
        what, name, folder = sys.argv[1:]
        print(json.dumps({"time": _timed, "write": _write}[what](name, Path(folder))))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", action="append", default=[], metavar="BACKEND=FILE")
    parser.add_argument("--only", choices=NAMES, action="append", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    stated = dict(word.split("=", 1) for word in given.python)
    pythons = {"drystone": sys.executable} | {b: stated[b] for b in BACKENDS if b in stated}
    print(f"| model, pictures | drystone, ms | {' | '.join([*pythons][1:])} |")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only or NAMES:
            for row in _compare(name, pythons, given.rounds, Path(folder)):
                print(row, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
