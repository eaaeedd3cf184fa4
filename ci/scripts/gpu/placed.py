"""drystone-gpu as a device: ops, recorded models and training graphs that are placed there."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

import drystone_base as ds
from ci.scripts.gpu.cases import OpCase, op_cases
from ci.scripts.gpu.ceiling import ceiling_problems
from ci.scripts.gpu.check import differs
from ci.scripts.gpu.draws import random_cases
from ci.scripts.gpu.gradients import gradient_cases
from ci.scripts.gpu.recorded import case_of, tolerance_of, worst_of
from ci.scripts.gpu.variables import VARIABLES
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph

__all__ = ["placed_report"]

_DEVICE: Final = "/device:GPU:0"
_STEPS: Final = 12
_LOSS: Final = 1e-3
"""How far a loss may be off after some steps, relative to its size."""


def placed_report(models: Path | None) -> dict[str, Any]:
    """What is wrong where nodes are placed on the device, and how much was looked at."""
    problems: dict[str, str] = {}
    counts = {"op_cases": 0, "on_host": 0}
    for case in (*op_cases(), *gradient_cases(), *random_cases()):
        counts["op_cases"] += 1
        said = _quietly(_op_problem, case)
        if said == _ELSEWHERE:
            counts["on_host"] += 1
        elif said:
            problems[case.title] = said
    for title, check in (_CHECKS | VARIABLES).items():
        if said := _quietly(check):
            problems[title] = said
    rows = [*_models(models), *_trained(models)] if models else []
    problems |= {row["model"]: row["problem"] for row in rows if row["problem"]}
    return {**counts, "models": rows, "problems": problems}


_ELSEWHERE: Final = "whole numbers of 32 bits stay on the host"


def _quietly(check: Any, *arguments: Any) -> str:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return str(check(*arguments))
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]


def _op_problem(case: OpCase) -> str:
    graph, fetches, feeds = case.graph()
    config = ds.SessionConfig(
        optimizer="off", subgraphs="off", executor="reference", device_count={"GPU": 0}
    )
    here = ds.Session(graph.copy(), config)
    want = [here.run(fetches, feeds) for _ in range(2)][1]  # what goes on from run to run does so
    graph.set_device(graph["op"], _DEVICE)
    there = ds.SessionConfig(optimizer="off", subgraphs="off", allow_soft_placement=False)
    try:
        session = ds.Session(graph, there)
        got = session.run(fetches, feeds)
    except DrystoneError as error:
        if "no kernel on" in str(error) and _is_shape_like(case):
            return _ELSEWHERE
        raise
    got = session.run(fetches, feeds)
    for value, wanted in zip(got, want, strict=True):
        if said := differs(np.asarray(value), np.asarray(wanted), case.tolerance):
            return said
    return ""


def _is_shape_like(case: OpCase) -> bool:
    own = case.attrs.get("T", case.attrs.get("Tparams"))
    return bool(own == ds.as_dtype("int32"))


# ---- What a device does beside computing ----


def _product(rows: int = 256) -> tuple[Graph, dict[str, Any]]:
    graph, float32 = Graph(), ds.as_dtype("float32")
    ends = [
        graph.add("Placeholder", name, attrs={"dtype": float32, "shape": None}) for name in "xw"
    ]
    graph.add("MatMul", "m", ends, attrs={"T": float32})
    graph.add("Relu", "y", [graph["m"]], attrs={"T": float32})
    rng = np.random.default_rng(5)
    return graph, {f"{k}:0": rng.standard_normal((rows, rows)).astype(np.float32) for k in "xw"}


def _index_out_of_range() -> str:
    """It is an error, of the node; and the next run is well."""
    whole = ds.as_dtype("int32")
    attrs = {"Tparams": ds.as_dtype("float32"), "Tindices": whole, "Taxis": whole}
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    case = OpCase("GatherV2", [x, np.array([1, 7], np.int32), np.array(0, np.int32)], [2], attrs)
    graph, fetches, feeds = case.graph()
    session = ds.Session(graph, ds.SessionConfig(optimizer="off", subgraphs="off"))
    try:
        session.run(fetches, feeds)
    except DrystoneError as error:
        if "op" not in str(error) or "out of range" not in str(error):
            return f"says {error}"
    else:
        return "no error"
    (got,) = session.run(fetches, {**feeds, "in1:0": np.array([1, 3], np.int32)})
    return "" if (np.asarray(got) == x[[1, 3]]).all() else "other values after a failure"


def _time_and_memory() -> str:
    """A record has the device's time and memory."""
    graph, feeds = _product()
    session = ds.Session(graph, ds.SessionConfig(optimizer="off", subgraphs="off"))
    with session.record() as record:
        session.run("y:0", feeds)
    there = {node.op: node.on_device for node in record.nodes if node.device}
    if not {"MatMul", "Relu"} <= set(there):
        return f"on the device: {sorted(there)}"
    if not all(there[op] for op in ("MatMul", "Relu")):
        return f"without a time: {there}"
    return "" if record.memory else "no memory is told"


def _many_runs() -> str:
    """Runs at the same time, each with streams of its own."""
    from concurrent.futures import ThreadPoolExecutor

    graph, feeds = _product()
    session = ds.Session(graph, ds.SessionConfig(optimizer="off", subgraphs="off"))
    want = np.maximum(feeds["x:0"].astype(np.float64) @ feeds["w:0"], 0)
    with ThreadPoolExecutor(4) as pool:
        all_got = list(pool.map(lambda _: session.run("y:0", feeds), range(24)))
    worst = max(float(np.abs(np.asarray(got) - want).max()) for got in all_got)
    return "" if worst < 1e-2 else f"differs by {worst:.3g}"


_CHECKS: Final[dict[str, Callable[[], str]]] = {
    "device: index out of range": _index_out_of_range,
    "device: time and memory": _time_and_memory,
    "device: runs at the same time": _many_runs,
    "device: TF32 by the ceiling": partial(ceiling_problems, subgraphs="off"),
}


# ---- Models ----


def _models(folder: Path) -> Iterator[dict[str, Any]]:
    """Recorded models, with what of them the device takes on it."""
    for row in json.loads((folder / "index.json").read_text(encoding="utf-8"))["models"]:
        ref = next((ref for ref in row["refs"] if ref["kind"] != "train"), None)
        if (
            row["format"] == "onnx"
            or ref is None
            or not (folder / row["name"] / row["file"]).exists()
        ):
            continue
        begin, found = time.monotonic(), {"model": f"{row['name']} on the device"}
        said = _quietly(_run_model, folder / row["name"], row, ref, found)
        yield found | {"problem": said, "seconds": round(time.monotonic() - begin, 2)}


def _run_model(home: Path, row: dict[str, Any], ref: dict[str, Any], found: dict[str, Any]) -> str:
    feeds, wants = case_of(home, ref)
    model = ds.load(home / row["file"], config=ds.SessionConfig(subgraphs="off"))
    with model.session.record() as record:
        got = model.run(list(wants), feeds)
    got = model.run(list(wants), feeds)
    found["kernels"] = sum(node.on_device is not None for node in record.nodes)
    found["worst"] = worst = worst_of(got, wants)
    if not found["kernels"]:
        return "nothing ran on the device"
    return "" if worst <= tolerance_of(row) else f"differs by {worst:.3g}"


def _trained(folder: Path) -> Iterator[dict[str, Any]]:
    """Training graphs, whose losses were recorded."""
    for row in json.loads((folder / "index.json").read_text(encoding="utf-8"))["models"]:
        home = folder / row["name"]
        ref = next((r for r in row["refs"] if r["kind"] == "train" and "steps" in r), None)
        if ref is None or not (home / row["file"]).exists():
            continue
        begin, found = time.monotonic(), {"model": f"{row['name']} on the device"}
        said = _quietly(_train, home, row, ref, found)
        yield found | {"problem": said, "seconds": round(time.monotonic() - begin, 2)}


def _train(home: Path, row: dict[str, Any], ref: dict[str, Any], found: dict[str, Any]) -> str:
    data = np.load(home / ref["file"])
    model = ds.load(home / row["file"], config=ds.SessionConfig(subgraphs="off"))
    fetches = [ref["loss"], ref["train_op"]]
    worst = 0.0
    for k, want in enumerate(data["loss"][:_STEPS]):
        feeds = {ref["x"]: data["x"][k], ref["y"]: data["y"][k]}
        if k:
            loss, _ = model.run(fetches, feeds)
        else:
            with model.session.record() as record:
                loss, _ = model.run(fetches, feeds)
            found["kernels"] = sum(node.on_device is not None for node in record.nodes)
        worst = max(worst, abs(float(loss) - float(want)) / abs(float(want)))
    found["worst"] = worst
    if not found["kernels"]:
        return "nothing ran on the device"
    return "" if worst <= _LOSS else f"a loss differs by {worst:.3g}"
