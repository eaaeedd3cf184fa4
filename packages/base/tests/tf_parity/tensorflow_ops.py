"""Run in a process of its own: what TensorFlow makes of op definitions and shape functions in C.

``python tensorflow_ops.py define`` reads JSON lines {name, attrs, inputs, outputs} and writes one
JSON line each: the definition in hex, or null where TensorFlow refuses (it ends the process then,
so each is tried in a child). ``python tensorflow_ops.py shapes LIBRARY`` prints the log of
ops_shape_log.c.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import op_def_registry

SHAPES: Sequence[Sequence[int | None] | None] = ([3, None, 5], None, [], [2])


def framework() -> ctypes.CDLL:
    """TensorFlow's C interface, for all libraries."""
    file = Path(tf.__file__).parent / "libtensorflow_framework.so.2"
    library = ctypes.CDLL(str(file), mode=ctypes.RTLD_GLOBAL)
    library.TF_NewOpDefinitionBuilder.restype = ctypes.c_void_p
    library.TF_NewStatus.restype = ctypes.c_void_p
    return library


def define(library: ctypes.CDLL, case: Mapping[str, Any]) -> str:
    """The definition that TensorFlow registers, in hex."""
    builder = ctypes.c_void_p(library.TF_NewOpDefinitionBuilder(case["name"].encode()))
    for kind in ("Attr", "Input", "Output"):
        for spec in case[f"{kind.lower()}s"]:
            getattr(library, f"TF_OpDefinitionBuilderAdd{kind}")(builder, spec.encode())
    library.TF_RegisterOpDefinition(builder, ctypes.c_void_p(library.TF_NewStatus()))
    found: bytes = op_def_registry.get(case["name"]).SerializeToString(deterministic=True)
    return found.hex()


def in_child(library: ctypes.CDLL, case: Mapping[str, Any]) -> str | None:
    """The same from a child process; None where that ends."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writer, define(library, case).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text or None


def shape_log(library_file: str) -> str:
    """What the shape function of ops_shape_log.c writes for inputs of ``SHAPES``."""
    plugin = ctypes.CDLL(library_file)
    plugin.shape_log.restype = ctypes.c_char_p
    plugin.TF_InitKernel()
    with tf.Graph().as_default() as graph:
        inputs = [tf.compat.v1.placeholder(tf.float32, shape) for shape in SHAPES]
        attrs = {
            "T": attr_value_pb2.AttrValue(type=1),
            "D": attr_value_pb2.AttrValue(type=19),
            "N": attr_value_pb2.AttrValue(i=len(inputs)),
        }
        graph.create_op("ShapeLog", inputs, [tf.float32], name="n", attrs=attrs)
    text: bytes = plugin.shape_log()
    return text.decode()


def main() -> None:
    """See the top of the file."""
    library = framework()
    op_def_registry.get("NoOp")  # the registry is ready now
    if sys.argv[1] == "shapes":
        print(shape_log(sys.argv[2]), end="")
        return
    for line in sys.stdin:
        print(json.dumps(in_child(library, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
