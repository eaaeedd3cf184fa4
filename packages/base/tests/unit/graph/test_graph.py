"""The graph: reading, looking, editing, writing."""

import math
import random
import time

import numpy as np
import pytest

from drystone_abi.protos import FunctionDef, GraphDef
from drystone_base.core import dtypes
from drystone_base.core.errors import BadModelFile, GraphError
from drystone_base.graph import (
    FunctionLibrary,
    Graph,
    Node,
    conditional_nodes,
    from_text,
    needed_nodes,
    reachable,
    to_text,
    topological_order,
    validate,
)
from drystone_base.graph._wire import LARGE
from drystone_base.graph.rewiring import merge, replace, splice_out
from drystone_base.graph.validate import Signatures
from drystone_base.ops.attrs import TensorAttr

TEXT = """
node { name: "sum" op: "AddV2" input: "a" input: "b:0" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "a" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "b" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "after" op: "NoOp" input: "^sum" }
versions { producer: 27 }
"""


def chain(length: int) -> Graph:
    graph = Graph()
    node = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32})
    for k in range(length):
        node = graph.add("Neg", f"n{k}", [node], attrs={"T": dtypes.FLOAT32})
    return graph


def test_nodes_may_come_in_any_order() -> None:
    graph = from_text(TEXT)
    total = graph["sum"]
    assert [n.name for n, _ in total.inputs] == ["a", "b"]
    assert [n.name for n in graph["after"].controls] == ["sum"]
    assert [n.name for n in topological_order(graph)] == ["a", "b", "sum", "after"]


def test_round_trip_keeps_bytes_and_text() -> None:
    data = from_text(TEXT).to_bytes()
    again = Graph.from_bytes(data)
    assert again.to_bytes() == data
    assert to_text(again) == to_text(Graph.from_proto(GraphDef.FromString(data)))


def test_unknown_fields_survive() -> None:
    proto = from_text(TEXT).to_proto()
    unknown = b"\xc2\x3e\x03abc"  # field 1000, three bytes
    data = GraphDef.FromString(proto.SerializeToString() + unknown).SerializeToString()
    node = proto.node[0].SerializeToString() + unknown
    data += b"\x0a" + bytes([len(node)]) + node.replace(b"\x03sum", b"\x03two")
    written = Graph.from_bytes(data).to_bytes()
    assert written.count(unknown) == 2


def test_large_constant_is_not_copied() -> None:
    graph = Graph()
    values = np.arange(LARGE, dtype=np.float32)
    graph.add("Const", "c", attrs={"dtype": dtypes.FLOAT32, "value": TensorAttr(array=values)})
    data = bytearray(graph.to_bytes())
    again = Graph.from_bytes(data)
    array = again["c"].attr("value").array
    np.testing.assert_array_equal(array, values)
    at = bytes(data).find(values[100:116].tobytes())
    data[at : at + 4] = np.float32(-1).tobytes()
    assert array[100] == -1, "the array must be a view of the file's bytes"
    assert not array.flags.writeable or array.base is not None
    assert again.to_bytes() == bytes(data)
    assert again.copy().to_bytes() == bytes(data)


def test_editing_keeps_fan_in_and_fan_out() -> None:
    graph = chain(3)
    n0, n1, n2 = graph["n0"], graph["n1"], graph["n2"]
    assert graph.consumers(n0) == [(n1, 0)]
    twin = graph.add("Neg", "twin", [n0], attrs={"T": dtypes.FLOAT32})
    assert graph.redirect((n1, 0), (twin, 0)) == 1
    assert n2.inputs == ((twin, 0),)
    assert graph.consumers(n1) == []
    graph.remove(n1)
    assert "n1" not in graph
    assert graph.consumers(n0) == [(twin, 0)]
    graph.add_control(n2, graph["x"])
    assert graph.control_consumers(graph["x"]) == [n2]
    graph.rename(twin, "double")
    assert list(graph.to_proto().node[-2].input) == ["double", "^x"] or any(
        list(n.input) == ["double", "^x"] for n in graph.to_proto().node
    )
    validate(graph)


def test_removing_a_used_node_is_refused() -> None:
    graph = chain(2)
    with pytest.raises(GraphError, match="a removed node must have no fan-out") as caught:
        graph.remove(graph["n0"])
    assert caught.value.code == "node-in-use"
    assert "'n1' reads it" in str(caught.value)


def test_duplicate_names_are_refused() -> None:
    with pytest.raises(GraphError, match="two nodes are named 'a'") as caught:
        from_text(TEXT + 'node { name: "a" op: "NoOp" }')
    assert caught.value.code == "duplicate-node"


def test_missing_inputs_are_refused_with_near_matches() -> None:
    text = TEXT + 'node { name: "z" op: "Neg" input: "summ" }'
    with pytest.raises(GraphError, match="did you mean sum") as caught:
        from_text(text)
    assert caught.value.code == "missing-input"


def test_a_cycle_is_named() -> None:
    text = """
    node { name: "a" op: "Neg" input: "b" } node { name: "b" op: "Neg" input: "a" }
    """
    with pytest.raises(GraphError, match="cycle of 2 nodes") as caught:
        topological_order(from_text(text))
    assert caught.value.code == "graph-cycle"
    assert "->" in caught.value.found


def test_a_loop_has_an_order() -> None:
    text = """
    node { name: "e" op: "Enter" input: "x" } node { name: "x" op: "Placeholder" }
    node { name: "m" op: "Merge" input: "e" input: "n" } node { name: "n" op: "NextIteration" input:
    "m" }
    """
    assert [n.name for n in topological_order(from_text(text))] == ["x", "e", "m", "n"]


def test_reachable_stops_at_feeds() -> None:
    graph = chain(5)
    found = reachable([graph["n4"]], fed={(graph["n2"], 0)})
    assert [n.name for n in found] == ["n4", "n3"]


@pytest.mark.parametrize(
    ("target", "fed", "expected"),
    [
        ("waits", ("pair", 0), ["waits"]),
        ("reads", ("pair", 1), ["reads", "pair", "a"]),
        ("reads", ("pair", 0), ["reads"]),
        ("both", ("pair", 0), ["both", "pair", "a"]),
        ("pair", ("pair", 0), ["pair", "a"]),
        ("after", ("pair", 0), ["after", "waits"]),
    ],
)
def test_needed_nodes(target: str, fed: tuple[str, int], expected: list[str]) -> None:
    """A node with a fed output runs for its other outputs, and nothing else waits for it."""
    graph = from_text("""
    node { name: "a" op: "Const" }
    node { name: "pair" op: "IdentityN" input: "a" input: "a" }
    node { name: "waits" op: "NoOp" input: "^pair" }
    node { name: "reads" op: "Neg" input: "pair" }
    node { name: "both" op: "Add" input: "pair" input: "pair:1" }
    node { name: "after" op: "NoOp" input: "^waits" input: "^pair" }
    """)
    assert list(needed_nodes([graph[target]], {(graph[fed[0]], fed[1])})) == [
        graph[name] for name in expected
    ]


@pytest.mark.parametrize(
    ("inputs", "attr", "code"),
    [
        ("a", "", "missing-attr"),
        ("a", "i: 1", "bad-attr"),
        ("a", "type: DT_STRING", "bad-attr"),
        ("a", "type: DT_FLOAT_REF", "bad-attr"),
        ("", "type: DT_FLOAT", "wrong-fan-in"),
        ("a", "type: DT_HALF", "dtype-mismatch"),
        ("a:3", "type: DT_FLOAT", "bad-output-index"),
    ],
)
def test_invalid_nodes(inputs: str, attr: str, code: str) -> None:
    fan_in = f'input: "{inputs}"' if inputs else ""
    given = f'attr {{ key: "T" value {{ {attr} }} }}' if attr else ""
    with pytest.raises(GraphError) as caught:
        validate(from_text(TEXT + f'node {{ name: "z" op: "Neg" {fan_in} {given} }}'))
    assert caught.value.code == code
    assert "'z'" in caught.value.what


@pytest.mark.parametrize(
    ("op", "attrs"),
    [
        ("Const", "key: 'dtype' value { type: DT_FLOAT_REF }"),
        ("Placeholder", "key: 'dtype' value { type: DT_FLOAT_REF }"),
        ("Unstage", "key: 'dtypes' value { list { type: DT_HALF type: DT_INT32_REF } }"),
    ],
)
def test_attributes_are_no_references(op: str, attrs: str) -> None:
    value = "attr { key: 'value' value { tensor { dtype: DT_FLOAT_REF float_val: 1 } } }"
    given = value if op == "Const" else ""
    node = f'node {{ name: "z" op: "{op}" {given} attr {{ {attrs} }} }}'
    with pytest.raises(GraphError, match="must not be a reference type"):
        validate(from_text(node))


def test_unknown_ops_load_and_validate() -> None:
    graph = from_text(TEXT + 'node { name: "z" op: "NobodyKnows" input: "a" }')
    validate(graph)
    assert 'op: "NobodyKnows"' in to_text(graph)


def test_truncated_bytes_are_refused() -> None:
    data = from_text(TEXT).to_bytes()
    for cut in (1, 7, len(data) // 2, len(data) - 1):
        with pytest.raises(BadModelFile) as caught:
            Graph.from_bytes(data[:cut])
        assert caught.value.code == "bad-graphdef"


def test_pbtxt_errors_name_the_line() -> None:
    with pytest.raises(BadModelFile, match="2:") as caught:
        from_text("node {\n  name 3 }")
    assert caught.value.code == "bad-pbtxt"


def test_attribute_edits_survive_a_round_trip() -> None:
    graph = from_text(TEXT)
    graph.set_attr(graph["a"], "shape", (2, -1))
    graph.set_device(graph["sum"], "/CPU:0")
    again = Graph.from_bytes(graph.to_bytes())
    assert again["a"].attr("shape") == (2, -1)
    assert again["sum"].device == "/CPU:0"
    assert again["b"].attr("shape") is None


def test_nodes_of_branches_and_loops_are_conditional() -> None:
    text = """
    node { name: "x" op: "Placeholder" } node { name: "p" op: "Placeholder" }
    node { name: "s" op: "Switch" input: "x" input: "p" } node { name: "t" op: "Neg" input: "s:1" }
    node { name: "f" op: "Neg" input: "s" } node { name: "m" op: "Merge" input: "f" input: "t" }
    node { name: "e" op: "Enter" input: "m" }
    node { name: "lm" op: "Merge" input: "e" input: "n" }
    node { name: "c" op: "LoopCond" input: "p2" } node { name: "p2" op: "Enter" input: "p" }
    node { name: "ls" op: "Switch" input: "lm" input: "c" }
    node { name: "n" op: "NextIteration" input: "ls:1" } node { name: "out" op: "Exit" input: "ls" }
    """
    inside = {n.name for n in conditional_nodes(from_text(text))}
    assert inside == {"s", "t", "f", "e", "lm", "c", "p2", "ls", "n"}


def test_equal_attributes_of_other_types_are_told_apart() -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32})
    attrs = {"T": dtypes.FLOAT32, "alpha": 0.0}
    graph.add("LeakyRelu", "a", [x], attrs=attrs)
    graph.add("LeakyRelu", "b", [x], attrs=attrs)
    graph.add("LeakyRelu", "c", [x], attrs=attrs | {"alpha": -0.0})
    signatures = Signatures()
    a, b, c = (signatures.of(graph[name]) for name in "abc")
    assert a is b
    assert c is not None
    assert math.copysign(1, c.attrs["alpha"]) == -1
    graph.add("Pack", "one", [x], attrs={"T": dtypes.FLOAT32, "N": 1})
    validate(graph)
    graph.add("Pack", "true", [x], attrs={"T": dtypes.FLOAT32, "N": True})
    with pytest.raises(GraphError, match="attribute 'N' must be of its declared type"):
        validate(graph)


def test_node_is_as_read_until_it_is_changed() -> None:
    made = Graph()
    made.add("NoOp", "a")
    made.add("NoOp", "b", controls=[made["a"]])
    data = made.to_bytes()
    one, other = Graph.from_bytes(data), Graph.from_bytes(data)
    assert one["b"].is_as_read(other["b"])
    assert one["b"].is_as_read(one.copy()["b"])
    assert not one["a"].is_as_read(other["b"])
    assert not made["a"].is_as_read(one["a"])
    other.set_device(other["b"], "/device:CPU:0")
    assert not one["b"].is_as_read(other["b"])


def users_by_index(graph: Graph) -> dict[str, list[str]]:
    return {node.name: sorted(user.name for user in graph.users(node)) for node in graph}


def test_merged_replaced_and_taken_out_nodes_leave_the_fan_out_right() -> None:
    graph = chain(5)
    x, n = graph["x"], [graph[f"n{k}"] for k in range(5)]
    graph.set_controls(n[4], [n[1]])
    twin = graph.add("Neg", "twin", [x], attrs={"T": dtypes.FLOAT32})
    assert users_by_index(graph)["n1"] == ["n2", "n4"]
    merge(graph, {n[1]: twin})
    assert (n[2].inputs, n[4].controls, "n1" in graph) == (((twin, 0),), (twin,), False)
    replace(graph, n[4], "AddV2", [(n[3], 0), (x, 0)], {"T": dtypes.FLOAT32}, [])
    assert (n[4].op, n[4].controls, n[4].attrs) == ("AddV2", (), {"T": dtypes.FLOAT32})
    journal: list[Node] = []
    graph.journal = journal
    splice_out(graph, {n[3]: (n[2], 0), n[2]: (twin, 0)})
    assert n[4].inputs == ((twin, 0), (x, 0))
    assert journal == [n[4], twin]
    again = Graph.from_bytes(graph.to_bytes())
    wanted = {"x": ["n0", "n4", "twin"], "n0": [], "twin": ["n4"], "n4": []}
    assert users_by_index(graph) == users_by_index(again) == wanted


def test_effects_of_a_body_come_in_the_order_of_their_names() -> None:
    """Not in that of protobuf's map, which differs from process to process."""
    proto = FunctionDef()
    proto.signature.name = "orders"
    names = [f"n{k:02}" for k in range(24)]
    for name in reversed(names):
        proto.node_def.add(name=name, op="NoOp")
        proto.control_ret[name] = name
    library = FunctionLibrary()
    library.add(proto)
    assert [node.name for node in library["orders"].body(library).effects] == names


def _looked_up(graph: Graph, node: Node) -> tuple[list[tuple[str, int]], list[str]]:
    """Who reads and who waits for a node, by a look at all."""
    reads = [(u.name, k) for u in graph for k, (s, _) in enumerate(u.inputs) if s is node]
    return sorted(reads), sorted(u.name for u in graph if node in u.controls)


@pytest.mark.parametrize("seed", range(6))
def test_readers_of_wide_nodes_are_right_after_any_edits(seed: int) -> None:
    chance = random.Random(seed)
    graph = chain(60)
    floats = {"T": dtypes.FLOAT32}
    split = graph.add("Split", "split", [graph["x"], graph["x"]], attrs=floats | {"num_split": 9})
    sources = [*((n, 0) for n in list(graph)[1:40]), *((split, k) for k in range(9))]
    wide = [graph.add("AddN", f"w{k}", chance.choices(sources, k=70), attrs=floats | {"N": 70})
            for k in range(3)]  # fmt: skip
    for node in wide[:2]:
        graph.set_controls(node, [source for source, _ in chance.sample(sources, 40)])
    journal: list[Node] = []
    graph.journal = journal
    for _ in range(60):
        old, new = chance.choice(sources), chance.choice(sources)
        if old[0].graph.get(old[0].name) is not old[0]:
            continue
        match chance.randrange(4):
            case 0:
                before = [u for u, k in graph.consumers(old[0]) if u.inputs[k] == old]
                if all(topologically_later(u, new[0]) for u in before):
                    assert graph.redirect(old, new) == len(before)
            case 1:
                graph.set_input(wide[chance.randrange(3)], chance.randrange(-70, 70), new)
            case 2:
                graph.set_controls(wide[0], [s for s, _ in chance.sample(sources, 35)])
            case _:
                graph.set_inputs(wide[1], chance.choices(sources, k=70))
        for node in graph:
            found = sorted((u.name, k) for u, k in graph.consumers(node))
            assert (found, sorted(u.name for u in graph.control_consumers(node))) == _looked_up(
                graph, node
            )
            assert sorted(u.name for u in graph.users(node)) == sorted(
                {name for name, _ in found} | {u.name for u in graph.control_consumers(node)}
            )
    assert wide[0] in journal


def topologically_later(user: Node, source: Node) -> bool:
    """Whether ``user`` may read ``source`` without a circle: the wide nodes read all others."""
    return user.name.startswith("w")


def test_long_runs_of_backslashes_are_read_in_time() -> None:
    """Text that ends within one, too; what is read is what protobuf reads of shorter ones."""
    for count in (1, 31, 32, 33, 100, 5000):
        for tail in ("", "\\n", "\\\\", "\\134", "x", "\\x41"):
            text = "a" + "\\\\" * count + tail
            graph = from_text(f'node {{ name: "{text}" op: "NoOp" }}')
            end = {"\\n": "\n", "\\\\": "\\", "\\134": "\\", "\\x41": "A"}.get(tail, tail)
            assert [n.name for n in graph] == ["a" + "\\" * count + end]
    begin = time.process_time()
    with pytest.raises(BadModelFile):
        from_text('node { name: "' + "\\" * 400_001 + '" op: "NoOp')
    assert len(from_text('node { name: "a' + "\\" * 400_000 + '" op: "NoOp" }')) == 1
    assert time.process_time() - begin < 5


def test_names_of_ops_may_be_of_numpys_text() -> None:
    graph = Graph()
    node = graph.add(np.str_("NoOp"), np.str_("n"))
    assert (type(node.op), node.op) == (str, "NoOp")
    graph.set_op(node, np.str_("ControlTrigger"))
    assert (type(node.op), node.op) == (str, "ControlTrigger")
    assert Graph.from_bytes(graph.to_bytes())["n"].op == "ControlTrigger"
