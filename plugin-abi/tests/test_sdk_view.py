"""GraphView against protobuf: what one reads, the other reads, and bad bytes are errors.

S0-helpers.
"""

from __future__ import annotations

import random
import struct

import pytest
from sdk_probe import Probe, probe, random_graph

from drystone_abi.protos import AttrValue, FunctionDef, GraphDef, TensorProto, TensorShapeProto

FIELDS = {1: "float_val", 2: "double_val", 3: "int_val", 4: "int_val", 9: "int64_val"}
FORMATS = {1: "f", 2: "d", 3: "i", 4: "B", 9: "q", 10: "?"}


def hexed(text: str | bytes) -> str:
    return "x" + (text.encode() if isinstance(text, str) else text).hex()


def bracketed(values: object, text: object = str) -> str:
    return "[" + "".join(f"{text(v)}," for v in values) + "]"  # type: ignore[attr-defined, operator]


def dims(shape: TensorShapeProto) -> str:
    return "?" if shape.unknown_rank else bracketed(dim.size for dim in shape.dim)


def real(value: float) -> str:
    return f"{value:.17g}"


def constant(tensor: TensorProto) -> str:
    count = 1
    for dim in tensor.tensor_shape.dim:
        count *= dim.size
    out = f"{tensor.dtype}{dims(tensor.tensor_shape)}"
    form = FORMATS[tensor.dtype]
    if tensor.tensor_content:
        if len(tensor.tensor_content) != count * struct.calcsize(form):
            return out
        values = list(struct.unpack(f"<{count}{form}", tensor.tensor_content))
        if tensor.dtype == 10:
            values = [byte != 0 for byte in tensor.tensor_content]
    else:
        listed = list(getattr(tensor, FIELDS.get(tensor.dtype, "bool_val")))[:count]
        values = listed + [listed[-1] if listed else 0] * (count - len(listed))
    return out + bracketed(values, real if tensor.dtype in (1, 2) else int)


def attr(value: AttrValue) -> str:
    kind = value.WhichOneof("value")
    if kind == "list":
        some = value.list
        return (
            f"list s{bracketed(some.s, hexed)}i{bracketed(some.i)}f{bracketed(some.f, real)}"
            f"b{bracketed(some.b, int)}type{bracketed(some.type)}shape{bracketed(some.shape, dims)}"
            f"tensor{bracketed(some.tensor, constant)}"
            f"func{bracketed((f.name for f in some.func), hexed)}"
        )
    if kind is None:
        return "none"
    texts = {"s": hexed, "i": str, "f": real, "b": int, "type": str, "shape": dims}
    texts |= {"tensor": constant, "placeholder": hexed, "func": lambda f: hexed(f.name)}
    return f"{kind} {texts[kind](getattr(value, kind))}"  # type: ignore[operator]


def function_line(function: FunctionDef) -> str:
    signature = function.signature
    out = f"function {hexed(signature.name)} "
    for args in (signature.input_arg, signature.output_arg):
        out += bracketed(args, lambda arg: f"{hexed(arg.name)}{arg.type}")
    out += "".join(f" {hexed(node.name)}{hexed(node.op)}" for node in function.node_def)
    return out + "".join(f" {hexed(k)}={hexed(v)}" for k, v in function.ret.items())


def source(text: str) -> tuple[str, int]:
    if text.startswith("^"):
        return text[1:], -1
    name, colon, port = text.rpartition(":")
    return (name, int(port)) if colon else (text, 0)


def expected(graph: GraphDef) -> list[str]:
    ids = {node.name: number for number, node in enumerate(graph.node)}
    outs: list[list[str]] = [[] for _ in graph.node]
    for number, node in enumerate(graph.node):
        for index, text in enumerate(node.input):
            outs[ids[source(text)[0]]].append(f" {number}:{index}")
    lines = []
    for number, node in enumerate(graph.node):
        reads = [source(text) for text in node.input]
        lines.append(
            f"node {hexed(node.name)} {hexed(node.op)} {hexed(node.device)}"
            + "".join(f" {ids[name]}:{port}" for name, port in reads)
            + f" regular {sum(port >= 0 for _, port in reads)} to{''.join(outs[number])}"
        )
        lines += sorted(f"attr {hexed(key)} {attr(value)}" for key, value in node.attr.items())
    return lines + [function_line(function) for function in graph.library.function]


def listing(graph: bytes, tool: Probe | None = None) -> list[str]:
    """Lines of the probe, attributes of each node sorted: a map has no order."""
    lines = (tool or probe()).call("list", graph).decode().splitlines()
    out: list[str] = []
    attrs: list[str] = []
    for line in [*lines, ""]:
        if line.startswith("attr "):
            attrs.append(line)
            continue
        out += [*sorted(attrs), line]
        attrs = []
    return out[:-1]


@pytest.mark.parametrize("seed", range(60))
def test_view_reads_what_protobuf_reads(seed: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng, rng.randrange(40))
    assert listing(graph.SerializeToString()) == expected(graph)


@pytest.mark.parametrize("seed", range(20))
def test_view_of_two_messages_in_a_row_is_their_merge(seed: int) -> None:
    rng = random.Random(seed)
    first, second = random_graph(rng, 10), GraphDef()
    second.node.add(name="late", op="Neg", input=[first.node[0].name])
    second.library.function.add().signature.name = "late"
    both = first.SerializeToString() + second.SerializeToString()
    assert listing(both) == expected(GraphDef.FromString(both))


def test_fields_of_another_wire_type_are_unknown_fields() -> None:
    node = b"\x0a\x01a" + b"\x12\x03Neg" + b"\x08\x05" + b"\x10\x07" + b"\x18\x01"
    graph = b"\x0a" + bytes([len(node)]) + node + b"\x08\x01"
    assert expected(GraphDef.FromString(graph)) == listing(graph)


def test_last_of_two_attributes_and_of_two_kinds_counts() -> None:
    entries = b""
    for value in (AttrValue(i=1), AttrValue(s=b"two")):
        entry = b"\x0a\x01k" + b"\x12" + bytes([value.ByteSize()]) + value.SerializeToString()
        entries += b"\x2a" + bytes([len(entry)]) + entry
    graph = GraphDef.FromString(b"\x0a" + bytes([len(entries) + 3]) + b"\x0a\x01a" + entries)
    assert graph.node[0].attr["k"].s == b"two"
    both = AttrValue(i=1).SerializeToString() + AttrValue(f=0.5).SerializeToString()
    assert attr(AttrValue.FromString(both)) == "f 0.5"
    two_kinds = GraphDef()
    two_kinds.node.add(name="a").attr["k"].MergeFromString(both)
    assert listing(two_kinds.SerializeToString())[1] == "attr x6b f 0.5"


def graph_of(*nodes: tuple[str, list[str]]) -> bytes:
    graph = GraphDef()
    for name, inputs in nodes:
        graph.node.add(name=name, op="NextIteration" if name == "next" else "Merge", input=inputs)
    return graph.SerializeToString()


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (b"\xff", "the bytes of the graph are no GraphDef"),
        (b"\x0a\x05ab", "the bytes of the graph are no GraphDef"),
        (b"\x0a\x02\x0a\x09", "node 0 of the graph, '', is no NodeDef"),
        (b"\x12\x01\x0a", "the function library of the graph is malformed"),
        (graph_of(("", [])), "node 0 is called '', which is no name for a node"),
        (graph_of(("a:1", [])), "node 0 is called 'a:1', which is no name for a node"),
        (graph_of(("^a", [])), "node 0 is called '^a', which is no name for a node"),
        (graph_of(("a", []), ("a", [])), "the graph has two nodes named 'a'"),
        (graph_of(("a", ["b"])), "input 'b' of node 'a' names no node"),
        (graph_of(("a", ["a:x"])), "input 'a:x' of node 'a' names no node"),
        (graph_of(("a", ["a:99999999999"])), "input 'a:99999999999' of node 'a' names no node"),
        (graph_of(("a", ["^"])), "input '^' of node 'a' names no node"),
        (graph_of(("a", ["^a", "a"])), "node 'a' has a data input after a control input"),
        (graph_of(("a\n", ["\x01"])), "input '?' of node 'a?' names no node"),
    ],
)
def test_what_is_no_graph_is_an_error_that_names_the_node(graph: bytes, message: str) -> None:
    assert probe().call("list", graph).decode() == f"error 3 {message}"


@pytest.mark.parametrize("seed", range(10))
def test_topological_order(seed: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng, 50)
    nodes = list(graph.node)
    rng.shuffle(nodes)
    shuffled = GraphDef(node=nodes)
    answer = probe().call("order", shuffled.SerializeToString()).decode()
    order = [int(one) for one in answer.strip("[,]").split(",")]
    assert sorted(order) == list(range(50))
    place = {nodes[node_id].name: at for at, node_id in enumerate(order)}
    for node in nodes:
        assert all(place[source(text)[0]] < place[node.name] for text in node.input)


def test_topological_order_goes_through_loops_and_refuses_cycles() -> None:
    loop = graph_of(("enter", []), ("merge", ["enter", "next"]), ("next", ["merge"]))
    assert probe().call("order", loop) == b"[0,1,2,]"
    cycle = graph_of(("a", ["b"]), ("b", ["a"]), ("c", []))
    answer = probe().call("order", cycle).decode()
    assert answer == "error 3 the graph has a cycle through, or before, node 'a'"


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("seed", [7, 8, 9])
def test_damaged_bytes_never_harm(seed: int) -> None:
    # Any number may arrive as a dtype, among them those of reference types: enums are not checked.
    flags = ("-fsanitize=undefined", "-fno-sanitize=enum", "-fno-sanitize-recover=undefined")
    checked = Probe(*flags, "-O0")
    rng = random.Random(seed)
    outcomes = set()
    for _ in range(1000):
        data = bytearray(random_graph(rng, 4).SerializeToString())
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        del data[rng.choice([len(data), rng.randrange(len(data))]) :]
        outcomes.add(checked.call("list", bytes(data))[:5])
        for name in ("order", "edit"):
            script = (b"bypass 0\nremove 1\nrename 0 x6162",) if name == "edit" else ()
            checked.call(name, bytes(data), *script)
    assert {b"node ", b"error"} <= outcomes
