"""Recorded models converted, moved, and run in a process without TVM, against recorded outputs.

``python recorded_models.py FOLDER...``: folders as those of ``integration_tests/data``, with a
``cases.json``, or as those of models beside the repository, with an ``info.json``. A frozen graph
is saved as a SavedModel first.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import drystone_base as ds

_RUN: Final = """
import json, sys
sys.modules["tvm"] = sys.modules["tvm_ffi"] = None
import numpy as np
import drystone_base as ds
folder, feeds, fetches, outputs = sys.argv[1:]
session = ds.load(folder, config=ds.SessionConfig(access=ds.Access(libraries=[folder]))).session
with np.load(feeds, allow_pickle=True) as given:
    found = session.run(json.loads(fetches), dict(given))
np.savez(outputs, **{str(k): v for k, v in enumerate(found)})
"""
_TOLERANCE: Final = 1e-4
_OF_ITS_OWN: Final = 4
"""How much more than TensorFlow's own kernels differ from each other a result may differ."""
Arrays = dict[str, np.ndarray[Any, Any]]


class Recorded(NamedTuple):
    """A model, the cases that were recorded of it, and how far a result may be from them."""

    model: Path
    cases: list[tuple[Arrays, Arrays]]
    tolerance: float


def recorded(folder: Path) -> Recorded:
    """What a folder has."""
    if (folder / "cases.json").exists():
        about = json.loads((folder / "cases.json").read_text())
        cases = [
            (_arrays(folder / one["inputs"]), _arrays(folder / one["outputs"]))
            for one in about["cases"]
        ]
        return Recorded(folder / about["model"], cases, about["tolerance"])
    about = json.loads((folder / "info.json").read_text())
    own = [pair[1] for case in about["fp32_dev"] for pair in case.values() if pair]
    cases = [_reference(folder, one) for one in about["refs"]]
    return Recorded(folder / about["file"], cases, max(_OF_ITS_OWN * max(own), _TOLERANCE))


def _arrays(file: Path) -> Arrays:
    with np.load(file, allow_pickle=True) as arrays:
        return dict(arrays)


def _reference(folder: Path, one: dict[str, Any]) -> tuple[Arrays, Arrays]:
    arrays = _arrays(folder / one["file"])
    inputs, outputs = (
        {tensor: arrays[key] for tensor, key in one[part].items()} for part in ("inputs", "outputs")
    )
    return inputs, outputs


def check(folder: Path, work: Path) -> str:
    """What came of a model; raises ``AssertionError`` where an output differs."""
    found = recorded(folder)
    model = found.model
    if not model.is_dir():
        model = _saved(model, *found.cases[0], work / "saved")
    command = [sys.executable, "-m", "drystone_base", "convert", str(model), "--json"]
    command += ["-o", str(work / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-1500:]
    report = json.loads(done.stdout)
    moved = Path(shutil.move(work / "out", work / "moved"))
    worst = max(_difference(case, moved, work) for case in found.cases) / found.tolerance
    taken = sum(len(one["nodes"]) for one in report["regions"])
    assert worst <= 1, f"{worst:.3g} of what the tolerance allows"
    assert taken, "no node of it is in a library"
    return (
        f"{taken} of {report['nodes']} nodes in {len(report['regions'])} libraries, "
        f"{len(found.cases)} cases, {worst:.3f} of the tolerance used"
    )


def _saved(graph_file: Path, given: Arrays, expected: Arrays, folder: Path) -> Path:
    graph = ds.read_graph(graph_file)
    inputs = {f"input_{k}": name for k, name in enumerate(given)}
    outputs = {f"output_{k}": name for k, name in enumerate(expected)}
    ds.save(graph, folder, signatures={"serving_default": (inputs, outputs)})
    return folder


def _difference(case: tuple[Arrays, Arrays], model: Path, work: Path) -> float:
    """The largest difference to a recorded output, as ``drystone diff`` measures it."""
    feeds, expected = case
    np.savez(work / "feeds.npz", **feeds)  # type: ignore[arg-type]
    told = (work / "feeds.npz", json.dumps(list(expected)), work / "found.npz")
    command = [sys.executable, "-c", _RUN, str(model), *map(str, told)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = _arrays(work / "found.npz")
    return max(_apart(name, found[str(k)], expected[name]) for k, name in enumerate(expected))


def _apart(name: str, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    assert x.shape == y.shape, name
    if y.size and y.dtype.kind == "f":
        scale = np.abs(y) + np.std(y)
        return float((np.abs(x - y) / np.maximum(scale, np.finfo(y.dtype).tiny)).max())
    assert x.astype(y.dtype).tolist() == y.tolist(), name
    return 0.0


def main(folders: list[str]) -> int:
    """Check each; the exit status is 1 where one differs."""
    wrong = 0
    for folder in map(Path, folders):
        with tempfile.TemporaryDirectory() as name:
            try:
                print(f"{folder.name}: {check(folder, Path(name))}", flush=True)
            except Exception as error:
                wrong += 1
                print(f"{folder.name}: {type(error).__name__}: {error}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
