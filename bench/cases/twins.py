"""The synthetic cases as ONNX models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["write_chain", "write_loop"]

OPSET = 17
IR_VERSION = 8
ONNX_OPS = {"AddV2": "Add", "Mul": "Mul", "Sub": "Sub", "Maximum": "Max"}


def write_chain(file: Path, length: int, ops: tuple[str, ...] = ("AddV2",)) -> None:
    """What ``graphs.chain`` gives."""
    from onnx import TensorProto, helper

    nodes, last = [], "x:0"
    for k in range(length):
        op = ops[k % len(ops)]
        out = "out:0" if k == length - 1 else f"node_{k}"
        if op == "Square":
            nodes.append(helper.make_node("Mul", [last, last], [out]))
        else:
            inputs = [last, "y:0"] if op in ONNX_OPS else [last]
            nodes.append(helper.make_node(ONNX_OPS.get(op, op), inputs, [out]))
        last = out
    x, y, out = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4])
                 for name in ("x:0", "y:0", "out:0"))  # fmt: skip
    _save(file, helper.make_graph(nodes, "chain", [x, y], [out]))


def write_loop(file: Path) -> None:
    """What ``graphs.loop_of_functions`` gives."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["k", "one"], ["k_next"]),
         helper.make_node("Less", ["k_next", "limit:0"], ["again_next"])],
        "body",
        [value("number", TensorProto.INT64, []), value("again", TensorProto.BOOL, []),
         value("k", TensorProto.INT32, [])],
        [value("again_next", TensorProto.BOOL, []), value("k_next", TensorProto.INT32, [])],
        [numpy_helper.from_array(np.array(1, np.int32), "one")],
    )  # fmt: skip
    nodes = [helper.make_node("Less", ["zero", "limit:0"], ["enter"]),
             helper.make_node("Loop", ["", "enter", "zero"], ["out:0"], body=body)]  # fmt: skip
    zero = numpy_helper.from_array(np.array(0, np.int32), "zero")
    inputs = [value("limit:0", TensorProto.INT32, [])]
    outputs = [value("out:0", TensorProto.INT32, [])]
    _save(file, helper.make_graph(nodes, "loop", inputs, outputs, [zero]))


def _save(file: Path, graph: Any) -> None:
    from onnx import checker, helper

    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = IR_VERSION
    checker.check_model(model)
    file.write_bytes(model.SerializeToString())
