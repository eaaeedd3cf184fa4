"""If, Case and While become Switch, Merge and frames, with calls of their functions between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType
from drystone_base.graph import Graph, Node, Output
from drystone_base.ops.attrs import FunctionRef
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._rewriting import Beside, become_identity, not_fed
from drystone_base.passes._types import Grouping, PassOptions

__all__ = ["lower_functional_ops"]

_IFS: Final = frozenset({"If", "StatelessIf"})
_CASES: Final = frozenset({"Case", "StatelessCase"})
_WHILES: Final = frozenset({"While", "StatelessWhile"})
_MARK: Final = "_lower_using_switch_merge"


@graph_pass(
    Grouping.PRE_PLACEMENT, 10, name="LowerFunctionalOpsPass", ops=_IFS | _CASES | _WHILES,
    is_default=False,
)  # fmt: skip
def lower_functional_ops(options: PassOptions) -> bool:
    """Make If, Case and While branches and loops of Switch, Merge and frames (exact).

    Branches and bodies stay functions, which are called. Nodes marked with
    ``_lower_using_switch_merge=False`` are left alone. Setting ``marked_only``: lower only what is
    marked with True, as TensorFlow does. Of use where branches run on several devices, or for
    tools that know frames only: the executors run the functional ops faster, so it is no default
    pass. Source: TensorFlow's ``LowerFunctionalOpsPass``.
    """
    assert options.graph is not None
    graph = options.graph
    marked_only = bool(options.settings.get("marked_only", False))
    found = [
        node
        for node in not_fed(options, *_IFS, *_CASES, *_WHILES)
        if node.attrs.get(_MARK, not marked_only) and node.inputs
    ]
    for node in found:
        if node.op in _WHILES:
            _Loop(graph, node).apply()
        else:
            _Branches(graph, node).apply()
    return bool(found)


class _Lowering(Beside):
    """What both forms need: calls, and taking the place of the lowered node."""

    def __init__(self, graph: Graph, node: Node) -> None:
        super().__init__(graph, node)
        self.is_stateful = not node.op.startswith("Stateless")
        self.before = list(node.controls)

    def call(
        self, stem: str, function: FunctionRef, inputs: Sequence[Output],
        tin: Sequence[DType], tout: Sequence[DType], controls: Sequence[Node] = (),
    ) -> Node:  # fmt: skip
        """A call of a branch or a body."""
        op = "StatefulPartitionedCall" if self.is_stateful else "PartitionedCall"
        return self.add(op, stem, inputs, controls, f=function, Tin=list(tin), Tout=list(tout))

    def truth(self, value: Output, dtype: DType) -> Output:
        """``value`` as the scalar bool that If and While read it as."""
        return (self.add("ToBool", "truth", [value], T=dtype), 0)

    def become(
        self, results: Sequence[Output], types: Sequence[DType], controls: Sequence[Node]
    ) -> None:
        """Make the lowered node hand on the results under its name."""
        become_identity(self.graph, self.node, results, types, controls)


class _Branches(_Lowering):
    """If and Case: the inputs are switched to the branches, whose results are merged."""

    def apply(self) -> None:
        node = self.node
        self.tin, self.tout = list(node.full_attrs()["Tin"]), list(node.full_attrs()["Tout"])
        if node.op in _IFS:
            functions = [node.attrs["else_branch"], node.attrs["then_branch"]]
            self.choice = self.truth(node.inputs[0], node.attrs["Tcond"])
        else:
            functions = list(node.attrs["branches"])
            self.choice = node.inputs[0]
        self.count = len(functions)
        pivots = self.pivots()
        switches = [
            self.switch(f"switch_{k}", value, dtype)
            for k, (value, dtype) in enumerate(zip(node.inputs[1:], self.tin, strict=True))
        ]
        calls = [
            self.call(f"branch_{b}", function, [(s, b) for s in switches],
                      self.tin, self.tout, [pivots[b]])
            for b, function in enumerate(functions)
        ]  # fmt: skip
        results = [
            (self.merge(f"merge_{k}", [(c, k) for c in calls], dtype), 0)
            for k, dtype in enumerate(self.tout)
        ]
        done = [
            self.add("Identity", f"done_{b}", [pivots[b]], [call], T=self.pivot_type)
            for b, call in enumerate(calls)
        ]
        self.become(
            results, self.tout, [self.merge("done", [(d, 0) for d in done], self.pivot_type)]
        )

    @property
    def pivot_type(self) -> DType:
        return dtypes.BOOL if self.node.op in _IFS else dtypes.INT32

    def pivots(self) -> list[Node]:
        """Per branch a node that is dead unless the branch is taken."""
        dtype = self.pivot_type
        switch = self.switch("pivot", self.choice, dtype, self.before)
        return [
            self.add("Identity", f"pivot_{b}", [(switch, b)], T=dtype) for b in range(self.count)
        ]

    def switch(self, stem: str, value: Output, dtype: DType, controls: Sequence[Node] = ()) -> Node:
        if self.node.op in _IFS:
            return self.add("Switch", stem, [value, self.choice], controls, T=dtype)
        inputs = [value, self.choice]
        return self.add("_SwitchN", stem, inputs, controls, T=dtype, num_outs=self.count)

    def merge(self, stem: str, values: Sequence[Output], dtype: DType) -> Node:
        return self.add("Merge", stem, values, T=dtype, N=len(values))


class _Loop(_Lowering):
    """While: one frame, in which the condition and the body are called."""

    def apply(self) -> None:
        node = self.node
        types = list(node.full_attrs()["T"])
        condition, body = node.attrs["cond"], node.attrs["body"]
        frame = {
            "frame_name": node.name,
            "is_constant": False,
            "parallel_iterations": node.full_attrs().get("parallel_iterations", 10),
        }
        enters = [
            self.add("Enter", f"enter_{k}", [value], self.before, T=dtype, **frame)
            for k, (value, dtype) in enumerate(zip(node.inputs, types, strict=True))
        ]
        merges = [
            self.add("Merge", f"merge_{k}", [enter, enter], T=dtype, N=2)
            for k, (enter, dtype) in enumerate(zip(enters, types, strict=True))
        ]
        verdict_type = self.verdict_type(condition)
        current = [(merge, 0) for merge in merges]
        verdict = self.call("cond", condition, current, types, [verdict_type])
        go = self.add("LoopCond", "go", [self.truth((verdict, 0), verdict_type)])
        switches = [
            self.add("Switch", f"switch_{k}", [merge, go], T=dtype)
            for k, (merge, dtype) in enumerate(zip(merges, types, strict=True))
        ]
        step = self.call("body", body, [(s, 1) for s in switches], types, types)
        for k, (merge, dtype) in enumerate(zip(merges, types, strict=True)):
            back = self.add("NextIteration", f"next_{k}", [(step, k)], T=dtype)
            self.graph.set_input(merge, 1, (back, 0))
        exits = [
            self.add("Exit", f"exit_{k}", [(s, 0)], T=dtype)
            for k, (s, dtype) in enumerate(zip(switches, types, strict=True))
        ]
        self.become([(e, 0) for e in exits], types, [])

    def verdict_type(self, condition: FunctionRef) -> DType:
        body = self.graph.functions[condition.name].body(self.graph.functions, condition.attrs)
        found: DType = body.results[0].attrs["T"]
        return found
