"""Loops: While. Source: TensorFlow ``while_v2.py``."""

from __future__ import annotations

from typing import Any, NamedTuple

from drystone_base.autodiff._registry import Grads, needs, rule, zeros
from drystone_base.autodiff.control_flow._functions import (
    Way,
    dtypes_of,
    finish,
    is_stateful,
    reached_by,
)
from drystone_base.core.dtypes import INT32, VARIANT, DType
from drystone_base.graph.builder import Builder
from drystone_base.graph.extract import Extract
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output
from drystone_base.ops.attrs import FunctionRef

__all__: list[str] = []


@rule("While", "StatelessWhile")
def _while(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """The loop counts its rounds and stacks what the way back needs, which a second loop takes."""
    loop = _Loop(b, node, grads)
    loop.rewrite()
    return loop.gradients()


class _Stacked(NamedTuple):
    """What is stacked in each round: an output of the body."""

    output: Output
    dtype: DType


class _Loop:
    """The way back through a loop."""

    def __init__(self, b: Builder, node: Node, grads: list[Output | None]) -> None:
        self.b, self.node, self.graph = b, node, node.graph
        self.body: FunctionRef = node.attr("body")
        self.count = len(node.inputs)
        self.given = {k: g for k, g in enumerate(grads) if g is not None}
        self.way = self._settled(self._reached())
        way = self.way
        way.complete(way.given)
        way.split()
        fixed = {k for k, r in enumerate(way.body.results) if r.inputs[0] == (way.body.args[k], 0)}
        self.fixed = [k for k in way.reads if k in fixed]
        self.stacked = [
            *(_Stacked((way.body.args[k], 0), way.body.args[k].attrs["T"])
              for k in way.reads if k not in fixed),
            *(_Stacked(o, way.b.dtype(o)) for o in way.kept),
        ]  # fmt: skip

    def _reached(self) -> set[int]:
        """The loop's variables that a change of what gradients are asked of reaches."""
        reached = {k for k, source in enumerate(self.node.inputs) if needs(self.b, source)}
        while True:
            wider = reached | reached_by(self.graph, self.body, sorted(reached))
            if wider == reached:
                return reached
            reached = wider

    def _settled(self, reached: set[int]) -> Way:
        """The way back through one round, for all variables that results depend on in the end."""
        dtypes = {k: self.b.dtype(g) for k, g in self.given.items() if k in reached}
        while True:
            dtypes = dict(sorted(dtypes.items()))
            way = Way.of(self.node, self.body, dtypes, sorted(reached))
            more = {k: way.b.dtype(o) for k, o in way.found.items() if k not in dtypes}
            if not more:
                way.found = {k: o for k, o in way.found.items() if k in dtypes}
                return way
            dtypes |= more

    # ---- there ---------------------------------------------------------------------------------

    def rewrite(self) -> None:
        """Let the loop count its rounds, and stack."""
        b, node, graph = self.b, self.node, self.graph
        unknown = b.const(-1, INT32)
        stacks = [
            b("EmptyTensorList", unknown, unknown, element_dtype=s.dtype) for s in self.stacked
        ]
        types = [*node.attr("T"), INT32, *[VARIANT] * len(stacks)]
        body, cond = self._counting_body(), self._wider_cond()
        graph.set_inputs(node, [*node.inputs, b.const(0, INT32), *stacks])
        graph.set_attr(node, "T", types)
        graph.set_attr(node, "body", body)
        graph.set_attr(node, "cond", cond)
        graph.remove_attr(node, "output_shapes")
        graph.remove_attr(node, "_output_shapes")

    def _counting_body(self) -> FunctionRef:
        way = self.way
        extract = way.there()
        inner = Builder(extract.graph, "gradients")
        rounds = _argument(extract, INT32)
        results = way.results(extract)
        results.append((inner("AddV2", rounds, inner.const(1, INT32)), INT32))
        for one in self.stacked:
            stack = _argument(extract, VARIANT)
            value = extract.place(one.output)
            pushed = inner("TensorListPushBack", stack, value, element_dtype=one.dtype)
            results.append((pushed, VARIANT))
        effects = way.effects(extract)
        return finish(self.graph, f"{self.body.name}_kept", extract, results, effects)

    def _wider_cond(self) -> FunctionRef:
        """The condition, with the further variables that it does not look at."""
        cond: FunctionRef = self.node.attr("cond")
        library = self.graph.functions
        body = library[cond.name].body(library, cond.attrs)
        skipped = {*body.args, *body.results}
        args = [((arg, 0), arg.attrs["T"]) for arg in body.args]
        extract = Extract(body.graph, args, [n for n in body.graph if n not in skipped])
        for dtype in (INT32, *[VARIANT] * len(self.stacked)):
            _argument(extract, dtype)
        results = [(extract.place(r.inputs[0]), r.attrs["T"]) for r in body.results]
        effects = [extract.graph[n.name] for n in body.effects]
        return finish(self.graph, f"{cond.name}_kept", extract, results, effects)

    # ---- and back ------------------------------------------------------------------------------

    def gradients(self) -> list[Output | None]:
        """Add the loop of the ways back; the gradient of each input."""
        b, order = self.b, list(self.way.given)
        if not order:
            return [None] * self.count
        stacks = [(self.node, self.count + 1 + k) for k in range(len(self.stacked))]
        fixed = [self.node.inputs[k] for k in self.fixed]
        inputs = [(self.node, self.count), *map(self._start, order), *stacks, *fixed]
        body = self._back_body(dtypes_of(b, inputs))
        cond = self._back_cond(dtypes_of(b, inputs))
        op = "While" if is_stateful(self.graph, body) else "StatelessWhile"
        back = b.node(op, inputs, body=body, cond=cond)
        place = {k: (back, 1 + n) for n, k in enumerate(order)}
        return [place.get(k) for k in range(self.count)]

    def _start(self, k: int) -> Output:
        """The gradient of a variable behind the loop."""
        given = self.given.get(k)
        return zeros(self.b, (self.node, k), self.way.given[k]) if given is None else given

    def _back_cond(self, types: list[DType]) -> FunctionRef:
        extract = Extract(_graph_like(self.graph), [], [])
        args = [_argument(extract, dtype) for dtype in types]
        inner = Builder(extract.graph, "gradients")
        goes_on = inner("Greater", args[0], inner.const(0, INT32))
        return finish(
            self.graph, f"{self.body.name}_back_cond", extract, [(goes_on, inner.dtype(goes_on))]
        )

    def _back_body(self, types: list[DType]) -> FunctionRef:
        """One round: take what was stacked, go back, hand on."""
        way = self.way
        kept = [(s.output, s.dtype) for s in self.stacked]
        step = way.back(self.fixed, kept)
        name = f"{self.body.name}_back"
        made = finish(self.graph, name, step, way.ends(step, way.given))
        extract = Extract(_graph_like(self.graph), [], [])
        rounds, *others = [_argument(extract, dtype) for dtype in types]
        inner = Builder(extract.graph, "gradients")
        n, m = len(way.given), len(self.stacked)
        grads, stacks, fixed = others[:n], others[n : n + m], others[n + m :]
        unknown = inner.const(-1, INT32)
        popped = [
            inner.node("TensorListPopBack", stack, unknown, element_dtype=s.dtype)
            for stack, s in zip(stacks, self.stacked, strict=True)
        ]
        op = "StatefulPartitionedCall" if is_stateful(self.graph, made) else "PartitionedCall"
        call = inner.node(
            op, [*fixed, *((p, 1) for p in popped), *grads], Tout=list(way.given.values()), f=made
        )
        left = inner("Sub", rounds, inner.const(1, INT32))
        results = [left, *((call, k) for k in range(n)), *((p, 0) for p in popped), *fixed]
        return finish(self.graph, f"{name}_round", extract, list(zip(results, types, strict=True)))


def _graph_like(graph: Graph) -> Graph:
    """An empty graph with the same functions."""
    made = Graph()
    made.functions = graph.functions
    return made


def _argument(extract: Extract, dtype: DType) -> Output:
    """One more argument of a body."""
    k = len(extract.args)
    name = extract.graph.unique_name(f"arg_{k}")
    extract.args.append(extract.graph.add("_Arg", name, attrs={"T": dtype, "index": k}))
    return extract.args[-1], 0
