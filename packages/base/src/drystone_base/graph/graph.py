"""The in-memory graph: nodes by name, edges by reference, one editing API."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from drystone_abi.protos import GraphDef, NodeDef, VersionDef
from drystone_base.core.arguments import blame, explaining
from drystone_base.core.gc_pause import paused_gc
from drystone_base.core.wire import write_varint
from drystone_base.graph._failures import (
    a_node,
    a_text,
    attr_value,
    attr_values,
    bad_input,
    bad_name,
    check_sets,
    duplicate,
    foreign,
    in_use,
    missing_input,
    not_graphdef,
    unknown,
)
from drystone_base.graph._wide import WIDE, Places, swap
from drystone_base.graph._wire import split_large
from drystone_base.graph.functions import FunctionLibrary
from drystone_base.graph.node import Node, Output, interned, parse_tensor_name
from drystone_base.graph.versions import CONSUMER, MIN_CONSUMER, check_graph

__all__ = ["Graph", "parse_tensor_name"]


@explaining(
    "from_bytes", "from_proto", "add", "adopt", "set_inputs", "set_input",
    "set_controls", "add_control", "set_attr", "remove_attr", "set_op", "set_device", "rename",
    "redirect", "redirect_controls", "remove", "unique_name", "become", "copy", "output", "waits",
)  # fmt: skip
class Graph:
    """Nodes in insertion order, a function library, and the versions that the file stated.

    All changes go through the methods here: they keep names, fan-in and fan-out consistent.
    ``journal``, when set to a list, is told of every node that is added or changed, and of every
    node that is left with one user: what passes look at again.
    """

    def __init__(self) -> None:
        self.journal: list[Node] | None = None
        self._nodes: dict[str, Node] = {}
        self._fan_out: dict[Node, dict[Node, int]] | None = None
        self._places = Places()
        self._numbers: dict[str, int] = {}
        self._rest = GraphDef(versions=VersionDef(producer=CONSUMER, min_consumer=MIN_CONSUMER))
        self.functions = FunctionLibrary()

    def __repr__(self) -> str:
        return f"<Graph: {len(self._nodes)} nodes, {len(self.functions)} functions>"

    def _repr_html_(self) -> str:
        from drystone_base.graph.notebook import graph_html

        return graph_html(self)

    # ---- reading -------------------------------------------------------------------------------

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Graph:
        """A graph from GraphDef bytes; large constants stay views of ``data``.

        Raises ``BadModelFile`` for bytes that are no GraphDef (``bad-graphdef``) and for versions
        that exclude us (``graph-version``); ``GraphError`` (``duplicate-node``, ``missing-input``)
        for a graph that does not hang together.
        """
        skeleton = split_large(memoryview(data))
        try:
            proto = GraphDef.FromString(bytes(skeleton.graph))
            rest = GraphDef.FromString(skeleton.rest)
        except Exception as error:
            not_graphdef(len(data), error)
        return cls._build(proto, rest, skeleton.contents)

    @classmethod
    def from_proto(cls, proto: GraphDef) -> Graph:
        """A graph from a GraphDef message, which must not be changed afterwards."""
        rest = GraphDef()
        for field, value in proto.ListFields():
            if field.name not in ("node", "library"):
                getattr(rest, field.name).CopyFrom(value)
        return cls._build(proto, rest, {})

    @classmethod
    def _build(cls, proto: GraphDef, rest: GraphDef, contents: Mapping[int, memoryview]) -> Graph:
        check_graph(rest.versions)
        graph = cls()
        graph._rest = rest
        graph.functions = FunctionLibrary.from_proto(proto.library)
        with paused_gc():
            graph._read_nodes(proto.node, contents)
        return graph

    def _read_nodes(self, protos: Iterable[NodeDef], contents: Mapping[int, memoryview]) -> None:
        nodes = self._nodes
        intern = sys.intern
        for index, proto in enumerate(protos):
            name = proto.name
            if name in nodes:
                duplicate(name)
            node = Node(self, name, intern(proto.op), proto.device)
            node.changed, node._proto, node._attrs = False, proto, None
            nodes[name] = node
            if index in contents:
                node._content = contents[index]
        if "" in nodes:
            bad_name("")
        for node in nodes.values():
            assert node._proto is not None
            self._resolve(node, list(node._proto.input))

    def _resolve(self, node: Node, inputs: list[str]) -> None:
        nodes = self._nodes
        data: list[Output] = []
        controls: list[Node] = []
        for text in inputs:
            source = nodes.get(text)
            if source is not None:
                if controls:
                    bad_input(node, text, "data inputs must come before control inputs")
                data.append((source, 0))
            elif text.startswith("^"):
                controls.append(nodes.get(text[1:]) or missing_input(node, text[1:], nodes))
            else:
                name, index = parse_tensor_name(text)
                data.append((nodes.get(name) or missing_input(node, text, nodes), index))
        node.inputs = tuple(data)
        node.controls = tuple(controls)

    # ---- looking -------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes.values())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._nodes

    def __getitem__(self, name: str) -> Node:
        """The node of that name; raises ``GraphError`` (``unknown-node``) with near matches."""
        try:
            return self._nodes[name]
        except KeyError:
            unknown(name, self._nodes)
        except Exception as error:
            blame(Graph.__getitem__, error, self, name)

    def get(self, name: str) -> Node | None:
        """The node of that name, or None."""
        try:
            return self._nodes.get(name)
        except Exception as error:
            blame(Graph.get, error, self, name)

    def output(self, text: str) -> Output:
        """The output that ``name`` or ``name:k`` spells; raises as ``graph[name]`` does."""
        if text in self._nodes:
            return (self._nodes[text], 0)
        name, index = parse_tensor_name(text)
        return (self[name], index)

    @property
    def producer(self) -> int:
        """The GraphDef version that the writer of the file stated."""
        return self._rest.versions.producer

    def consumers(self, node: Node) -> list[tuple[Node, int]]:
        """Data fan-out: every (consumer, input index) that reads some output of ``node``."""
        found: list[tuple[Node, int]] = []
        for user in list(self.users(node)):
            if len(user.inputs) > WIDE:
                found += [(user, k) for k in self._places.slots(user, node)]
            else:
                found += [(user, k) for k, output in enumerate(user.inputs) if output[0] is node]
        return found

    def control_consumers(self, node: Node) -> list[Node]:
        """Control fan-out: every node that waits for ``node``."""
        waits = self._places.waits
        return [user for user in list(self.users(node)) if user.controls and waits(user, node)]

    def waits(self, user: Node, node: Node) -> bool:
        """Whether ``user`` waits for ``node`` by a control edge."""
        return self._places.waits(user, node)

    def users(self, node: Node) -> Collection[Node]:
        """Every node that reads or waits for ``node``, once; for looking, not while editing."""
        index = self._fan_out
        try:
            return (self._fan_out_index() if index is None else index).get(node, ())
        except Exception as error:
            blame(Graph.users, error, self, node)

    def has_users(self, node: Node) -> bool:
        """Whether some node reads or waits for ``node``."""
        return bool(self.users(node))

    def only_user(self, node: Node) -> Node | None:
        """The node that alone reads or waits for ``node``; None where there are more, or none."""
        users = self.users(node)
        return next(iter(users)) if len(users) == 1 else None

    def _fan_out_index(self) -> dict[Node, dict[Node, int]]:
        """Users of each node with the number of edges, built on first use and then kept right."""
        if self._fan_out is None:
            index: dict[Node, dict[Node, int]] = {}
            with paused_gc():
                for node in self._nodes.values():
                    for source in self._sources(node):
                        users = index.get(source)
                        if users is None:
                            index[source] = {node: 1}
                        else:
                            users[node] = users.get(node, 0) + 1
            self._fan_out = index
        return self._fan_out

    @staticmethod
    def _sources(node: Node) -> list[Node]:
        sources = [source for source, _ in node.inputs]
        return [*sources, *node.controls] if node.controls else sources

    # ---- editing -------------------------------------------------------------------------------

    def add(
        self,
        op: str,
        name: str,
        inputs: Sequence[Output | Node] = (),
        *,
        controls: Sequence[Node] = (),
        device: str = "",
        attrs: Mapping[str, Any] | None = None,
    ) -> Node:
        """Add a node and return it; a Node among ``inputs`` stands for its output 0.

        Raises ``GraphError`` (``duplicate-node``, ``foreign-node``, ``bad-attr``).
        """
        if name in self._nodes:
            duplicate(name)
        if not name or name.startswith("^"):
            bad_name(name)
        node = Node(self, name, interned(op), a_text(device))
        node._attrs = attr_values(op, attrs) if attrs else {}
        outputs = [i if isinstance(i, tuple) else (a_node(i), 0) for i in inputs]
        self._connect(node, outputs, controls)
        self._nodes[name] = node
        return node

    def adopt(self, node: Node, name: str) -> Node:
        """Add a copy of another graph's node, still without inputs; a large content is shared."""
        if name in self._nodes:
            duplicate(name)
        twin = Node(self, name, node.op, node.device)
        twin._proto, twin._content = node._proto, node._content
        twin._attrs = None if node._attrs is None else dict(node._attrs)
        self._nodes[name] = twin
        self._connect(twin, (), ())
        return twin

    def _connect(self, node: Node, inputs: Sequence[Output], controls: Sequence[Node]) -> None:
        """Give ``node`` a new fan-in and keep the fan-out index right."""
        sources = [source for source, _ in inputs]
        sources += controls
        for source in sources:
            if source.graph is not self:
                foreign(source)
        journal, index = self.journal, self._fan_out
        if journal is not None:
            journal.append(node)
        if index is not None:
            for source in self._sources(node):
                users = index[source]
                left = users[node] = users[node] - 1
                if not left:
                    del users[node]
                    if len(users) == 1 and journal is not None:
                        journal.append(source)
        node.inputs, node.controls, node.changed = tuple(inputs), tuple(controls), True
        if index is not None:
            for source in sources:
                readers = index.get(source)
                if readers is None:
                    index[source] = {node: 1}
                else:
                    readers[node] = readers.get(node, 0) + 1

    def set_inputs(self, node: Node, inputs: Sequence[Output]) -> None:
        """Replace the whole data fan-in of ``node``."""
        self._connect(node, inputs, node.controls)

    def set_input(self, node: Node, index: int, output: Output) -> None:
        """Replace data input ``index`` of ``node``."""
        inputs = list(node.inputs)
        if len(inputs) > WIDE and output[0].graph is self:
            swap(self, node, [range(len(inputs))[index]], output)
            return
        inputs[index] = output
        self._connect(node, inputs, node.controls)

    def set_controls(self, node: Node, controls: Sequence[Node]) -> None:
        """Replace the control fan-in of ``node``; repeated nodes count once."""
        self._connect(node, node.inputs, list(dict.fromkeys(map(a_node, controls))))

    def add_control(self, node: Node, before: Node) -> None:
        """Make ``node`` wait for ``before``."""
        self.set_controls(node, [*node.controls, before])

    def set_attr(self, node: Node, name: str, value: Any) -> None:
        """Set an attribute of ``node``; raises ``GraphError`` (``bad-attr``)."""
        node._own_attrs()[name] = attr_value(node.op, name, value)
        self._touch(node)

    def remove_attr(self, node: Node, name: str) -> None:
        """Drop an attribute of ``node`` if it states it."""
        if node._own_attrs().pop(name, None) is not None:
            self._touch(node)

    def set_op(self, node: Node, op: str) -> None:
        """Change what ``node`` computes."""
        node.op = interned(op)
        self._touch(node)

    def set_device(self, node: Node, device: str) -> None:
        """Change the device that ``node`` asks for."""
        node.device = a_text(device)
        self._touch(node)

    def _touch(self, node: Node) -> None:
        node.changed = True
        if self.journal is not None:
            self.journal.append(node)

    def rename(self, node: Node, name: str) -> None:
        """Give ``node`` another name; its consumers follow. It moves to the end of the order."""
        if name == node.name:
            return
        if name in self._nodes:
            duplicate(name)
        if not name or name.startswith("^"):
            bad_name(name)
        for user in list(self.users(node)):
            user.changed = True
        del self._nodes[node.name]
        node.name, node.changed = name, True
        self._nodes[name] = node

    def redirect(self, old: Output, new: Output) -> int:
        """Make every consumer of output ``old`` read ``new``; the number of edges changed."""
        count = 0
        for user in list(self.users(old[0])):
            if len(user.inputs) > WIDE and new[0].graph is self:
                slots = self._places.slots_of(user, old)
                if slots:
                    swap(self, user, slots, new)
                count += len(slots)
                continue
            found = user.inputs.count(old)
            if found:
                self.set_inputs(user, [new if i == old else i for i in user.inputs])
                count += found
        return count

    def redirect_controls(self, old: Node, new: Node) -> int:
        """Make every node that waits for ``old`` wait for ``new``; the number of edges changed."""
        users = self.control_consumers(old)
        for user in users:
            self.set_controls(user, [new if c is old else c for c in user.controls])
        return len(users)

    def remove(self, nodes: Node | Iterable[Node]) -> None:
        """Remove nodes that nothing else reads; raises ``GraphError`` (``node-in-use``)."""
        doomed = dict.fromkeys(map(a_node, (nodes,) if isinstance(nodes, Node) else nodes))
        index = self._fan_out_index()
        for node in doomed:
            users = index.get(node)
            if users and not users.keys() <= doomed.keys():
                in_use(node, next(u for u in users if u not in doomed))
        for node in doomed:
            index.pop(node, None)
        for node in doomed:
            self._disconnect(node, index)
            del self._nodes[node.name]

    def _disconnect(self, node: Node, index: dict[Node, dict[Node, int]]) -> None:
        """Take the fan-in from a node that goes; what goes with it is not in the index any more."""
        journal = self.journal
        self._places.forget(node)
        if journal is not None:
            journal.append(node)
        for source in self._sources(node):
            users = index.get(source)
            leaves_one = users is not None and bool(users.pop(node, 0)) and len(users) == 1
            if leaves_one and journal is not None:
                journal.append(source)
        node.inputs, node.controls, node.changed = (), (), True

    def unique_name(self, stem: str) -> str:
        """``stem``, or ``stem_k`` with a k that no node has: the smallest, until nodes go."""
        if stem not in self._nodes:
            return stem
        k = self._numbers.get(stem, 1)
        while f"{stem}_{k}" in self._nodes:
            k += 1
        self._numbers[stem] = k
        return f"{stem}_{k}"

    def become(self, other: Graph) -> None:
        """Take the nodes and functions of another graph, which must not be used afterwards."""
        self._nodes, self._rest, self._fan_out = other._nodes, other._rest, None
        self.functions = other.functions
        for node in self._nodes.values():
            node.graph = self

    # ---- writing -------------------------------------------------------------------------------

    def to_proto(self) -> GraphDef:
        """The whole graph as one GraphDef message."""
        proto = GraphDef()
        proto.CopyFrom(self._rest)
        proto.node.extend(node.to_proto() for node in self)
        if len(self.functions):
            proto.library.CopyFrom(self.functions.to_proto())
        return proto

    def to_bytes(self) -> bytes:
        """GraphDef bytes: the same graph always gives the same bytes."""
        pieces: list[bytes] = []
        for node in self:
            plain = not node.changed and node._content is None and node._proto is not None
            message = node._proto if plain else node.to_proto()
            assert message is not None
            body = message.SerializeToString(deterministic=True)
            pieces += [b"\x0a", write_varint(len(body)), body]
        if len(self.functions):
            library = GraphDef(library=self.functions.to_proto())
            pieces.append(library.SerializeToString(deterministic=True))
        pieces.append(self._rest.SerializeToString(deterministic=True))
        return b"".join(pieces)

    def copy(
        self, only: AbstractSet[Node] | None = None, ends: AbstractSet[Node] = frozenset()
    ) -> Graph:
        """An independent graph with the same nodes; large contents are shared, not copied.

        ``only`` leaves out all other nodes; it must hold the fan-in of each of its own but those
        in ``ends``, which come without theirs.
        """
        check_sets(only, ends)
        twin = Graph()
        twin._rest.CopyFrom(self._rest)
        twin.functions, twins = self.functions.copy(), twin._nodes
        kept = list(self) if only is None else [node for node in self if node in only]
        with paused_gc():
            for node in kept:
                other = Node(twin, node.name, node.op, node.device)
                other.changed, other._proto = node.changed, node._proto
                other._content, other._attrs = node._content, node.attrs_for_copy()
                twins[node.name] = other
            for node in kept:
                other = twins[node.name]
                if node in ends:
                    other.changed = True
                    continue
                other.inputs = tuple([(twins[s.name], k) for s, k in node.inputs])
                if node.controls:
                    other.controls = tuple([twins[c.name] for c in node.controls])
        return twin
