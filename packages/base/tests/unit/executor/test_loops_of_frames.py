"""Loops of frames run as a condition and a body; what is none of the form stays in frames."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tiny_models import constant as any_constant
from tiny_models import placeholder as any_placeholder

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, INT32, DType
from drystone_base.core.errors import DrystoneError
from drystone_base.executor import programs
from drystone_base.executor.encode import Encoded, encode
from drystone_base.executor.native import NativePlan
from drystone_base.graph import Graph, Node
from drystone_base.host import available

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

Output = tuple[Node, int]
I32 = {"T": INT32}


def constant(graph: Graph, name: str, value: Any) -> Node:
    return any_constant(graph, name, value, np.int32)


def placeholder(
    graph: Graph, name: str, dtype: DType = INT32, shape: tuple[int, ...] | None = ()
) -> Node:
    return any_placeholder(graph, name, shape, dtype)


class Loop:
    """``while k < limit: k = step(k)`` in a graph, from constants or what is given."""

    def __init__(self, graph: Graph, name: str, limit: Output, start: Output | None = None) -> None:
        self.graph, self.name = graph, name
        zero = (constant(graph, f"{name}/zero", 0), 0)
        first = self.enter("start", start or zero)
        self.limit = self.enter("limit", limit, is_constant=True)
        self.merge = self.add("Merge", "merge", [first, first], T=INT32, N=2)
        self.less = self.add("Less", "less", [self.merge, self.limit], **I32)
        self.again = self.add("LoopCond", "again", [self.less])
        self.switch = self.add("Switch", "switch", [self.merge, self.again], **I32)
        self.stay = self.add("Identity", "stay", [(self.switch, 1)], **I32)
        self.out = self.add("Exit", "out", [(self.switch, 0)], **I32)

    def add(self, op: str, name: str, inputs: list[Any], **attrs: Any) -> Node:
        """A node of the loop."""
        return self.graph.add(op, f"{self.name}/{name}", inputs, attrs=attrs)

    def enter(
        self, name: str, value: Node | Output, dtype: DType = INT32, *, is_constant: bool = False
    ) -> Node:
        """A value from outside."""
        return self.add("Enter", name, [value], T=dtype, frame_name=self.name,
                        is_constant=is_constant, parallel_iterations=10)  # fmt: skip

    def one(self) -> Node:
        """The constant 1, in the body."""
        node = constant(self.graph, f"{self.name}/one", 1)
        self.graph.add_control(node, self.stay)
        return node

    def close(self, value: Node | Output) -> Node:
        """The value is that of the next iteration; gives the Exit."""
        following = self.add("NextIteration", "next", [value], **I32)
        self.graph.set_input(self.merge, 1, (following, 0))
        return self.out

    def count(self) -> Node:
        """``k += 1``."""
        return self.close(self.add("AddV2", "more", [self.stay, self.one()], **I32))


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[dict[str, Any]]]:
    """The blocks of the plan that was made last."""
    made: list[NativePlan] = []
    initialize = NativePlan.__init__

    def note(self: NativePlan, *args: Any) -> None:
        initialize(self, *args)
        made.append(self)

    monkeypatch.setattr(NativePlan, "__init__", note)
    return lambda: json.loads(made[-1].describe())["blocks"]


def both(graph: Graph, fetch: str, feeds: dict[str, Any]) -> Any:
    """What the native executor gives; the reference executor gives the same."""
    found = []
    for executor in ("reference", "native"):
        config = SessionConfig(executor=executor, optimizer="off")  # type: ignore[arg-type]
        try:
            found.append(Session(graph, config).run(fetch, feeds))
        except DrystoneError as error:
            code = error.code.removeprefix("plugin-")  # a kernel's, whoever has it
            found.append((code, error.status, error.what.partition(" failed")[0], error.calls))
    assert np.array_equal(*found) if isinstance(found[0], np.ndarray) else found[0] == found[1]
    return found[1]


Blocks = Callable[[], list[dict[str, Any]]]


def test_a_loop_is_a_condition_and_a_body(described: Blocks) -> None:
    graph = Graph()
    Loop(graph, "loop", (placeholder(graph, "limit"), 0)).count()
    assert both(graph, "loop/out:0", {"limit:0": 7}) == 7
    assert both(graph, "loop/out:0", {"limit:0": -1}) == 0
    blocks = described()
    assert [block["name"] for block in blocks] == ["", "condition of loop", "body of loop"]
    assert [i["kind"] for i in blocks[0]["instructions"]][-1] == "loop"
    assert not any(block["has_frames"] for block in blocks)


def test_loops_in_loops(described: Blocks) -> None:
    graph = Graph()
    outer = Loop(graph, "outer", (placeholder(graph, "limit"), 0))
    twice = outer.add("AddV2", "twice", [outer.stay, outer.stay], **I32)
    inner = Loop(graph, "inner", (twice, 0), start=(outer.stay, 0))
    outer.close(outer.add("AddV2", "more", [inner.count(), outer.one()], **I32))
    assert both(graph, "outer/out:0", {"limit:0": 20}) == 31
    assert not any(block["has_frames"] for block in described())


def branch(graph: Graph) -> tuple[Output, Output, Node]:
    """Both sides of a Switch of ``limit`` on ``go``, and its pivot."""
    go, limit = placeholder(graph, "go", BOOL), placeholder(graph, "limit")
    switch = graph.add("Switch", "branch", [limit, go], attrs=I32)
    return (switch, 0), (switch, 1), switch


@pytest.mark.parametrize(("go", "wanted"), [(True, 5), (False, -5)])
def test_a_loop_in_a_branch_that_is_not_taken_is_dead(
    described: Blocks, go: bool, wanted: int
) -> None:
    """Its start is a constant that is never dead: the condition is, with the limit."""
    graph = Graph()
    no, yes, _ = branch(graph)
    done = Loop(graph, "loop", yes).count()
    other = graph.add("Neg", "other", [no], attrs=I32)
    graph.add("Merge", "either", [other, done], attrs={"T": INT32, "N": 2})
    assert both(graph, "either:0", {"go:0": go, "limit:0": 5}) == wanted
    assert {i["kind"] for i in described()[0]["instructions"]} >= {"loop", "switch", "merge"}


def test_a_loop_that_is_entered_in_part_stays_in_frames(described: Blocks) -> None:
    """What goes round with a dead value may still do so."""
    graph = Graph()
    _, yes, _ = branch(graph)
    loop = Loop(graph, "loop", (constant(graph, "three", 3), 0))
    other = loop.enter("other", yes)
    merge = loop.add("Merge", "carried", [other, other], T=INT32, N=2)
    switch = loop.add("Switch", "guarded", [merge, loop.again], **I32)
    again = loop.add("NextIteration", "again_carried", [(switch, 1)], **I32)
    graph.set_input(merge, 1, (again, 0))
    loop.add("Exit", "carried_out", [(switch, 0)], **I32)
    loop.count()
    for go in (True, False):
        assert both(graph, "loop/out:0", {"go:0": go, "limit:0": 5}) == 3
    both(graph, "loop/carried_out:0", {"go:0": True, "limit:0": 5})
    assert described()[0]["has_frames"]
    assert both(graph, "loop/carried_out:0", {"go:0": False, "limit:0": 5})[0] == "dead-fetch"


def test_what_is_the_same_in_all_iterations_runs_before_the_loop(described: Blocks) -> None:
    graph = Graph()
    loop = Loop(graph, "loop", (placeholder(graph, "limit"), 0))
    step = loop.add("Sub", "step", [loop.limit, loop.limit], **I32)
    half = loop.add("AddV2", "more", [loop.stay, loop.one()], **I32)
    loop.close(loop.add("AddV2", "whole", [half, step], **I32))
    assert both(graph, "loop/out:0", {"limit:0": 4}) == 4
    assert "loop/step" in [i["node"] for i in described()[0]["instructions"]]


def test_a_node_with_an_effect_that_runs_in_every_iteration_stays_in_frames(
    described: Blocks,
) -> None:
    graph = Graph()
    loop = Loop(graph, "loop", (placeholder(graph, "limit"), 0))
    shape = loop.enter("shape", constant(graph, "shape", [1]), is_constant=True)
    drawn = loop.add("RandomUniformInt", "drawn", [shape, loop.limit, loop.limit],
                     T=INT32, Tout=INT32, seed=1, seed2=1)  # fmt: skip
    graph.add_control(loop.one(), drawn)
    loop.close(loop.add("AddV2", "more", [loop.stay, graph["loop/one"]], **I32))
    both(graph, "loop/out:0", {"limit:0": 0})
    assert described()[0]["has_frames"]


@pytest.mark.parametrize(("shape", "wanted"), [((1,), 4), ((2,), None)])
def test_the_condition_is_one_element(shape: tuple[int, ...], wanted: int | None) -> None:
    graph = Graph()
    limit = placeholder(graph, "limit", shape=None)
    Loop(graph, "loop", (limit, 0)).count()
    found = both_values(graph, {"limit:0": np.full(shape, 4, np.int32)})
    if wanted is not None:
        assert [int(value) for value in found] == [wanted, wanted]
        return
    kinds = [(error.code.removeprefix("plugin-"), error.status) for error in found]
    assert kinds == [("kernel-failed", "INVALID_ARGUMENT")] * 2
    assert found[1].what == "node 'loop/again' (LoopCond) failed"
    assert found[1].found == "its choice has 2 elements, it must have one"


def both_values(graph: Graph, feeds: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for executor in ("reference", "native"):
        config = SessionConfig(executor=executor, optimizer="off")  # type: ignore[arg-type]
        try:
            found.append(Session(graph, config).run("loop/out:0", feeds))
        except DrystoneError as error:
            found.append(error)
    return found


def test_a_failure_in_a_body_names_its_node_and_no_function() -> None:
    graph = Graph()
    loop = Loop(graph, "loop", (placeholder(graph, "limit"), 0))
    zero = loop.add("Sub", "nothing", [loop.stay, loop.stay], **I32)
    loop.close(loop.add("FloorDiv", "broken", [loop.one(), zero], **I32))
    code, status, what, calls = both(graph, "loop/out:0", {"limit:0": 3})
    assert (code, status, calls) == ("kernel-failed", "INVALID_ARGUMENT", [])
    assert what == "node 'loop/broken' (FloorDiv)"


def test_a_deadline_ends_a_loop() -> None:
    graph = Graph()
    loop = Loop(graph, "loop", (placeholder(graph, "limit"), 0))
    loop.close(loop.stay)
    session = Session(graph, SessionConfig(executor="native", deadline=0.2, optimizer="off"))
    with pytest.raises(DrystoneError) as caught:
        session.run("loop/out:0", {"limit:0": 1})
    assert caught.value.status == "DEADLINE_EXCEEDED"
    assert "loop/" in str(caught.value)


def test_a_loop_whose_result_it_takes_itself_stays_in_frames() -> None:
    """One loop as an instruction would wait for itself: for a constant that only an Exit gives."""
    graph = Graph()
    loop = Loop(graph, "loop", (placeholder(graph, "limit"), 0))
    late = graph.add("Neg", "late", [(loop.out, 0)], attrs=I32)
    entered = loop.enter("late", late)
    merge = loop.add("Merge", "carried", [entered, entered], T=INT32, N=2)
    switch = loop.add("Switch", "guarded", [merge, loop.again], **I32)
    again = loop.add("NextIteration", "back", [(switch, 1)], **I32)
    graph.set_input(merge, 1, (again, 0))
    loop.add("Exit", "carried_out", [(switch, 0)], **I32)
    loop.count()
    assert both(graph, "loop/out:0", {"limit:0": 0}) == 0
    assert both(graph, "loop/carried_out:0", {"limit:0": 0}) == 0


def test_a_plan_whose_loop_shares_its_blocks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The body's feeds are the loop's, which nobody else keeps."""

    def shared(*args: Any, **named: Any) -> Encoded:
        out = encode(*args, **named)
        loop = out.plan.blocks[0].instructions[-1]
        loop.blocks[:] = [loop.blocks[0]] * 2
        return out

    monkeypatch.setattr(programs, "encode", shared)
    graph = Graph()
    Loop(graph, "loop", (placeholder(graph, "limit"), 0)).count()
    session = Session(graph, SessionConfig(executor="native", optimizer="off"))
    with pytest.raises(DrystoneError, match="the plan is malformed: loop 'loop/again' shares its"):
        session.run("loop/out:0", {"limit:0": 1})
