"""Functions of programs: bodies that are drawn like graphs, and what calls them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from drystone_abi.protos import FunctionDef
from drystone_base.core.dtypes import BOOL, INT32, RESOURCE, DType
from drystone_base.graph import Graph, Node, Output
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import op_def
from random_programs.scope import Scope, Value

__all__ = ["PIECES"]

MOST_DEPTH = 3


def define(
    name: str,
    body: Graph,
    args: Sequence[Node],
    results: Sequence[tuple[Output, DType]],
    effects: Sequence[Node],
) -> FunctionDef:
    """The FunctionDef of a graph whose placeholders are its arguments."""
    proto = FunctionDef()
    proto.signature.name = name
    names = {}
    for k, arg in enumerate(args):
        names[arg] = f"arg{k}"
        proto.signature.input_arg.add(name=f"arg{k}", type=arg.full_attrs()["dtype"].number)
    for k, (source, dtype) in enumerate(results):
        proto.signature.output_arg.add(name=f"out{k}", type=dtype.number)
        proto.ret[f"out{k}"] = _reference(source, names)
    for node in body:
        if node not in names:
            copy = node.to_proto()
            del copy.input[:]
            copy.input.extend(_reference(source, names) for source in node.inputs)
            copy.input.extend(f"^{names.get(c, c.name)}" for c in node.controls)
            proto.node_def.append(copy)
    for node in effects:
        proto.control_ret[node.name] = node.name
        proto.signature.control_output.append(node.name)
    proto.signature.is_stateful = bool(effects)
    return proto


def _reference(source: Output, names: dict[Node, str]) -> str:
    node, index = source
    if node in names:
        return names[node]
    if node.op.startswith("f_"):  # the call of a function, whose results are these
        return f"{node.name}:out{index}:0"
    for arg, part in op_def(node.op).output_slices(node.full_attrs()).items():
        if part.start <= index < part.stop:
            return f"{node.name}:{arg}:{index - part.start}"
    raise ValueError(f"{node} has no output {index}")


class Callee:
    """A function of some values, and of all resources of the scope that calls it."""

    def __init__(self, scope: Scope, given: Sequence[Value]) -> None:
        self.scope = scope
        self.given = list(given)
        self.handles = dict(scope.resources)

    @property
    def inputs(self) -> list[Output]:
        """What the call takes."""
        return [v.output for v in self.given] + [v.output for v in self.handles.values()]

    @property
    def types(self) -> list[DType]:
        """The dtypes of what it takes."""
        return [v.dtype for v in self.given] + [RESOURCE] * len(self.handles)

    def build(self, results: Callable[[Scope, list[Value]], list[Value]], size: int = 4) -> Any:
        """The function: up to ``size`` pieces, and what ``results`` makes of the arguments."""
        scope = self.scope.inside(Graph())
        nodes = [
            scope.graph.add("Placeholder", f"a{k}", attrs={"dtype": t, "shape": None})
            for k, t in enumerate(self.types)
        ]
        args = [Value((n, 0), v.dtype, v.shape) for n, v in zip(nodes, self.given, strict=False)]
        for node, (name, held) in zip(nodes[len(args) :], self.handles.items(), strict=True):
            scope.resources[name] = held._replace(output=(node, 0))
        scope.values.extend(args)
        if size:
            scope.fill(scope.below(size))
        picked = results(scope, args)
        found = [((scope.finish(v), 0), v.dtype) for v in picked]
        effects = scope.every_user()
        name = scope.new_name("f")
        proto = define(name, scope.graph, nodes, found, effects)
        self.scope.shared.functions.functions.add(proto)
        return FunctionRef(name, {})

    def call(self, op: str, *first: Value, **attrs: Any) -> Node:
        """A node that calls, after all that was done to the resources."""
        waits = [w for name in self.handles for w in self.scope.use(name)]
        inputs = [*(v.output for v in first), *self.inputs]
        node = self.scope.node(op, *inputs, controls=list(dict.fromkeys(waits)), **attrs)
        self.scope.used(self.handles, node)
        return node


def like(scope: Scope, args: list[Value], wanted: Value) -> Value:
    """A value of the scope of the same dtype and shape."""
    same = scope.having(lambda v: v.dtype is wanted.dtype and v.shape == wanted.shape)
    return same or args[0]


def call(scope: Scope) -> None:
    """A call, by one of three ops."""
    if scope.depth >= MOST_DEPTH:
        return
    callee = Callee(scope, [scope.any() for _ in range(1 + scope.below(3))])
    made: list[Value] = []

    def results(inner: Scope, _: list[Value]) -> list[Value]:
        made.extend(inner.any() for _ in range(1 + inner.below(2)))
        return made

    function = callee.build(results, 6)
    types, out = callee.types, [v.dtype for v in made]
    op = scope.one_of(("PartitionedCall", "StatefulPartitionedCall", function.name))
    attrs = {} if op == function.name else {"Tin": types, "Tout": out, "f": function}
    node = callee.call(op, **attrs)
    for k, value in enumerate(made):
        scope.put(node, value.dtype, value.shape, index=k)


def branch(scope: Scope) -> None:
    """If or Case: of two functions or more with the same results."""
    if scope.depth >= MOST_DEPTH:
        return
    callee = Callee(scope, [scope.any() for _ in range(1 + scope.below(3))])
    wanted = callee.given[0]
    one = [callee.build(lambda s, a: [like(s, a, wanted)]) for _ in range(3)]
    stateless = "Stateless" * (scope.chance(0.3) and not callee.handles)
    common: dict[str, Any] = {"Tin": callee.types, "Tout": [wanted.dtype]}
    if scope.chance(0.3):
        index = scope.constant(scope.below(6) - 1, INT32)
        node = callee.call(f"{stateless}Case", index, branches=one, **common)
    else:
        choice = scope.having(lambda v: v.dtype is not BOOL and v.shape in ((), (3,), (0,)))
        if choice is None or scope.chance(0.7):
            choice = scope.predicate()
        node = callee.call(f"{stateless}If", choice, Tcond=choice.dtype,
                           then_branch=one[0], else_branch=one[1], **common)  # fmt: skip
    scope.put(node, wanted.dtype, wanted.shape)


def loop(scope: Scope) -> None:
    """A counted While."""
    if scope.depth >= MOST_DEPTH:
        return
    counter = Value(scope.constant(0, INT32).output, INT32, ())
    limit = Value(scope.constant(scope.below(4), INT32).output, INT32, ())
    carried = [scope.any() for _ in range(1 + scope.below(2))]
    callee = Callee(scope, [counter, limit, *carried])

    def goes_on(inner: Scope, args: list[Value]) -> list[Value]:
        return [Value((inner.node("Less", args[0], args[1], T=INT32), 0), BOOL, ())]

    def step(inner: Scope, args: list[Value]) -> list[Value]:
        more = inner.node("AddV2", args[0], inner.constant(1, INT32), T=INT32)
        last = [like(inner, [args[2 + k]], v) for k, v in enumerate(carried)]
        handles = [inner.resources[name] for name in callee.handles]
        passed = [Value(h.output, RESOURCE, ()) for h in handles]
        return [Value((more, 0), INT32, ()), args[1], *last, *passed]

    condition, body = callee.build(goes_on, 0), callee.build(step)
    op = "StatelessWhile" if not callee.handles and scope.chance(0.3) else "While"
    node = callee.call(op, T=callee.types, cond=condition, body=body,
                       parallel_iterations=1 + scope.below(10))  # fmt: skip
    for k, value in enumerate(carried):
        scope.put(node, value.dtype, value.shape, index=2 + k)


PIECES = (call, branch, loop)
