"""Intel's TensorFlow extension for CPUs in drystone: `python -m ci.scripts.tf_plugins.itex FOLDER`.

FOLDER is the unpacked wheel. Its library is loaded by policy, its optimizer is run on two small
graphs (MatMul and Conv2D, each with BiasAdd and Relu), and the fused graphs run with its kernels.
Then the recorded models of integration_tests/data run with both.
Prints one line per check; exit status 1 when one does not hold.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ci.scripts.project import ROOT
from drystone_base import Graph, Node, PluginError, Session, SessionConfig, load
from drystone_base.core.dtypes import FLOAT32
from drystone_base.executor import selection
from drystone_base.graph import Output
from drystone_base.ops.attrs import TensorAttr
from drystone_base.plugins import Plugin, load_library

__all__ = ["LIBRARY", "WRONG", "distance", "main"]

LIBRARY = "tensorflow-plugins/libitex_cpu.so"
PLAIN = SessionConfig(optimizer="off")
DATA = ROOT / "integration_tests" / "data"
WRONG = {
    "musicnn-mtt-vgg": "in training steps: the plugin's FusedBatchNorm leaves the mean and the "
    "variance that it gives at inference unwritten; multiplied by 0, NaN in that memory stays NaN",
}


class Checks:
    """Prints what holds and counts what does not."""

    def __init__(self) -> None:
        self.failed = 0

    def __call__(self, holds: bool, what: str) -> None:
        """One line."""
        self.failed += not holds
        print(f"  {'ok  ' if holds else 'FAIL'} {what}", flush=True)


def _refused_by_default(path: Path, check: Checks) -> None:
    """The default policy lets no library in that is not trusted."""
    try:
        load_library(path, policy="default", developer_mode=False)
    except PluginError as error:
        check(True, f"policy default refuses it: {error.code}")
    else:
        check(False, "policy default refuses it")


def _load(path: Path, check: Checks) -> Plugin:
    plugin = load_library(path, policy="allow_unverified")
    counts = {kind: len(names) for kind, names in plugin.registered.items() if names}
    check(plugin.state == "loaded", f"policy allow_unverified loads it: {counts}")
    check(counts.get("ops", 0) > 300, f"{counts.get('ops')} ops")
    check(counts.get("kernels", 0) > 250, f"kernels of {counts.get('kernels')} ops")
    check(plugin.registered.get("optimizers") == ["CPU"], "an optimizer for CPU")
    return plugin


def matmul_graph() -> tuple[Graph, dict[str, np.ndarray[Any, Any]]]:
    """Relu(MatMul(x, w) + b), twice over."""
    random, graph = np.random.default_rng(1), Graph()
    node: Node | Output = _placeholder(graph, (8, 32))
    for k, (rows, columns) in enumerate([(32, 64), (64, 16)]):
        weight = _constant(graph, f"w{k}", random.normal(size=(rows, columns)))
        bias = _constant(graph, f"b{k}", random.normal(size=columns))
        product = graph.add("MatMul", f"matmul{k}", [node, weight], attrs={"T": FLOAT32})
        total = graph.add("BiasAdd", f"biasadd{k}", [product, bias], attrs={"T": FLOAT32})
        node = graph.add("Relu", f"relu{k}", [total], attrs={"T": FLOAT32})
    graph.add("Identity", "out", [node], attrs={"T": FLOAT32})
    return graph, {"x:0": random.normal(size=(8, 32)).astype(np.float32)}


def conv_graph() -> tuple[Graph, dict[str, np.ndarray[Any, Any]]]:
    """Relu(Conv2D(x, w) + b)."""
    random, graph = np.random.default_rng(2), Graph()
    x = _placeholder(graph, (2, 16, 16, 8))
    weight = _constant(graph, "w", random.normal(size=(3, 3, 8, 16)))
    bias = _constant(graph, "b", random.normal(size=16))
    attrs = {"T": FLOAT32, "strides": [1, 1, 1, 1], "padding": "SAME"}
    product = graph.add("Conv2D", "conv", [x, weight], attrs=attrs)
    total = graph.add("BiasAdd", "biasadd", [product, bias], attrs={"T": FLOAT32})
    relu = graph.add("Relu", "relu", [total], attrs={"T": FLOAT32})
    graph.add("Identity", "out", [relu], attrs={"T": FLOAT32})
    return graph, {"x:0": random.normal(size=(2, 16, 16, 8)).astype(np.float32)}


def _placeholder(graph: Graph, shape: tuple[int, ...]) -> Node:
    return graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": shape})


def _constant(graph: Graph, name: str, value: np.ndarray[Any, Any]) -> Node:
    attrs = {"dtype": FLOAT32, "value": TensorAttr(array=value.astype(np.float32))}
    return graph.add("Const", name, attrs=attrs)


def _optimized(graph: Graph, feeds: list[str], check: Checks, fused: str) -> Graph:
    from drystone_optimizer import OptimizerConfig, optimize_with_report

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        after, report = optimize_with_report(graph, ["out:0"], feeds, OptimizerConfig())
    ops = Counter(node.op for node in after)
    check(ops[fused] > 0, f"its optimizer makes {fused}: {dict(ops)}")
    failed = [run.reason for run in report.runs if run.outcome == "failed"]
    check(not failed, f"no run failed {failed or ''}")
    own = [str(w.message) for w in caught if "unoptimized" in str(w.message)]
    check(not own, f"nothing was given up {own or ''}")
    return after


@dataclass
class Case:
    """A graph, its feeds, what the reference kernels give, and the op it should be fused to."""

    graph: Graph
    feeds: dict[str, np.ndarray[Any, Any]]
    expected: np.ndarray[Any, Any]
    fused: str


def _case(made: tuple[Graph, dict[str, np.ndarray[Any, Any]]], fused: str) -> Case:
    """Run before the plugin is loaded, so that only reference kernels run."""
    graph, feeds = made
    return Case(graph, feeds, Session(graph, PLAIN).run("out:0", feeds), fused)


def _compare(case: Case, plugin: Plugin, check: Checks) -> None:
    after = _optimized(case.graph, list(case.feeds), check, case.fused)
    used = {v.candidate.library for v in selection.explain(case.fused) if v.chosen}
    check(used == {plugin.path}, f"{case.fused} runs with its kernel")
    alone = Session(after, PLAIN).run("out:0", case.feeds)
    whole = Session(case.graph).run("out:0", case.feeds)
    scale = np.abs(case.expected) + case.expected.std()
    for name, value in (("the fused graph", alone), ("a session of the graph", whole)):
        error = float(np.max(np.abs(value - case.expected) / scale))
        check(error < 1e-4, f"{name} equals the unfused one of reference kernels: {error:.1e}")


def _models(check: Checks) -> None:
    """Recorded models with the plugin's optimizer and kernels.

    Its optimizer puts the addition of ``Relu(depthwise + bias) + x`` in selfie before the Relu, in
    TensorFlow 2.15.1, too, and is as far off there (1.276): that graph is found out and refused.
    """
    for folder in sorted(path.parent for path in DATA.glob("*/cases.json")):
        if folder.name in WRONG:
            print(f"  skip {folder.name}: {WRONG[folder.name]}")
            continue
        facts = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
        model, worst = load(folder / facts["model"]), 0.0
        for case in facts["cases"]:
            feeds = dict(np.load(folder / case["inputs"], allow_pickle=True))
            wanted = np.load(folder / case["outputs"], allow_pickle=True)
            found = model.run(list(case["fetches"]), feeds)
            for name, value in zip(case["fetches"], found, strict=True):
                worst = max(worst, distance(value, wanted[name]))
        check(worst <= facts["tolerance"], f"model {folder.name}: {worst:.1e}")


def distance(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> float:
    """Largest |a-b| / (|b| + std b); 0 or infinity for what are no numbers."""
    if wanted.dtype.kind not in "fiub":
        texts = [np.asarray(v).astype("S").tolist() for v in (found, wanted)]
        return 0.0 if texts[0] == texts[1] else float("inf")
    a, b = np.asarray(found, np.float64), wanted.astype(np.float64)
    if a.shape != b.shape:
        return float("inf")
    return float(np.max(np.abs(a - b) / (np.abs(b) + b.std() + 1e-12), initial=0.0))


def main(arguments: list[str] | None = None) -> int:
    """Run every check."""
    folder = Path((sys.argv[1:] if arguments is None else arguments)[0])
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        print(f"skipped: the wheel is for Linux on x86-64, this is {platform.platform()}")
        return 0
    os.environ.setdefault("ITEX_VERBOSE", "0")
    check = Checks()
    path = folder / LIBRARY
    cases = [_case(matmul_graph(), "_ITEXFusedMatMul"), _case(conv_graph(), "_ITEXFusedConv2D")]
    _refused_by_default(path, check)
    plugin = _load(path, check)
    for case in cases:
        _compare(case, plugin, check)
    _models(check)
    print(f"{check.failed} checks failed")
    return int(check.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
