"""Recorded models converted, moved, and run in a process without TVM, against recorded outputs.

``python recorded_models.py FOLDER...``: folders as those of ``integration_tests/data``, with a
``cases.json``. A frozen graph is saved as a SavedModel first.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

import drystone_base as ds

_RUN: Final = """
import json, sys
sys.modules["tvm"] = sys.modules["tvm_ffi"] = None
import numpy as np
import drystone_base as ds
folder, case, outputs = sys.argv[1:]
case = json.loads(case)
session = ds.load(folder, config=ds.SessionConfig(access=ds.Access(libraries=[folder]))).session
with np.load(case["inputs"], allow_pickle=True) as given:
    feeds = {k: given[k] for k in given}
found = session.run(case["fetches"], feeds)
np.savez(outputs, **{str(k): v for k, v in enumerate(found)})
"""


def check(folder: Path, work: Path) -> str:
    """What came of a model; raises ``AssertionError`` where an output differs."""
    about = json.loads((folder / "cases.json").read_text())
    cases = about["cases"]
    source = folder / about["model"]
    if not source.is_dir():
        source = _saved(source, cases[0], work / "saved")
    command = [sys.executable, "-m", "drystone_base", "convert", str(source), "--json"]
    command += ["-o", str(work / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-1500:]
    report = json.loads(done.stdout)
    moved = Path(shutil.move(work / "out", work / "moved"))
    worst = max(_difference(folder, case, moved, work) for case in cases) / about["tolerance"]
    taken = sum(len(one["nodes"]) for one in report["regions"])
    assert worst <= 1, f"{worst:.3g} of what the tolerance allows"
    return (
        f"{taken} of {report['nodes']} nodes in {len(report['regions'])} libraries, "
        f"{worst:.3f} of the tolerance used"
    )


def _saved(graph_file: Path, case: dict[str, Any], folder: Path) -> Path:
    graph = ds.read_graph(graph_file)
    with np.load(graph_file.parent / case["inputs"], allow_pickle=True) as given:
        inputs = {f"input_{k}": name for k, name in enumerate(given)}
    outputs = {f"output_{k}": name for k, name in enumerate(case["fetches"])}
    ds.save(graph, folder, signatures={"serving_default": (inputs, outputs)})
    return folder


def _difference(folder: Path, case: dict[str, Any], model: Path, work: Path) -> float:
    """The largest difference to a recorded output, as part of its largest element."""
    told = json.dumps({"inputs": str(folder / case["inputs"]), "fetches": case["fetches"]})
    command = [sys.executable, "-c", _RUN, str(model), told, str(work / "found.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    worst = 0.0
    with (
        np.load(work / "found.npz", allow_pickle=True) as found,
        np.load(folder / case["outputs"], allow_pickle=True) as expected,
    ):
        for k, name in enumerate(case["fetches"]):
            x, y = found[str(k)], expected[name]
            assert x.shape == y.shape, name
            if y.size and y.dtype.kind == "f":
                largest = max(float(np.abs(y).max()), 1e-3)
                worst = max(worst, float(np.abs(x - y).max()) / largest)
            else:
                assert np.array_equal(x, y), name
    return worst


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
