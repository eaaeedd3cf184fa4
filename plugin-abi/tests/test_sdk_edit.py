"""GraphEdit against the same changes made with protobuf; what is not changed stays as it is."""

from __future__ import annotations

import random

import pytest
from sdk_probe import attr_value, probe, random_graph
from test_sdk_view import hexed, source

from drystone_abi.protos import AttrValue, GraphDef, NodeDef


class Model:
    """A graph that is changed through protobuf; a command answers with the probe's wording."""

    def __init__(self, graph: GraphDef) -> None:
        self.nodes: list[NodeDef | None] = [
            NodeDef.FromString(n.SerializeToString()) for n in graph.node
        ]
        self.graph = graph
        self.preserved: set[str] = set()

    def live(self) -> list[int]:
        return [number for number, node in enumerate(self.nodes) if node is not None]

    def node(self, number: int) -> NodeDef:
        node = self.nodes[number]
        assert node is not None
        return node

    def reads(self, number: int) -> list[tuple[int, int]]:
        ids = {self.node(n).name: n for n in self.live()}
        return [(ids[name], port) for name, port in map(source, self.node(number).input)]

    def set_reads(self, number: int, reads: list[tuple[int, int]]) -> None:
        self.node(number).input[:] = [self.text(*read) for read in reads]

    def text(self, number: int, port: int) -> str:
        name = self.node(number).name
        return f"^{name}" if port < 0 else f"{name}:{port}" if port else name

    def readers(self, number: int) -> list[int]:
        return [n for n in self.live() if any(r == number for r, _ in self.reads(n))]

    def result(self) -> GraphDef:
        out = GraphDef.FromString(self.graph.SerializeToString())
        del out.node[:]
        out.node.extend(self.node(n) for n in self.live())
        return out

    # Each command: whether it works.
    def rename(self, number: int, name: str) -> bool:
        node = self.node(number)
        if node.name == name:
            return True
        if node.name in self.preserved or any(self.node(n).name == name for n in self.live()):
            return False
        reads = {n: self.reads(n) for n in self.readers(number)}
        node.name = name
        for reader, all_reads in reads.items():
            self.set_reads(reader, all_reads)
        return True

    def remove(self, number: int) -> bool:
        if self.node(number).name in self.preserved or set(self.readers(number)) - {number}:
            return False
        self.nodes[number] = None
        return True

    def control(self, number: int, other: int) -> bool:
        reads = self.reads(number)
        if all(node != other for node, _ in reads):
            self.set_reads(number, [*reads, (other, -1)])
        return True

    def uncontrol(self, number: int, other: int) -> bool:
        kept = [read for read in self.reads(number) if read != (other, -1)]
        self.set_reads(number, kept)
        return True

    def input(self, number: int, index: int, read: tuple[int, int]) -> bool:
        reads = self.reads(number)
        if index >= len(reads):
            return False
        reads[index] = read
        data = [port >= 0 for _, port in reads]
        if data != sorted(data, reverse=True):
            return False
        self.set_reads(number, reads)
        return True

    def redirect(self, old: tuple[int, int], new: tuple[int, int]) -> bool:
        if (old[1] < 0) != (new[1] < 0):
            return False
        for reader in self.readers(old[0]) if old != new else []:
            if reader == new[0]:
                continue
            reads = self.reads(reader)
            if old[1] >= 0:
                self.set_reads(reader, [new if read == old else read for read in reads])
            elif old in reads:
                self.uncontrol(reader, old[0])
                self.control(reader, new[0])
        return True

    def bypass(self, number: int) -> bool:
        own = self.reads(number)
        if not own or own[0][1] < 0 or self.node(number).name in self.preserved:
            return False
        outside = [
            read for n in self.readers(number) for read in self.reads(n) if read[0] == number
        ]
        if any(node == number for node, _ in own):
            return False
        anchors = any(p < 0 for _, p in outside) or any(p < 0 for _, p in own)
        switch = self.node(own[0][0]).op == "Switch"
        if any(port > 0 for _, port in outside) or (outside and switch and anchors):
            return False
        for reader in self.readers(number):
            reads = self.reads(reader)
            kept = [own[0] if read == (number, 0) else read for read in reads]
            self.set_reads(reader, [read for read in kept if read[0] != number])
            waits = [own[0][0]] if (number, -1) in reads else []
            for wait in [*waits, *(node for node, _ in own[1:])]:
                self.control(reader, wait)
        return self.remove(number)


KINDS = (
    *("add", "replace", "protect", "remove", "bypass", "bypass", "rename", "op", "device"),
    *("attr", "drop", "input", "control", "uncontrol", "redirect"),
)


def make(model: Model, rng: random.Random) -> tuple[str, bool]:
    """One random command, done to the model; its text for the probe, and whether it works."""
    live = model.live()
    number, other = rng.choice(live), rng.choice(live)
    old, new = (number, rng.choice([-1, 0, 1])), (other, rng.choice([-1, 0, 1]))
    kind = rng.choice(KINDS)
    node, name = model.node(number), f"fresh{rng.randrange(30)}"
    match kind:
        case "remove" | "bypass":
            return f"{kind} {number}", getattr(model, kind)(number)
        case "protect":
            model.preserved.add(node.name)
            return f"protect {number}", True
        case "rename":
            return f"rename {number} {hexed(name)}", model.rename(number, name)
        case "op" | "device":
            setattr(node, kind, name)
            return f"{kind} {number} {hexed(name)}", True
        case "attr":
            value = attr_value(rng)
            node.attr["a1"].CopyFrom(value)
            text = hexed(value.SerializeToString())
            return f"attr {number} {hexed('a1')} {text}", True
        case "drop":
            node.attr.pop("a0", None)
            return f"drop {number} {hexed('a0')}", True
        case "input":
            index = rng.randrange(3)
            works = model.input(number, index, new)
            return f"input {number} {index} {other}:{new[1]}", works
        case "control" | "uncontrol":
            return f"{kind} {number} {other}", getattr(model, kind)(number, other)
        case "redirect":
            text = f"redirect 0 {number}:{old[1]} {other}:{new[1]}"
            return text, model.redirect(old, new)
    return make_whole(model, kind, number, name, new)


def make_whole(
    model: Model, kind: str, number: int, name: str, read: tuple[int, int]
) -> tuple[str, bool]:
    value = AttrValue(i=7)
    text = f"{hexed(name)} {hexed('Op')} {hexed('/cpu')} {hexed('k')} "
    text += f"{hexed(value.SerializeToString())} {read[0]}:{read[1]}"
    if kind == "add":
        if any(model.node(n).name == name for n in model.live()):
            return f"add 0 {text}", False
        model.nodes.append(NodeDef(name=name))
        number = len(model.nodes) - 1
    node = model.node(number)
    node.op, node.device = "Op", "/cpu"
    node.attr.clear()
    node.attr["k"].CopyFrom(value)
    model.set_reads(number, [read])
    return f"{kind} {0 if kind == 'add' else number} {text}", True


def canonical(graph: GraphDef) -> bytes:
    """Bytes to compare: "name:0" is "name"."""
    for node in graph.node:
        node.input[:] = [text.removesuffix(":0") for text in node.input]
    return graph.SerializeToString(deterministic=True)


def with_unknown_fields(graph: GraphDef) -> GraphDef:
    """Field 99 in the graph and in every node: bytes that neither side knows."""
    unknown = b"\x9a\x06\x04kept"
    for node in graph.node:
        node.MergeFromString(unknown)
    graph.MergeFromString(unknown)
    return graph


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("seed", range(150))
def test_edits_are_those_of_protobuf(seed: int) -> None:
    """Row B28."""
    rng = random.Random(seed)
    graph = with_unknown_fields(random_graph(rng, rng.randrange(4, 25)))
    model, script, fails = Model(graph), [], []
    for number in range(rng.randrange(1, 30)):
        if not model.live():
            break
        command, works = make(model, rng)
        script.append(command)
        if not works:
            fails.append(number)
    data, difference, errors = probe().edit(graph.SerializeToString(), "\n".join(script))
    assert difference == ""
    assert [int(line.split()[0]) for line in errors] == fails, (script, errors)
    assert canonical(GraphDef.FromString(data)) == canonical(model.result()), script


@pytest.mark.parametrize("seed", range(20))
def test_without_a_change_the_bytes_are_the_same(seed: int) -> None:
    graph = with_unknown_fields(random_graph(random.Random(seed), 20)).SerializeToString()
    assert probe().edit(graph, "") == (graph, "", [])


def test_unknown_fields_and_other_nodes_keep_their_bytes() -> None:
    graph = with_unknown_fields(random_graph(random.Random(3), 8))
    data, _, errors = probe().edit(graph.SerializeToString(), f"op 2 {hexed('Changed')}")
    assert errors == []
    after = GraphDef.FromString(data)
    assert b"\x9a\x06\x04kept" in after.node[2].SerializeToString()
    for number, node in enumerate(graph.node):
        if number != 2:
            assert node.SerializeToString() in data
            assert after.node[number] == node


IDENTITY = GraphDef()
IDENTITY.node.add(name="a", op="Const")
IDENTITY.node.add(name="s", op="Switch", input=["a", "a"])
IDENTITY.node.add(name="i", op="Identity", input=["s:1"])
IDENTITY.node.add(name="b", op="Neg", input=["i", "^i"])


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("remove 0", "error 9 node 'a' cannot be removed: node 's' reads it"),
        ("protect 3\nremove 3", "error 9 node 'b' is to be preserved and cannot be removed"),
        ("protect 3\nrename 3 x41", "error 9 node 'b' is to be preserved and cannot be renamed"),
        ("protect 2\nbypass 2", "error 9 node 'i' is to be preserved and cannot be bypassed"),
        ("bypass 2", "error 9 node 'i' anchors control edges to one side of node 's'"),
        ("bypass 0", "error 9 node 'a' has no input to hand on"),
        ("rename 0 x62", "error 6 the graph has a node named 'b'"),
        ("rename 0 x613a31", "error 3 'a:1' is no name for a node"),
        ("add 0 x5e61 x x x x", "error 3 '^a' is no name for a node"),
        ("add 0 x62 x x x x", "error 6 the graph has a node named 'b'"),
        ("add 0 x x x x x", "error 3 '' is no name for a node"),
        ("input 3 5 0:0", "error 3 node 'b' has no input 5"),
        ("input 3 0 9:0", "error 3 node 'b' would read what is not in the graph"),
        ("input 3 1 0:0\ninput 3 0 0:-1", "error 3 node 'b' would have data after a control input"),
        ("remove 3\nremove 3", "error 3 node number 3 is not in the graph"),
        (
            "redirect 0 0:0 1:-1",
            (
                "error 3 an edge from node 'a' cannot become one from node 's': "
                "one is data, the other control"
            ),
        ),
    ],
)
def test_refused_changes_say_why_and_change_nothing(command: str, message: str) -> None:
    graph = IDENTITY.SerializeToString()
    _, difference, errors = probe().edit(graph, command)
    last = command.count("\n")
    assert (difference, errors) == ("", [f"{last} {message}"])
