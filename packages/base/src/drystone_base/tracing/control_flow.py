"""Branches and loops whose course is known when the graph runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from drystone_base.core.arguments import checked
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import BadRequest
from drystone_base.core.printable import described
from drystone_base.core.shown import shape_text
from drystone_base.graph.extract import Extract, add_function
from drystone_base.graph.node import Output
from drystone_base.ops.attrs import FunctionRef
from drystone_base.tracing import calls
from drystone_base.tracing.nests import described_nest, leaves, mapped
from drystone_base.tracing.tensor import Tensor
from drystone_base.tracing.trace import Trace
from drystone_base.tracing.variable import Variable

__all__ = ["cond", "switch", "while_loop"]

_MOST_ROUNDS = 4


@checked
def cond(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    """What ``then(*operands)`` gives where ``test`` is true, else ``otherwise(*operands)``.

    Both are traced, and one of them runs. They may use tensors and variables from outside, and must
    return the same nest of tensors of the same dtypes. A ``test`` that is known is decided at once.
    Raises ``BadRequest`` (``branches-differ``). An ``If`` node.
    """
    trace = Trace.active()
    if trace is None or not isinstance(test, Tensor | Variable):
        return (then if _number(test) else otherwise)(*operands)
    chosen = calls.as_output(trace, test)
    branches = _Branches(trace, [then, otherwise], operands)
    first, second = branches.functions
    attrs = {"then_branch": first, "else_branch": second, "Tout": branches.types}
    return branches.emitted("If", chosen, attrs)


@checked
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """What ``branches[index](*operands)`` gives; of an index that is none, the last one.

    As :func:`cond`; raises ``BadRequest`` (``branches-differ``, ``bad-argument``). A ``Case`` node.
    """
    if not branches:
        raise BadRequest(
            "there are no branches to choose from",
            check="a switch must have a branch",
            found="no functions",
            needed="one function or more",
            remedy="give a list of functions",
            code="bad-argument",
        )
    trace = Trace.active()
    if trace is None or not isinstance(index, Tensor | Variable):
        number = int(_number(index))
        return branches[number if 0 <= number < len(branches) else -1](*operands)
    chosen = calls.as_output(trace, index)
    made = _Branches(trace, branches, operands)
    return made.emitted("Case", chosen, {"branches": made.functions, "Tout": made.types})


@checked
def while_loop(test: Callable[..., Any], body: Callable[..., Any], variables: Sequence[Any]) -> Any:
    """The loop's variables once ``test(*variables)`` is false, each round replaced by ``body``'s.

    ``variables`` is a list or tuple of nests; ``body(*variables)`` returns as many, of the same
    structure and dtypes. A size that differs from round to round becomes unknown. Outside of a
    function that is traced the loop runs at once. Raises ``BadRequest`` (``branches-differ``). A
    ``While`` node.
    """
    trace = Trace.active()
    if trace is None:
        while _number(test(*variables)):
            variables = body(*variables)
        return variables
    return _Loop(trace, test, body, variables).emitted()


def _number(given: Any) -> Any:
    """A number that decides at once; raises ``BadRequest`` (``bad-argument``) for what is none."""
    try:
        array = np.asarray(given)
        fits = array.size == 1 and array.dtype.kind in "biuf"
    except (TypeError, ValueError):
        fits = False
    if fits:
        return array.reshape(())[()]
    raise BadRequest(
        "this decides about no branch and no round",
        check="a test or an index must be one number or boolean",
        found=f"{type(given).__name__}: {described(given, 80)}",
        needed="one number",
        remedy="reduce it first: x.sum() > 0",
        code="bad-argument",
    )


def _flat(trace: Trace, nest: Any) -> list[Output]:
    return [calls.as_output(trace, leaf) for _, leaf in leaves(nest)]


def _packed(nest: Any, tensors: Sequence[Tensor]) -> Any:
    rest = iter(tensors)
    return mapped(nest, lambda _: next(rest))


class _Part:
    """One branch, or one part of a loop: a trace inside another one, and what it returns."""

    def __init__(self, outer: Trace, function: Callable[..., Any], args: Any) -> None:
        self.trace = Trace(outer)
        with self.trace:
            self.nest = function(*(args(self.trace) if callable(args) else args))
            self.results = _flat(self.trace, self.nest)
        self.types = [self.trace.b.dtype(o) for o in self.results]

    def function(
        self, stem: str, args: Sequence[Output], captured: Sequence[Output], more: bool = False
    ) -> FunctionRef:
        """The function in the library: of ``args``, then of what is captured from outside.

        ``more``: it hands on what is captured, as a loop's body does.
        """
        trace = self.trace
        held = [trace.capture(outer) for outer in captured]
        given = [*args, *held]
        skipped = {output[0] for output in given}
        nodes = [node for node in trace.graph if node not in skipped]
        types = [trace.b.dtype(o) for o in given]
        extract = Extract(trace.graph, list(zip(given, types, strict=True)), nodes)
        ends = [(o, trace.b.dtype(o)) for o in [*self.results, *(held if more else [])]]
        after = [extract.graph[node.name] for node in trace.effects]
        body, signature = extract.finish([(extract.place(o), t) for o, t in ends], after)
        return FunctionRef(add_function(trace.graph, stem, body, signature))


def _captured(parts: Sequence[_Part]) -> list[Output]:
    """What parts use from outside, each once."""
    return list(dict.fromkeys(outer for part in parts for outer in part.trace.captured))


def _is_stateful(trace: Trace, functions: Sequence[FunctionRef]) -> bool:
    library = trace.graph.functions
    return any(library[f.name].proto.signature.is_stateful for f in functions)


class _Branches:
    """Functions of the same arguments that return the same."""

    def __init__(
        self, trace: Trace, branches: Sequence[Callable[..., Any]], operands: Sequence[Any]
    ) -> None:
        self.trace = trace
        parts = [_Part(trace, branch, list(operands)) for branch in branches]
        self.nest, self.types = parts[0].nest, parts[0].types
        for part in parts[1:]:
            _check_same(parts[0], part)
        self.captured = _captured(parts)
        self.functions = [part.function("branch", [], self.captured) for part in parts]

    def emitted(self, op: str, chosen: Output, attrs: dict[str, Any]) -> Any:
        """The node's outputs, in the structure that the branches return."""
        kind = op if _is_stateful(self.trace, self.functions) else f"Stateless{op}"
        node = self.trace.emit(kind, [chosen, self.captured], attrs)
        found = [Tensor(self.trace, (node, k)) for k in range(len(self.types))]
        return _packed(self.nest, found)


def _check_same(first: _Part, other: _Part) -> None:
    a, b = (f"{described_nest(p.nest)} of {p.types}" for p in (first, other))
    if a != b:
        raise _refused(b, a)


def _refused(found: str, needed: str) -> BadRequest:
    return BadRequest(
        "branches of a graph, or rounds of a loop, do not fit together",
        check="all must return the same nest of tensors of the same dtypes",
        found=found,
        needed=needed,
        remedy="return as many tensors from each, and cast: x.astype('float32')",
        code="branches-differ",
    )


class _Loop:
    """A loop: its variables, its test and its body."""

    def __init__(
        self, trace: Trace, test: Callable[..., Any], body: Callable[..., Any], nest: Any
    ) -> None:
        self.trace, self.nest = trace, list(nest)
        self.start = _flat(trace, self.nest)
        self.types: list[DType] = [trace.b.dtype(o) for o in self.start]
        shapes = [trace.shapes.shape(o) for o in self.start]
        for _ in range(_MOST_ROUNDS):
            self.args: list[Output] = []
            self.body = _Part(trace, body, self._arguments(shapes))
            wider = self._widened(shapes)
            if wider == shapes:
                break
            shapes = wider
        body_args = self.args
        self.test = _Part(trace, test, self._arguments(shapes))
        self._check_test()
        captured = _captured([self.body, self.test])
        self.captured = captured
        self.functions = [
            self.test.function("loop_test", self.args, captured),
            self.body.function("loop_body", body_args, captured, more=True),
        ]

    def _arguments(self, shapes: Sequence[Any]) -> Callable[[Trace], list[Any]]:
        def make(trace: Trace) -> list[Any]:
            known = [None if s is None else [max(d, -1) for d in s] for s in shapes]
            self.args = [
                trace.placeholder(dtype, shape, "variable")
                for dtype, shape in zip(self.types, known, strict=True)
            ]
            found: list[Any] = _packed(self.nest, [Tensor(trace, o) for o in self.args])
            return found

        return make

    def _widened(self, shapes: Sequence[Any]) -> list[Any]:
        """The shapes that hold before and after a round; raises for other structures or dtypes."""
        body = self.body
        returned = list(body.nest) if isinstance(body.nest, list | tuple) else body.nest
        found = f"{described_nest(returned)} of {body.types}"
        needed = f"{described_nest(self.nest)} of {self.types}"
        if found != needed:
            raise _refused(found, needed)
        after = [body.trace.shapes.shape(o) for o in body.results]
        return [_admitting(a, b) for a, b in zip(shapes, after, strict=True)]

    def _check_test(self) -> None:
        types, outputs = self.test.types, self.test.results
        shape = self.test.trace.shapes.shape(outputs[0]) if outputs else None
        if len(types) != 1 or types[0].label != "bool" or shape not in ((), None):
            found = f"{types} {shape_text(shape)}"
            raise _refused(f"a test that gives {found}", "one bool without dimensions")  # fmt: skip

    def emitted(self) -> Any:
        """The variables behind the loop."""
        test, body = self.functions
        op = "While" if _is_stateful(self.trace, self.functions) else "StatelessWhile"
        inputs = [*self.start, *self.captured]
        node = self.trace.emit(op, [inputs], {"cond": test, "body": body})
        found = [Tensor(self.trace, (node, k)) for k in range(len(self.start))]
        return _packed(self.nest, found)


def _admitting(a: Any, b: Any) -> Any:
    """The shape that admits both: symbols are sizes of one trace only."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y and x >= 0 else -1 for x, y in zip(a, b, strict=True))
