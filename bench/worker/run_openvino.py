"""OpenVINO: TensorFlow's file where its own frontend takes it, else ONNX; one stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.worker._form import Array, NoForm, Prepared, choose

__all__ = ["prepare", "start"]


PRECISION = {"float32": "f32", "bfloat16": "bf16"}


def start() -> None:
    """Import it."""
    import openvino  # noqa: F401


def prepare(case: Mapping[str, Any], threads: int) -> Prepared:
    """Read, give inputs the shapes of the fed arrays, compile; a request with bound tensors."""
    import openvino

    if case["train_op"]:
        raise NoForm("does not train")
    core = openvino.Core()
    model = _read(openvino, core, case)
    inputs = [_port(model.inputs, name) for name in case["inputs"]]
    outputs = [_port(model.outputs, name) for name in case["outputs"]]
    with np.load(case["arrays"], allow_pickle=False) as data:
        shapes = [data[key].shape for key in case["inputs"].values()]
    if any(port.partial_shape.is_dynamic for port in inputs):
        pairs = zip(inputs, shapes, strict=True)
        model.reshape({port: openvino.PartialShape(list(shape)) for port, shape in pairs})
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False,
                "INFERENCE_PRECISION_HINT": PRECISION[case["precision"]]}  # fmt: skip
    order = [model.inputs.index(port) for port in inputs]
    wanted = [model.outputs.index(port) for port in outputs]
    request = core.compile_model(model, "CPU", settings).create_infer_request()

    def run(*arrays: Array) -> list[Array]:
        for index, array in zip(order, arrays, strict=True):
            request.set_input_tensor(index, openvino.Tensor(array, shared_memory=True))
        request.infer()
        return [request.get_output_tensor(index).data for index in wanted]

    return run, None


def _read(openvino: Any, core: Any, case: Mapping[str, Any]) -> Any:
    """The model; as ONNX where the frontend for TensorFlow's files refuses it."""
    form, file = choose(case, "graphdef", "savedmodel", "onnx")
    try:
        if form == "graphdef":
            return openvino.convert_model(file, output=list(case["outputs"]))
        return core.read_model(file)
    except Exception:
        if form == "onnx" or "onnx" not in case["forms"]:
            raise
        return core.read_model(case["forms"]["onnx"])


def _port(ports: list[Any], name: str) -> Any:
    """The input or output of that tensor name; the only one, where it has lost its name.

    A SavedModel's ports are named after the arguments of its signature.
    """
    known = {name, name.removesuffix(":0"), name.removesuffix(":0").partition("_default_")[2]}
    for port in ports:
        if known & set(port.names):
            return port
    if len(ports) == 1:
        return ports[0]
    raise LookupError(f"the converted model has no {name}")
