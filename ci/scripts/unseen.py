"""Graphs that TensorFlow makes on the spot, run by TensorFlow and here: unseen.py [NAME...]

Run with a Python that has tensorflow and drystone_base. Each graph is a SavedModel that nothing in
this project was made for; with --tfjs FOLDER each TensorFlow.js model of a folder, which TensorFlow
runs as the graph that we have read. The table says how far the answers are apart, or what stopped
us. Weights and inputs are random, seeded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from ci.scripts.unseen_graphs import BUILDERS, Case, draw  # noqa: E402

TOLERANCE = 1e-3


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    nodes: int
    ops: int
    worst: float
    seconds: float
    problem: str


def judge(name: str, case: Case) -> Row:
    """Run a case here."""
    import drystone_base

    start = time.monotonic()
    try:
        model = drystone_base.load(case.folder, tags=case.tags)
        for _ in range(case.steps):
            got = model.signatures[case.signature](**case.feeds)
    except Exception as error:  # it is what the table is about
        text = str(error).replace("\n", " ")[:300]
        return Row(name, 0, 0, np.inf, time.monotonic() - start, f"{type(error).__name__}: {text}")
    worst = {k: apart(got[k], want) for k, want in case.answers.items()}
    far = [f"{k} {v:.2g}" for k, v in worst.items() if not v <= TOLERANCE]
    ops = [n.op for n in model.graph] + [op for f in model.graph.functions for op in f.ops()]
    return Row(name, len(ops), len(set(ops)), max(worst.values()), time.monotonic() - start,
               ", ".join(far))  # fmt: skip


def apart(got: Any, want: Any) -> float:
    """The largest difference relative to the largest number; inf for other shapes or texts."""
    a, b = np.asarray(got), np.asarray(want)
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return np.inf
    if b.dtype.kind not in "fc":
        same = a.tolist() == b.tolist()
        return 0.0 if same else np.inf
    scale = float(np.max(np.abs(b), initial=1e-6))
    return float(np.max(np.abs(a - b), initial=0.0)) / scale


def rows(names: list[str]) -> Iterator[Row]:
    """Make and judge each."""
    import tensorflow as tf

    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            tf.keras.utils.set_random_seed(11)
            yield judge(name, BUILDERS[name](tf, Path(folder) / name))
        tf.keras.backend.clear_session()


def tfjs_rows(folder: Path) -> Iterator[Row]:
    """Judge every TensorFlow.js model of a folder."""
    for file in sorted(folder.rglob("*.json")):
        if b"modelTopology" in file.read_bytes():
            try:
                yield _judge_tfjs(file)
            except Exception as error:  # it is what the table is about
                text = str(error).replace("\n", " ")[:300]
                yield Row(file.stem, 0, 0, np.inf, 0.0, f"{type(error).__name__}: {text}")


def _judge_tfjs(file: Path) -> Row:
    import tensorflow as tf

    import drystone_base

    model = drystone_base.load(file)
    call = model.default_signature()
    specs = call.signature.inputs
    feeds = {
        name: draw(*(1 if d < 0 else d for d in spec.shape or (1, 64, 64, 3))).astype(spec.dtype.np)
        for name, spec in specs.items()
    }
    start = time.monotonic()
    got = call(feeds)
    taken = time.monotonic() - start
    outputs = {k: _tensor(s.tensor) for k, s in call.signature.outputs.items()}
    with tf.Graph().as_default() as graph:
        proto = tf.compat.v1.GraphDef.FromString(model.graph.to_bytes())
        tf.import_graph_def(proto, name="")
        with tf.compat.v1.Session(graph=graph) as session:
            want = session.run(outputs, {_tensor(specs[k].tensor): v for k, v in feeds.items()})
    worst = {k: apart(got[k], v) for k, v in want.items()}
    far = [f"{k} {v:.2g}" for k, v in worst.items() if not v <= TOLERANCE]
    ops = [n.op for n in model.graph]
    return Row(file.stem, len(ops), len(set(ops)), max(worst.values()), taken, ", ".join(far))


def _tensor(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *BUILDERS])
    parser.add_argument("--tfjs", type=Path, help="a folder of TensorFlow.js models")
    given = parser.parse_args()
    wrong = 0
    print("| graph | nodes | kinds of op | worst difference | seconds | |")
    print("|---|--:|--:|--:|--:|---|")
    made = tfjs_rows(given.tfjs) if given.tfjs else rows(given.names or list(BUILDERS))
    for row in made:
        print(f"| {row.name} | {row.nodes} | {row.ops} | {row.worst:.1e} | {row.seconds:.1f} | "
              f"{row.problem} |", flush=True)  # fmt: skip
        wrong += bool(row.problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
