"""Models as ONNX, by tf2onnx in TensorFlow's environment: ``python -m bench.convert JOBS.json``.

The file lists jobs with ``source`` (a GraphDef), ``target``, ``inputs`` and ``outputs`` (tensor
names). A job that fails leaves the reason in ``target`` with ``.txt`` appended; a target that is
there is kept.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.case import Case
from bench.peers import TOP, Peer

__all__ = ["OPSET", "main", "with_onnx"]

OPSET = 17


def with_onnx(cases: Sequence[Case], tensorflow: Peer, cache: Path) -> list[Case]:
    """The cases, with ONNX forms of the frozen graphs that lack one and can be converted."""
    targets = {case.name: _target(case, cache) for case in cases if _convertible(case)}
    jobs = [
        {"source": case.forms["graphdef"], "target": str(targets[case.name]),
         "inputs": list(case.inputs), "outputs": list(case.outputs)}
        for case in _first_of_each(cases, targets) if not _tried(targets[case.name])
    ]  # fmt: skip
    if jobs and not tensorflow.absent:
        cache.mkdir(parents=True, exist_ok=True)
        file = cache / "jobs.json"
        file.write_text(json.dumps(jobs), encoding="utf-8")
        subprocess.run(
            [tensorflow.python, "-m", "bench.convert", str(file)],
            env=tensorflow.environment(2), cwd=TOP.parent, capture_output=True, check=False,
        )  # fmt: skip
    made = {name: target for name, target in targets.items() if target.exists()}
    return [
        replace(case, forms={**case.forms, "onnx": str(made[case.name])})
        if case.name in made else case
        for case in cases
    ]  # fmt: skip


def _first_of_each(cases: Sequence[Case], targets: Mapping[str, Path]) -> list[Case]:
    """One case for each file that is to be made."""
    firsts = {targets[case.name]: case for case in reversed(cases) if case.name in targets}
    return list(firsts.values())


def _convertible(case: Case) -> bool:
    file = case.forms.get("graphdef")
    return (
        file is not None
        and Path(file).exists()
        and "onnx" not in case.forms
        and case.group != "text"
    )


def _target(case: Case, cache: Path) -> Path:
    file = Path(case.forms["graphdef"])
    content = file.read_bytes()
    return cache / f"{file.stem}-{hashlib.sha256(content).hexdigest()[:12]}-{OPSET}.onnx"


def _tried(target: Path) -> bool:
    return target.exists() or target.with_suffix(".onnx.txt").exists()


def main(file: str) -> int:
    """Convert each job."""
    for job in json.loads(Path(file).read_text(encoding="utf-8")):
        target = Path(job["target"])
        try:
            target.write_bytes(_converted(job))
        except Exception as error:
            reason = (str(error).splitlines() or [""])[0]
            target.with_suffix(".onnx.txt").write_text(f"{type(error).__name__}: {reason}\n")
    return 0


def _converted(job: dict[str, Any]) -> bytes:
    import tensorflow as tf
    import tf2onnx

    graph = tf.compat.v1.GraphDef()
    graph.ParseFromString(Path(job["source"]).read_bytes())
    model, _ = tf2onnx.convert.from_graph_def(
        graph, input_names=job["inputs"], output_names=job["outputs"], opset=OPSET
    )
    _without_erfc(model.graph)
    found: bytes = model.SerializeToString()
    return found


def _without_erfc(graph: Any) -> None:
    """ONNX has no Erfc, which tf2onnx passes on: 1 - Erf in its place."""
    from onnx import helper

    if not any(node.op_type == "Erfc" for node in graph.node):
        return
    nodes = []
    for node in graph.node:
        if node.op_type == "Erfc":
            (source,), (target,) = node.input, node.output
            nodes.append(helper.make_node("Erf", [source], [f"{target}_erf"]))
            nodes.append(helper.make_node("Sub", ["bench_one", f"{target}_erf"], [target]))
        else:
            nodes.append(node)
    graph.initializer.append(helper.make_tensor("bench_one", 1, [], [1.0]))
    del graph.node[:]
    graph.node.extend(nodes)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
