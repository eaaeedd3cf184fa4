"""Large networks with random weights, which TensorFlow's environment makes when they are wanted."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.case import Case
from bench.networks import BATCHES, NAMES
from bench.peers import HOME, TOP, Peer

__all__ = ["FOLDER", "make", "networks"]

FOLDER = HOME.parent / "networks"
"""Where the networks are kept."""
TITLES = {
    "resnet50": "ResNet50", "mobilenetv2": "MobileNetV2", "efficientnetb0": "EfficientNetB0",
    "inceptionv3": "InceptionV3", "densenet121": "DenseNet121", "bert-base": "BERT-base",
}  # fmt: skip
DEEP = 1e-3
"""How far float32 answers may be off after a hundred layers of random weights."""
COARSE = 0.5
"""The same for bfloat16, which has 8 bits of a number: what every runtime here keeps to."""


def networks(folder: Path = FOLDER) -> Iterator[Case]:
    """Each network with one example and with 16, on one thread and on two, in both precisions."""
    for precision, of_precision in (("float32", ""), ("bfloat16", "-bfloat16")):
        for batch, of_batch in ((1, ""), (BATCHES[-1], "-batch")):
            for threads, of_threads in ((0, ""), (2, "-threads")):
                group = f"networks{of_precision}{of_batch}{of_threads}"
                mark = "-bf16" * bool(of_precision) + f"-b{batch}" * (batch > 1)
                mark += f"-{threads}t" * bool(threads)
                for name in NAMES:
                    yield _case(folder, name, group, mark, batch, threads, precision)


def _case(
    folder: Path, name: str, group: str, mark: str, batch: int, threads: int, precision: str
) -> Case:
    inputs = ("ids", "mask") if name == "bert-base" else ("x",)
    return Case(
        name + mark, group, TITLES[name], {"graphdef": str(folder / f"{name}.pb")},
        str(folder / f"{name}-b{batch}.npz"), {f"{key}:0": key for key in inputs}, {"y:0": "y"},
        DEEP if precision == "float32" else COARSE, quick=False, threads=threads,
        precision=precision, least=1,
        rounds=9 if threads > 1 else 3,  # cores are what other programs take first
    )  # fmt: skip


def make(cases: Sequence[Case], tensorflow: Peer) -> str:
    """Make the networks of these cases that are not there; why that failed, else nothing."""
    files = {Path(case.forms["graphdef"]) for case in cases if case.group.startswith("networks")}
    missing = sorted(file.stem for file in files if not file.exists())
    if not missing:
        return ""
    if tensorflow.absent:
        return f"TensorFlow makes {', '.join(missing)}; it is {tensorflow.absent}"
    done = subprocess.run(
        [tensorflow.python, "-m", "bench.networks", str(FOLDER), *missing],
        env=tensorflow.environment(2), cwd=TOP.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1] if done.returncode and lines else ""
