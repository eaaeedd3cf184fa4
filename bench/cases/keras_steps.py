"""Steps of training of Keras models, on each of Keras's backends."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.case import Case
from bench.keras_models import MODELS
from bench.peers import HOME, TOP, Peer

__all__ = ["FOLDER", "make", "of_keras"]

FOLDER = HOME.parent / "keras"
TITLES = {
    "mlp": "three dense layers, 64 examples", "cnn": "two convolutions, 64 pictures of 28x28",
    "resnet20": "ResNet-20, 32 pictures of 32x32", "lstm": "an LSTM, 32 texts of 64 words",
    "transformer": "two blocks of attention, 16 texts of 64 words",
}  # fmt: skip
TOLERANCE = 0.02
"""How far the losses of the first steps may be apart: backends add up in other orders."""


def of_keras(folder: Path = FOLDER) -> Iterator[Case]:
    """One case for each model and number of threads."""
    for threads, mark in ((0, ""), (2, "-2t")):
        for name in MODELS:
            yield Case(
                f"keras-{name}{mark}", "training-keras", TITLES[name], {"keras": name},
                str(folder / f"{name}.npz"), {"x": "x", "y": "y"}, {"loss": "loss"}, TOLERANCE,
                quick=False, train_op="step", threads=threads, least=3,
            )  # fmt: skip


def make(cases: Sequence[Case], ours: Peer) -> str:
    """Write what these cases are held against; why that failed, else nothing."""
    wanted = {case.forms["keras"]: Path(case.arrays) for case in cases if "keras" in case.forms}
    missing = sorted(name for name, file in wanted.items() if not file.exists())
    if not missing:
        return ""
    done = subprocess.run(
        [ours.python, "-m", "bench.keras_models", str(FOLDER), *missing],
        env=ours.environment(2), cwd=TOP.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1] if done.returncode and lines else ""
