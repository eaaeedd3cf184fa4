"""Two workers and a client, by `python -m ci.scripts.distributed [--quick] [PYTHON PYTHON]`.

Three recorded models run with their nodes divided between the workers, and give to the bit what one
process gives; a model is trained by two processes on halves of each batch, and has the weights that
one process has from whole batches, but for the order of sums. PYTHON: those of the workers, such as
of environments of their own (default: this one). With --quick there is one model, with loops.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import Any, Final

import numpy as np

import drystone_base as ds
from ci.scripts.project import ROOT
from drystone_base.placement import everywhere, place
from drystone_network import ClusterSpec

__all__ = ["main"]

DATA: Final = ROOT / "integration_tests" / "data"
MODELS: Final = ("facemesh", "blazeface-front", "gen-controlflow-v1")
TRAIN: Final = Path(__file__).with_name("train.py")
_CLOSE: Final = 1e-5
_SECONDS: Final = 120.0


def _free_ports(count: int) -> list[int]:
    sockets = [socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _cluster() -> ClusterSpec:
    return ClusterSpec({"worker": [f"127.0.0.1:{port}" for port in _free_ports(2)]})


@contextmanager
def _workers(pythons: Sequence[str], cluster: ClusterSpec, folder: Path) -> Iterator[str]:
    """Two workers; the target that leads to them."""
    file = folder / "cluster.json"
    file.write_text(cluster.to_json(), encoding="utf-8")
    begun = [
        subprocess.Popen(
            [python, "-m", "drystone_base", "worker", "--task", str(k), "--cluster", str(file)],
            cwd=folder, env=_environment(),
        )
        for k, python in enumerate(pythons)
    ]  # fmt: skip
    try:
        yield f"grpc://{cluster.address(cluster.tasks()[0])}"
    finally:
        for one in begun:
            one.terminate()
        for one in begun:
            one.wait(20)


def _environment() -> dict[str, str]:
    leaks = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TF_CONFIG")
    return {name: value for name, value in os.environ.items() if name not in leaks}


def _divided(graph: ds.Graph) -> ds.Graph:
    """The graph, its first half of nodes on one task and the rest on the other.

    What must be together, such as what goes round in a loop, is.
    """
    divided = graph.copy()
    here = [f"/job:localhost/replica:0/task:0/device:CPU:{k}" for k in (0, 1)]
    nodes = list(divided)
    for k, node in enumerate(nodes):
        divided.set_device(node, here[2 * k >= len(nodes)])
    place(divided, here, everywhere(["CPU"]), soft=True).apply()
    there = {device: f"/job:worker/task:{k}" for k, device in enumerate(here)}
    for node in divided:
        divided.set_device(node, there[node.device])
    return divided


def _run_model(name: str, target: str) -> str:
    """What is wrong with a model over two tasks; "" for nothing."""
    folder = DATA / name
    facts = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    graph = ds.Graph.from_bytes((folder / facts["model"]).read_bytes())
    settings: dict[str, Any] = {"optimizer": "off", "deadline": _SECONDS}
    alone = ds.Session(graph, ds.SessionConfig(**settings))
    divided = _divided(graph)
    with ds.Session(divided, ds.SessionConfig(target=target, **settings)) as session:
        for case in facts["cases"]:
            with np.load(folder / case["inputs"], allow_pickle=False) as given:
                feeds = dict(given)
            start = time.perf_counter()
            found = session.run(case["fetches"], feeds)
            seconds = time.perf_counter() - start
            want = alone.run(case["fetches"], feeds)
            for fetch, one, other in zip(case["fetches"], found, want, strict=True):
                if not np.array_equal(one, other, equal_nan=one.dtype.kind == "f"):
                    return f"{fetch} of {case['inputs']} differs from one process"
            with np.load(folder / case["outputs"], allow_pickle=False) as recorded:
                for fetch, one in zip(case["fetches"], found, strict=True):
                    if not np.allclose(one, recorded[fetch], atol=facts["tolerance"], rtol=1e-3):
                        return f"{fetch} of {case['inputs']} differs from TensorFlow's"
    tasks = {node.device for node in divided}
    print(f"{name}: the bits of one process, over {len(tasks)} tasks, in {seconds * 1e3:.0f} ms")
    return ""


def _train(pythons: Sequence[str], cluster: ClusterSpec | None, folder: Path) -> list[Any]:
    """The weights and losses of each process that trains."""
    count = 1 if cluster is None else 2
    begun = []
    for k in range(count):
        settings = _environment()
        if cluster is not None:
            jobs = json.loads(cluster.to_json())
            own = {"cluster": jobs, "task": {"type": "worker", "index": k}}
            settings["TF_CONFIG"] = json.dumps(own)
        command = [pythons[k], str(TRAIN), str(folder / f"weights-{count}-{k}.npz")]
        begun.append(subprocess.Popen(command, cwd=folder, env=settings))
    try:
        failed = [one.wait(_SECONDS) for one in begun]
    finally:
        for one in begun:
            one.kill()
    if any(failed):
        raise SystemExit(f"training ended with {failed}")
    out = []
    for k in range(count):
        with np.load(folder / f"weights-{count}-{k}.npz", allow_pickle=False) as found:
            out.append(dict(found))
    return out


def _check_training(pythons: Sequence[str], folder: Path) -> str:
    """What is wrong with training on halves of batches; "" for nothing."""
    (alone,) = _train(pythons, None, folder)
    shared = _train(pythons, _cluster(), folder)
    for name, want in alone.items():
        first, second = (one[name] for one in shared)
        if first.tobytes() != second.tobytes():
            return f"{name} is not the same in both processes"
        if not np.allclose(first, want, rtol=_CLOSE, atol=_CLOSE):
            return f"{name} differs from one process by {np.abs(first - want).max()}"
    furthest = max(float(np.abs(shared[0][name] - alone[name]).max()) for name in alone)
    losses = alone["losses"]
    print(
        f"training: loss {losses[0]:.3f} to {losses[-1]:.3f}, within {furthest:.0e} of one process"
    )
    return "" if losses[-1] < losses[0] / 2 else f"the loss does not go down: {losses}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it all; 1 where something differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="of the two workers")
    parser.add_argument("--quick", action="store_true", help="one model, of loops and branches")
    given = parser.parse_args(arguments)
    pythons, models = given.pythons or [sys.executable] * 2, MODELS[-1:] if given.quick else MODELS
    if len(pythons) != 2:
        parser.error("there are two workers")
    start, wrong = time.perf_counter(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with _workers(pythons, _cluster(), folder) as target:
            wrong += [f"{model}: {text}" for model in models if (text := _run_model(model, target))]
        if text := _check_training(pythons, folder):
            wrong.append(f"training: {text}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"distributed: {'failed' if wrong else 'ok'}, {time.perf_counter() - start:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
