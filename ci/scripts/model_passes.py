"""Every pass of drystone-base on real models: model_passes.py [FOLDER] [--only PASS] [--model NAME]

FOLDER holds models with an index.json (default: shared/models beside the repository). Each model
runs as it is and with each pass, with lowering and its inverse, with the whole family of clusters,
with clusters as operators of a backend, and with its nodes spread over three devices; the results
must be the same up to rounding. What differs is printed; the status is 1 then.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from drystone_base import Graph, Model, Session, SessionConfig, load
from drystone_base.graph import output_name
from drystone_base.passes import Grouping, PassOptions, graph_pass, registered
from drystone_subgraph import (
    CompileRequest,
    Executable,
    SubgraphBackend,
    SubgraphProperty,
    register_backend,
)

ROOT = Path(__file__).resolve().parents[2]
MOST = 1e-5
"""The largest difference, by the largest magnitude of an output, that may come of rounding."""
_TOOLS = ("IntroduceFloatingPointJitterPass", "BuildClusterOpsPass")
_CLUSTERS = (
    "CloneConstantsForBetterClusteringPass", "MarkForCompilationPass",
    "IncreaseDynamismForAutoJitPass", "PartiallyDeclusterPass", "EncapsulateSubgraphsPass",
)  # fmt: skip


@graph_pass(Grouping.PRE_PLACEMENT, 99, name="SpreadOverDevices", is_default=False)
def spread(options: PassOptions) -> bool:
    """Ask for one of three devices for every node."""
    chance = random.Random(0)
    assert options.graph is not None
    for node in options.graph:
        options.graph.set_device(node, f"/cpu:{chance.randrange(3)}")
    return True


class Interpreting(SubgraphBackend):
    """Compiles a region to a session of its own."""

    name = "model_passes"
    compiles = True

    def properties(self) -> list[SubgraphProperty]:
        """It takes what it is given."""
        return []

    def compile(self, request: CompileRequest) -> Executable:
        """The region, run by the reference executor."""
        body = request.body
        fetches = [output_name(result.inputs[0]) for result in body.results]
        feeds = [f"{arg.name}:0" for arg in body.args]
        config = SessionConfig(executor="reference", optimizer="off", subgraphs="off")
        session = Session(body.graph, config)
        return lambda arrays: session.run(fetches, dict(zip(feeds, arrays, strict=True)))


def ways() -> dict[str, dict[str, Any]]:
    """By name, what to add to a session's config."""
    found: dict[str, dict[str, Any]] = {}
    for one in registered():
        if one.origin == "drystone-base" and one.name not in _TOOLS:
            found[one.name] = {"passes": {one.name: True}}
    both = {"LowerFunctionalOpsPass": True, "FunctionalizeControlFlowPass": True}
    found["lowered and back"] = {"passes": both}
    found["clusters"] = {"passes": dict.fromkeys(_CLUSTERS, True)}
    build = {"BuildClusterOpsPass": {"backend": Interpreting.name}}
    found["clusters of a backend"] = {"passes": dict.fromkeys(_CLUSTERS, True) | build}
    devices = {"device_count": {"CPU": 3}}
    found["three devices"] = {"passes": {"SpreadOverDevices": True}, **devices}
    lowered = {"LowerFunctionalOpsPass": True, "SpreadOverDevices": True}
    found["lowered on three devices"] = {"passes": lowered, **devices}
    return found


def cases(folder: Path, only: str | None) -> Iterator[tuple[str, Path, list[str], dict[str, Any]]]:
    """Name, file, fetches and feeds of each model's first recorded inference."""
    for row in json.loads((folder / "index.json").read_text(encoding="utf-8"))["models"]:
        refs = [r for r in row["refs"] if r["kind"] != "train"]
        if row["format"] == "onnx" or not refs or only not in (None, row["name"]):
            continue
        data = np.load(folder / row["name"] / refs[0]["file"], allow_pickle=True)
        feeds = {tensor: data[key] for tensor, key in refs[0]["inputs"].items()}
        yield row["name"], folder / row["name"] / row["file"], list(refs[0]["outputs"]), feeds


def difference(a: Any, b: Any) -> float:
    """0 for equal values, else the largest difference by the largest magnitude; inf: no number."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    if a.dtype.kind not in "fc":
        return 0.0 if np.array_equal(a, b) else np.inf
    if np.array_equal(a, b, equal_nan=True):
        return 0.0
    scale = max(float(np.max(np.abs(a))), 1e-30)
    worst = float(np.max(np.abs(a - b))) / scale
    return worst if np.isfinite(worst) else np.inf


def run(path: Path, fetches: list[str], feeds: dict[str, Any], **more: Any) -> list[Any]:
    """What a model gives with a config."""
    config = SessionConfig(optimizer="off", deadline=300, **more)
    model: Model = load(path, config=config)
    assert isinstance(model.graph, Graph)
    return list(model.run(fetches, feeds))


def main(arguments: list[str] | None = None) -> int:
    """Run all models in all ways; 0 when none differs."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=str(ROOT.parent / "shared" / "models"))
    parser.add_argument("--only", help="one of the ways")
    parser.add_argument("--model", help="one of the models")
    options = parser.parse_args(arguments)
    register_backend(Interpreting())
    wrong = count = 0
    for name, path, fetches, feeds in cases(Path(options.folder), options.model):
        want = run(path, fetches, feeds)
        for way, more in ways().items():
            if options.only not in (None, way):
                continue
            begin = time.perf_counter()
            try:
                found = run(path, fetches, feeds, **more)
                worst = max(difference(a, b) for a, b in zip(want, found, strict=True))
            except Exception as error:
                print(f"{name}, {way}: {type(error).__name__}: {error}", flush=True)
                worst = np.inf
            seconds = time.perf_counter() - begin
            count, wrong = count + 1, wrong + (worst > MOST)
            if worst > 0 or seconds > 30:
                print(f"{name}, {way}: differs by {worst:.1e}, {seconds:.1f} s", flush=True)
    print(f"{count} runs of models with passes, {wrong} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
