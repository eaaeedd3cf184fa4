"""The function library: FunctionDefs by name, and their bodies as graphs.

Inside a FunctionDef an input is spelled ``argument``, ``node:output_argument:k`` or ``^node``. A
body as a graph uses plain outputs; its arguments and results are ``_Arg`` and ``_Retval`` nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

from drystone_abi.protos import FunctionDef, FunctionDefLibrary, GradientDef, NodeDef
from drystone_base.core.arguments import blame
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import GraphError, near_matches
from drystone_base.core.printable import described
from drystone_base.core.upcalls import GRADIENT_FUNCTION
from drystone_base.graph.node import whole_number
from drystone_base.ops.attrs import decode_attr, encode_attr
from drystone_base.ops.defs import ArgDef, OpDef, find
from drystone_base.ops.properties import FUNCTION_ENDS

if TYPE_CHECKING:
    from drystone_base.graph.graph import Graph
    from drystone_base.graph.node import Node, Output

__all__ = [
    "GRADIENT",
    "Bodies",
    "Body",
    "Function",
    "FunctionLibrary",
    "body_to_function",
    "gradient_name",
]

GRADIENT: Final = "gradient of "


def gradient_name(function: str) -> str:
    """The name under which a library gives the gradient of a function; no function has it."""
    return f"{GRADIENT}{function}"


class Body:
    """A function's body as a graph, for one set of attributes.

    ``args`` are ``_Arg`` nodes and ``results`` ``_Retval`` nodes, in signature order; ``effects``
    are the nodes that must run even when no result needs them.
    """

    def __init__(
        self, graph: Graph, args: list[Node], results: list[Node], effects: list[Node]
    ) -> None:
        self.graph, self.args, self.results, self.effects = graph, args, results, effects


class Function:
    """One function: its FunctionDef and its signature as an op definition.

    With a ``name``, ``proto`` may also be what makes the FunctionDef of that name: it is called
    when more than the name is read, at the latest when the graph is written or run.
    """

    def __init__(self, proto: FunctionDef | Callable[[], FunctionDef], name: str = "") -> None:
        self._signature: OpDef | None = None
        if isinstance(proto, FunctionDef):
            self._proto, self._make = proto, None
            self.name: str = proto.signature.name
            self._signature = OpDef.from_proto(proto.signature)
        else:
            self._proto, self._make, self.name = FunctionDef(), proto, name

    @property
    def proto(self) -> FunctionDef:
        """The function as it is written to a file."""
        make = self._make
        if make is not None:  # two threads at once make equal ones
            self._proto = make()
            self._make = None
        return self._proto

    @property
    def signature(self) -> OpDef:
        """The op definition of a node that calls it."""
        if self._signature is None:
            self._signature = OpDef.from_proto(self.proto.signature)
        return self._signature

    def __repr__(self) -> str:
        return f"<Function {self.name!r}, {len(self.proto.node_def)} nodes>"

    @property
    def node_count(self) -> int:
        """Number of nodes in the body."""
        return len(self.proto.node_def)

    def ops(self) -> Iterator[str]:
        """The op of each node of the body."""
        return (n.op for n in self.proto.node_def)

    def attr(self, name: str) -> Any:
        """A function attribute such as ``_noinline``; None when absent."""
        return decode_attr(self.proto.attr[name]) if name in self.proto.attr else None

    def body(self, library: FunctionLibrary, attrs: Mapping[str, Any] | None = None) -> Body:
        """The body as a graph that shares ``library``; ``attrs`` fill the signature's attributes.

        Raises ``GraphError`` (``bad-function``, ``missing-input``) for a body that does not hang
        together.
        """
        return _BodyBuilder(self, library, attrs or {}).build()


class FunctionLibrary:
    """Functions by name, in insertion order, and the gradient functions registered for them.

    ``companions``: objects that live as long as the library or a copy of it, as those are that
    nodes name by an attribute.
    """

    def __init__(self) -> None:
        self.companions: list[object] = []
        self._functions: dict[str, Function] = {}
        self._rest = FunctionDefLibrary()

    @classmethod
    def from_proto(cls, proto: FunctionDefLibrary) -> FunctionLibrary:
        """The library in a proto; raises ``GraphError`` (``duplicate-function``)."""
        library = cls()
        for function in proto.function:
            library.add(function)
        for field, value in proto.ListFields():
            if field.name != "function":
                getattr(library._rest, field.name).MergeFrom(value)
        return library

    def __len__(self) -> int:
        return len(self._functions)

    def __iter__(self) -> Iterator[Function]:
        return iter(self._functions.values())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._functions

    def get(self, name: str) -> Function | None:
        """The function of that name, or None."""
        try:
            return self._functions.get(name)
        except Exception as error:
            blame(FunctionLibrary.get, error, self, name)

    def __getitem__(self, name: str) -> Function:
        """The function of that name; raises ``GraphError`` (``unknown-function``).

        Under a name of ``gradient_name`` it is the gradient of a function: the registered one, else
        one that is made.
        """
        found = self.get(name)
        if found is not None:
            return found
        if isinstance(name, str) and name.startswith(GRADIENT):
            return self._gradient(name.removeprefix(GRADIENT))
        near = near_matches(name, self._functions)
        raise GraphError(
            f"there is no function {described(name)}",
            check="a called function must be in the graph's library",
            found=name,
            needed=f"one of {len(self._functions)} functions",
            remedy=f"did you mean {', '.join(near)}?" if near else "export the model again",
            code="unknown-function",
            status="NOT_FOUND",
        )

    def _gradient(self, name: str) -> Function:
        registered = self.gradient_of(name)
        if registered:
            return self[registered]
        made: Function = GRADIENT_FUNCTION(self[name])
        return made

    def add(self, function: FunctionDef | Function, *, replace: bool = False) -> Function:
        """Add a function; a second one of the same name must be asked for with ``replace``."""
        made = function if isinstance(function, Function) else Function(function)
        name = made.name
        if name in self._functions and not replace:
            raise GraphError(
                f"two functions are named {name!r}",
                check="function names must be unique",
                found=f"{name!r} twice",
                needed="one function of each name",
                remedy="export the model again",
                code="duplicate-function",
                status="ALREADY_EXISTS",
            )
        self._functions[name] = made
        return made

    def remove(self, name: str) -> None:
        """Remove a function; raises as ``library[name]`` does."""
        del self._functions[self[name].name]

    def gradient_of(self, name: str) -> str | None:
        """The function registered as gradient of ``name``, or None."""
        found: GradientDef
        for found in self._rest.gradient:
            if found.function_name == name:
                return str(found.gradient_func)
        return None

    def copy(self) -> FunctionLibrary:
        """A library with the same functions."""
        twin = FunctionLibrary()
        twin._functions = dict(self._functions)
        twin._rest.CopyFrom(self._rest)
        twin.companions = list(self.companions)
        return twin

    def to_proto(self) -> FunctionDefLibrary:
        """The library as a proto."""
        proto = FunctionDefLibrary()
        proto.CopyFrom(self._rest)
        proto.function.extend(f.proto for f in self)
        return proto


class Bodies:
    """Bodies of functions for who looks at them and edits none; each is built once."""

    def __init__(self) -> None:
        self._built: dict[tuple[Function, str], Body] = {}

    def of(
        self, function: Function, library: FunctionLibrary, attrs: Mapping[str, Any] | None = None
    ) -> Body:
        """As :meth:`Function.body`; the same body again for the same attributes.

        Libraries may differ in functions that the function does not call.
        """
        given = attrs if function.signature.attrs else None
        key = (function, repr(sorted(given.items())) if given else "")
        found = self._built.get(key)
        if found is None:
            found = self._built[key] = function.body(library, given)
        return found


class _BodyBuilder:
    """Turns one FunctionDef into a :class:`Body`."""

    def __init__(
        self, function: Function, library: FunctionLibrary, attrs: Mapping[str, Any]
    ) -> None:
        from drystone_base.graph.graph import Graph

        self.function = function
        self.attrs = attrs
        self.graph = Graph()
        self.graph.functions = library
        self.outputs: dict[str, Output] = {}
        self.args: list[Node] = []

    def build(self) -> Body:
        self._add_args()
        protos = [self._substituted(n) for n in self.function.proto.node_def]
        for proto in protos:
            node = self.graph.add(proto.op, proto.name, device=proto.device)
            node._proto, node._attrs = proto, None
        for proto in protos:
            self._connect(proto)
        results = self._add_results()
        return Body(self.graph, self.args, results, self._effects())

    def _add_args(self) -> None:
        for index, arg in enumerate(self.function.signature.inputs):
            own = self.function.proto.arg_attr
            attrs: dict[str, Any] = {"T": self._arg_type(arg), "index": index}
            if index in own:
                attrs |= {k: decode_attr(v) for k, v in sorted(own[index].attr.items())}
            name = self.graph.unique_name(arg.name)
            node = self.graph.add("_Arg", name, attrs=attrs)
            self.args.append(node)
            self.outputs[arg.name] = (node, 0)

    def _arg_type(self, arg: ArgDef) -> DType:
        if arg.type is not None:
            return arg.type
        found = self.attrs.get(arg.type_attr or "")
        if not isinstance(found, DType):
            self._fail(f"attribute {arg.type_attr!r} of argument {arg.name!r} is not given")
        return found

    def _substituted(self, proto: NodeDef) -> NodeDef:
        """The NodeDef with attribute placeholders replaced by the function's attributes."""
        holes = [k for k, v in proto.attr.items() if v.WhichOneof("value") == "placeholder"]
        if not holes:
            return proto
        filled = NodeDef()
        filled.CopyFrom(proto)
        for name in holes:
            wanted = proto.attr[name].placeholder
            if wanted not in self.attrs:
                self._fail(f"node {proto.name!r} needs attribute {wanted!r}, which is not given")
            filled.attr[name].CopyFrom(encode_attr(self.attrs[wanted]))
        return filled

    def _connect(self, proto: NodeDef) -> None:
        node = self.graph[proto.name]
        inputs = [self._source(t, proto.name) for t in proto.input if not t.startswith("^")]
        controls = [self._control(t[1:], proto.name) for t in proto.input if t.startswith("^")]
        self.graph._connect(node, inputs, controls)

    def _control(self, name: str, user: str) -> Node:
        if name not in self.graph:
            self._fail(f"{user!r} waits for {name!r}, which is not in the body")
        return self.graph[name]

    def _source(self, text: str, user: str) -> Output:
        if text in self.outputs:
            return self.outputs[text]
        parts = text.split(":")
        node = self.graph.get(parts[0])
        if node is None:
            self._fail(f"{user!r} reads {text!r}, which is not in the body")
        found = (node, self._output_index(node, parts[1:], text))
        self.outputs[text] = found
        return found

    def _output_index(self, node: Node, parts: list[str], text: str) -> int:
        if not parts:
            return 0
        if len(parts) == 1 and parts[0].isdecimal():
            return whole_number(parts[0])
        definition = self._definition(node.op)
        offset = whole_number(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else 0
        if definition.outputs and parts[0] == definition.outputs[0].name:
            return offset
        slices = definition.output_slices(node.full_attrs())
        if parts[0] not in slices:
            self._fail(f"{text!r} names an output that {node.op} does not have")
        return int(slices[parts[0]].start) + offset

    def _definition(self, op: str) -> OpDef:
        found = find(op)
        if found is not None:
            return found
        called = self.graph.functions.get(op)
        if called is None:
            self._fail(f"op {op!r} is unknown, so its outputs cannot be counted")
        return called.signature

    def _add_results(self) -> list[Node]:
        results = []
        returned = self.function.proto.ret
        for index, arg in enumerate(self.function.signature.outputs):
            if arg.name not in returned:
                self._fail(f"result {arg.name!r} is not computed by any node")
            source = self._source(returned[arg.name], arg.name)
            name = self.graph.unique_name(f"{arg.name}_RetVal")
            attrs = {"T": self._arg_type(arg), "index": index}
            results.append(self.graph.add("_Retval", name, [source], attrs=attrs))
        return results

    def _effects(self) -> list[Node]:
        """Nodes named by ``control_ret``, and stateful ones: they run whatever is fetched."""
        returned = self.function.proto.control_ret  # a map, in another order in each process
        named = dict.fromkeys(self.graph[returned[key]] for key in sorted(returned))
        for node in self.graph:
            definition = find(node.op)
            if definition is not None and definition.is_stateful and node.op not in FUNCTION_ENDS:
                named.setdefault(node)
        return list(named)

    def _fail(self, found: str) -> NoReturn:
        raise GraphError(
            f"function {self.function.name!r} has a malformed body",
            check="every input of a body must be an argument or a node of the body",
            found=found,
            needed="a complete FunctionDef",
            remedy="export the model again",
            code="bad-function",
        )


def body_to_function(body: Body, original: FunctionDef) -> FunctionDef:
    """A FunctionDef whose body is ``body`` and whose signature is ``original``'s.

    Raises ``GraphError`` (``bad-function``) when a node's outputs cannot be counted.
    """
    proto = FunctionDef()
    proto.CopyFrom(original)
    del proto.node_def[:]
    spell = _speller(body)
    skipped = {*body.args, *body.results}
    for node in body.graph:
        if node in skipped:
            continue
        definition = node.to_proto()
        del definition.input[:]
        definition.input.extend(spell(o) for o in node.inputs)
        definition.input.extend("^" + c.name for c in node.controls)
        proto.node_def.append(definition)
    for arg, result in zip(original.signature.output_arg, body.results, strict=True):
        proto.ret[arg.name] = spell(result.inputs[0])
    return proto


def _speller(body: Body) -> Any:
    """A function that spells an output the way FunctionDefs do."""
    names = dict.fromkeys(body.args, body.graph)

    def spell(output: Output) -> str:
        node, index = output
        if node in names:
            return node.name
        definition = find(node.op)
        called = body.graph.functions.get(node.op)
        known = definition or (called.signature if called else None)
        if known is None:
            return f"{node.name}:{index}"
        for name, part in known.output_slices(node.full_attrs()).items():
            if part.start <= index < part.stop:
                return f"{node.name}:{name}:{index - part.start}"
        return f"{node.name}:{index}"

    return spell
