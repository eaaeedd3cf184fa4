"""OpenVINO as a backend: regions of inference ops, compiled by its TensorFlow frontend.

Its Python package is optional (``pip install drystone-subgraph[openvino]``) and imported when a
region is compiled. Weights are constants to it, so new values of variables are compiled again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np

from drystone_base.core.errors import BadRequest
from drystone_base.graph import FunctionLibrary, Graph, Node
from drystone_base.graph.validate import output_dtypes
from drystone_base.loaders import write_graph
from drystone_subgraph.contract.arguments import with_arguments
from drystone_subgraph.contract.backend import SubgraphBackend
from drystone_subgraph.contract.executable import CompileRequest, Executable
from drystone_subgraph.contract.property import SubgraphProperty
from drystone_subgraph.contract.selector import ContainOpSelector, SubgraphSelector
from drystone_subgraph.contract.subgraph import Subgraph, SubgraphNode
from drystone_subgraph.regions.unfused import FUSED, unfuse

__all__ = ["OpenVinoBackend"]

_HEAVY: Final = FUSED | frozenset(
    {"BatchMatMul", "BatchMatMulV2", "Conv2D", "Conv3D", "Conv2DBackpropInput",
     "DepthwiseConv2dNative", "Einsum", "MatMul"}
)  # fmt: skip
_OPS: Final = _HEAVY | {
    "Abs", "Add", "AddN", "AddV2", "AvgPool", "BiasAdd", "BroadcastTo", "Cast", "Concat",
    "ConcatV2", "Cos", "Cumsum", "Div", "Elu", "Erf", "Exp", "ExpandDims", "Fill", "Floor",
    "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "Gather", "GatherV2", "Greater",
    "GreaterEqual", "Identity", "LeakyRelu", "Less", "LessEqual", "Log", "Log1p", "LogSoftmax",
    "LogicalAnd", "LogicalNot", "LogicalOr", "Max", "MaxPool", "Maximum", "Mean", "Min",
    "Minimum", "MirrorPad", "Mul", "Neg", "Pack", "Pad", "PadV2", "Pow", "Prod", "RealDiv",
    "Reciprocal", "Relu", "Relu6", "Reshape", "ResizeBilinear", "ResizeNearestNeighbor",
    "ReverseV2", "Rsqrt", "Select", "SelectV2", "Selu", "Shape", "Sigmoid", "Sign", "Sin",
    "Slice", "Softmax", "Softplus", "Split", "SplitV", "Sqrt", "Square", "SquaredDifference",
    "Squeeze", "StopGradient", "StridedSlice", "Sub", "Sum", "Tanh", "Tile", "Transpose",
    "Unpack",
}  # fmt: skip
_TYPES: Final = frozenset({"float32", "int32", "int64", "bool", "uint8"})


class _Selector(ContainOpSelector):
    """The ops of the list, of numbers that OpenVINO computes with."""

    def lacks(self, node: Node) -> str:
        for end in (node, *(source for source, _ in node.inputs)):
            for dtype in output_dtypes(end) or ():
                if str(dtype) not in _TYPES:
                    return f"OpenVINO is not given {dtype}"
        if node.attr("is_training", False) and node.op.startswith("FusedBatchNorm"):
            return "OpenVINO does not train"
        return ""


class _Property(SubgraphProperty):
    """Regions that do enough to be worth a call."""

    name = "inference"
    minimum_size = 3

    def create_subgraph_selector(self) -> SubgraphSelector:
        return _Selector(_OPS)

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        if not any(node.op in _HEAVY for node in subgraph.function.node_def):
            return subgraph.refuse("no product or convolution in it")
        return subgraph.node()


class OpenVinoBackend(SubgraphBackend):
    """Compiles regions for the CPU by OpenVINO, in full float32 precision."""

    name = "openvino"
    compiles = True
    keeps = True

    def properties(self) -> Sequence[SubgraphProperty]:
        """One rule: ops of inference around products and convolutions.

        Raises ``BadRequest`` (``subgraph-package-missing``) without the package ``openvino``.
        """
        if find_spec("openvino") is None:
            raise BadRequest(
                "subgraph backend 'openvino' cannot be used",
                check="the package that it calls must be installed",
                found="no Python package openvino",
                needed="openvino",
                remedy="pip install drystone-subgraph[openvino]",
                code="subgraph-package-missing",
                status="FAILED_PRECONDITION",
            )
        return [_Property()]

    @property
    def version(self) -> str:  # type: ignore[override]
        """OpenVINO's own."""
        import openvino

        return str(openvino.get_version())

    def save(self, executable: Any) -> bytes:
        """The compiled model, as OpenVINO exports it."""
        stream = BytesIO()
        executable.compiled.export_model(stream)
        return stream.getvalue()

    def load(self, request: CompileRequest, data: bytes) -> Executable:
        """An exported model."""
        _, results = _as_model(request)
        compiled = _core().import_model(BytesIO(data), "CPU", _config(request))
        return _Executable(compiled, request, results)

    def compile(self, request: CompileRequest) -> Executable:
        """The region as an OpenVINO model, compiled."""
        graph, results = _as_model(request)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "region.pb"
            write_graph(graph, path)
            model = _core().read_model(path)
        compiled = _core().compile_model(model, "CPU", _config(request))
        return _Executable(compiled, request, results)


def _config(request: CompileRequest) -> dict[str, Any]:
    found: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    if request.threads:
        found["INFERENCE_NUM_THREADS"] = request.threads
    return found


@cache
def _core() -> Any:
    import openvino

    return openvino.Core()


def _as_model(request: CompileRequest) -> tuple[Graph, list[str | int]]:
    """The body as a frozen graph: constants and weights as such, other inputs as placeholders.

    Its results: the names of tensors, or numbers of inputs that are handed through.
    """
    graph = with_arguments(request, freezes=True)
    for node in list(graph):
        if node.op in FUSED:
            unfuse(graph, node)
    graph.functions = FunctionLibrary()
    places = {node: k for k, node in enumerate(request.body.args)}
    results: list[str | int] = []
    for node in request.body.results:
        source = node.inputs[0][0]
        while source.op == "Identity":
            source = source.inputs[0][0]
        if source in places:  # handed through: no output of a model would have that name
            results.append(places[source])
            graph.remove(node)
            continue
        graph.remove_attr(node, "index")
        graph.set_op(node, "Identity")
        results.append(f"{node.name}:0")
    return graph, results


class _Executable:
    """A compiled model with one infer request."""

    def __init__(
        self, compiled: Any, request: CompileRequest, results: Sequence[str | int]
    ) -> None:
        self.compiled = compiled
        self.request = compiled.create_infer_request()
        known = {name: k for k, port in enumerate(compiled.inputs) for name in port.get_names()}
        self.feeds = [
            (k, known[arg.name if arg.name in known else f"{arg.name}:0"])
            for k, (arg, given) in enumerate(zip(request.body.args, request.inputs, strict=True))
            if given.value is None and (arg.name in known or f"{arg.name}:0" in known)
        ]
        places = {name: k for k, port in enumerate(compiled.outputs) for name in port.get_names()}
        self.results = [(r, True) if isinstance(r, int) else (places[r], False) for r in results]

    def __call__(self, inputs: Sequence[np.ndarray[Any, Any]]) -> Sequence[np.ndarray[Any, Any]]:
        given = {place: _shareable(inputs[k]) for k, place in self.feeds}
        self.request.infer(given, share_inputs=True)
        return [
            inputs[place] if handed else self.request.get_output_tensor(place).data.copy()
            for place, handed in self.results
        ]


def _shareable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """OpenVINO refuses to look at memory that it must not write to."""
    return array if array.flags.writeable else array.copy()
