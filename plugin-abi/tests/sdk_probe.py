"""The C++ SDK for tests: plugins/sdk_probe.cc, called through ctypes, and random graphs."""

from __future__ import annotations

import ctypes
import random
from functools import cache

from compiling import compile_library

from drystone_abi.protos import AttrValue, DataType, GraphDef, NodeDef, TensorProto

__all__ = ["Probe", "attr_value", "probe", "random_graph"]

CLEAN = ("-std=c++17", "-fno-exceptions", "-fno-rtti", "-O1", "-Wconversion", "-Wshadow")


class Probe:
    """Functions of the probe library, on bytes."""

    def __init__(self, *flags: str) -> None:
        self._library = ctypes.CDLL(str(compile_library("sdk_probe.cc", flags=[*CLEAN, *flags])))

    def call(self, name: str, graph: bytes, *texts: bytes) -> bytes:
        """Call ``probe_NAME(graph, size, *texts, &length)``."""
        function = getattr(self._library, f"probe_{name}")
        function.restype = ctypes.c_void_p
        length = ctypes.c_size_t()
        size = ctypes.c_size_t(len(graph))
        pointer = ctypes.c_void_p(function(graph, size, *texts, ctypes.byref(length)))
        assert pointer.value
        try:
            return ctypes.string_at(pointer.value, length.value)
        finally:
            self._library.probe_free(pointer)

    def edit(self, graph: bytes, script: str) -> tuple[bytes, str, list[str]]:
        """New bytes, how reads through the edit differ from them, and what commands failed."""
        answer = self.call("edit", graph, script.encode())
        size, _, rest = answer.partition(b"\n")
        assert size.isdigit(), answer
        difference, _, errors = rest[int(size) :].decode().partition("\n")
        return rest[: int(size)], difference, errors.splitlines()


@cache
def probe() -> Probe:
    """The probe, compiled as strictly as a plugin may be."""
    return Probe()


def random_tensor(rng: random.Random) -> TensorProto:
    """A constant in one of the ways that TensorProto has."""
    tensor = TensorProto(dtype=DataType.Name(rng.choice([1, 2, 3, 4, 9, 10])))
    for _ in range(rng.randrange(3)):
        tensor.tensor_shape.dim.add(size=rng.randrange(4))
    field = {1: "float_val", 2: "double_val", 3: "int_val", 4: "int_val", 9: "int64_val"}
    values = getattr(tensor, field.get(tensor.dtype, "bool_val"))
    values.extend(rng.choices([0, 1, 5], k=rng.randrange(4)))
    if rng.random() < 0.2:
        tensor.tensor_content = rng.randbytes(rng.randrange(20))
    return tensor


def attr_value(rng: random.Random) -> AttrValue:
    """An attribute of a random kind."""
    value = AttrValue()
    kind = rng.randrange(11)
    if kind == 0:
        value.s = rng.randbytes(rng.randrange(9))
    elif kind == 1:
        value.i = rng.choice([0, 1, -1, 2**62, -(2**63)])
    elif kind == 2:
        value.f = rng.choice([0.0, 0.1, -3.5])
    elif kind == 3:
        value.b = rng.random() < 0.5
    elif kind == 4:
        value.type = rng.choice([DataType.DT_FLOAT, DataType.DT_HALF, DataType.DT_FLOAT_REF])
    elif kind == 5:
        value.shape.unknown_rank = rng.random() < 0.3
        for _ in range(0 if value.shape.unknown_rank else rng.randrange(3)):
            value.shape.dim.add(size=rng.randrange(-3, 9))
    elif kind == 6:
        value.tensor.CopyFrom(random_tensor(rng))
    elif kind == 7:
        value.placeholder = "from_function"
    elif kind == 8:
        value.func.name = "f" * rng.randrange(4)
    elif kind == 9:
        fill_list(rng, value)
    return value


def fill_list(rng: random.Random, value: AttrValue) -> None:
    """Several elements of several kinds."""
    some = value.list
    some.s.extend(rng.randbytes(2) for _ in range(rng.randrange(3)))
    some.i.extend(rng.choices([0, -1, 300], k=rng.randrange(3)))
    some.f.extend(rng.choices([0.5, -1.0], k=rng.randrange(3)))
    some.b.extend(rng.choices([True, False], k=rng.randrange(3)))
    some.type.extend(rng.choices([DataType.DT_FLOAT, DataType.DT_UINT64], k=rng.randrange(3)))
    for _ in range(rng.randrange(2)):
        some.shape.add().dim.add(size=2)
        some.tensor.add().CopyFrom(random_tensor(rng))
        some.func.add(name="g")
    some.SetInParent()


def random_graph(rng: random.Random, nodes: int) -> GraphDef:
    """Nodes that read earlier ones, with attributes, devices, functions and unknown fields."""
    graph = GraphDef()
    names: list[str] = []
    for number in range(nodes):
        name = rng.choice(["n", "scope/n", "n:x", "é"]).replace(":", "_") + str(number)
        node = graph.node.add(name=name, op=rng.choice(["MatMul", "Add", "Identity", "Switch"]))
        if names:
            ports = (rng.choice(["", "", ":0", ":1", ":12"]) for _ in range(rng.randrange(4)))
            node.input.extend(rng.choice(names) + port for port in ports)
            waits = sorted({rng.choice(names) for _ in range(rng.randrange(3))})
            node.input.extend("^" + wait for wait in waits)
        if rng.random() < 0.5:
            node.device = "/device:CPU:0"
        for attr in range(rng.randrange(4)):
            node.attr[f"a{attr}"].CopyFrom(attr_value(rng))
        node.experimental_debug_info.original_node_names.append("before")
        names.append(name)
    for number in range(rng.randrange(3)):
        function = graph.library.function.add()
        function.signature.name = f"function{number}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        function.node_def.append(NodeDef(name="inner", op="Neg", input=["x"]))
        function.ret["y"] = "inner:y:0"
    graph.versions.producer = 1882
    return graph
