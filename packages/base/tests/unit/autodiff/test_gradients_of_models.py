"""Training graphs that TensorFlow made, with gradients of ours from their forward part.

The recorded losses come out: each gradient that an optimizer's op takes is replaced, and what
TensorFlow's gradients were is left out of the graph.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_data import MODELS, REPO, WHY_NOT

from drystone_base.api.model import load
from drystone_base.autodiff import IndexedSlices, gradients
from drystone_base.autodiff._slices import dense
from drystone_base.graph import Builder, Graph, Node, Output, reachable
from drystone_base.ops.defs import op_def
from drystone_base.passes import PassOptions
from drystone_base.passes.functionalize_control_flow import functionalize_control_flow

DATA = REPO / "integration_tests" / "data"
NAMES = (
    "cnn-adam-ref", "cnn-adam-resource", "embedding-sparse-ref", "embedding-sparse-resource",
    "gru-while-v1", "gru-while-v2", "mlp-adagrad-ref", "mlp-adam-resource", "mlp-momentum-ref",
    "mlp-rmsprop-ref", "mlp-sgd-ref",
)  # fmt: skip
STEPS = 4
"""Steps of training that are compared: each loss but the first is what gradients made of it."""


def recording(name: str) -> tuple[Path, dict[str, Any], Any]:
    """The MetaGraph, the names and the values of a recorded training."""
    folder = DATA / f"train-{name}"
    if folder.exists():
        facts = json.loads((folder / "train.json").read_text())
        return folder / "metagraph", facts, np.load(folder / "train.npz")
    folder = MODELS / f"train-{name}"
    if not folder.exists():
        pytest.skip(WHY_NOT)
    (facts,) = json.loads((folder / "info.json").read_text())["refs"]
    return folder / "metagraph", facts, np.load(folder / facts["file"])


def optimizing(graph: Graph) -> list[Node]:
    """The nodes that apply gradients to variables."""
    return [n for n in graph if "Apply" in n.op]


def made_by_tensorflow(node: Node, argument: str) -> Output:
    """The output of TensorFlow's gradients that an argument of such a node comes from."""
    names = [{"delta": "grad"}.get(a.name, a.name) for a in op_def(node.op).inputs]
    at = names.index(argument)
    output = node.inputs[at]
    while not output[0].name.startswith("gradients"):
        output = output[0].inputs[0]
    return output


def cut(graph: Graph, output: Output) -> Node:
    """A placeholder in place of an output."""
    b = Builder(graph)
    blank = b.node("Placeholder", dtype=b.dtype(output), name=graph.unique_name("cut"))
    graph.redirect(output, (blank, 0))
    return blank


def with_own_gradients(graph: Graph, loss: str, train_op: str) -> Graph:
    """The graph with gradients of ours in place of TensorFlow's."""
    holes: dict[str, list[str]] = {}
    for node in optimizing(graph):
        parts = ["grad", "indices"] if "Sparse" in node.op else ["grad"]
        sources = [made_by_tensorflow(node, part) for part in parts]
        holes[node.name] = [cut(graph, source).name for source in sources]
    graph = graph.copy(only=reachable([graph[loss], graph[train_op]]).keys())
    functionalize_control_flow(PassOptions(graph))
    theirs = [n for n in graph if n.name.startswith("gradients")]
    assert {n.op for n in theirs} <= {"Const", "EmptyTensorList"}  # what its loops stack on
    updates = [graph[name] for name in holes]
    found = gradients(graph[loss], [node.inputs[0] for node in updates])
    b = Builder(graph)
    for blanks, grad in zip(holes.values(), found, strict=True):
        sparse = isinstance(grad, IndexedSlices) and len(blanks) == 2
        ours = grad[:2] if sparse else [dense(b, grad)]
        for blank, output in zip(blanks, ours, strict=True):
            graph.redirect((graph[blank], 0), output)
    return graph


@pytest.mark.parametrize("name", NAMES)
def test_losses(name: str) -> None:
    folder, facts, data = recording(name)
    model = load(folder)
    loss = facts["loss"]
    graph = with_own_gradients(model.session.graph.copy(), loss[:-2], facts["train_op"])
    session = model.session.beside(graph)
    losses = []
    for step in range(min(STEPS, facts["steps"])):
        feeds = {facts[key]: data[key][step] for key in ("x", "y")}
        losses.append(session.run([loss, facts["train_op"]], feeds)[0])
    np.testing.assert_allclose(losses, data["loss"][: len(losses)], rtol=1e-4)
