"""When nodes run: equal predicates mean that they are dead together."""

from __future__ import annotations

from drystone_base.core.dtypes import BOOL, FLOAT32
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.deadness import ALIVE, Deadness

T = {"T": FLOAT32}


def _graph() -> tuple[Graph, Node, Node, Node]:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32})
    p, q = (graph.add("Placeholder", n, attrs={"dtype": BOOL}) for n in "pq")
    return graph, x, p, q


def _merge(graph: Graph, name: str, *values: Output) -> Node:
    return graph.add("Merge", name, values, attrs={**T, "N": len(values)})


def test_both_sides_make_a_merge_alive_and_one_side_is_not_the_other() -> None:
    graph, x, p, q = _graph()
    switch = graph.add("Switch", "switch", [x, p], attrs=T)
    copy = graph.add("Identity", "copy", [p], attrs={"T": BOOL})
    other = graph.add("Switch", "other", [x, copy], attrs=T)
    apart = graph.add("Switch", "apart", [x, q], attrs=T)
    yes = graph.add("Neg", "yes", [(switch, 1)], attrs=T)
    no = graph.add("Neg", "no", [(other, 0)], attrs=T)
    after = graph.add("Neg", "after", [yes], attrs=T)
    waits = graph.add("Neg", "waits", [x], controls=[yes], attrs=T)
    merge = _merge(graph, "merge", (no, 0), (yes, 0))
    mixed = _merge(graph, "mixed", (no, 0), (apart, 1))
    found = Deadness(graph)
    assert found.of(switch) == ALIVE == found.of(merge)
    assert found.of(yes) == found.of(after) == found.of(waits) == found.of_output((other, 1))
    assert found.of(yes) != found.of(no)
    assert found.of(mixed) not in (ALIVE, found.of(no), found.of_output((apart, 1)))


def test_nested_branches_end_one_after_the_other() -> None:
    graph, x, p, q = _graph()
    outer = graph.add("Switch", "outer", [x, p], attrs=T)
    inner = graph.add("Switch", "inner", [(outer, 1), (q, 0)], attrs=T)
    within = _merge(graph, "within", (inner, 0), (inner, 1))
    merge = _merge(graph, "merge", (outer, 0), (within, 0))
    found = Deadness(graph)
    assert found.of(within) == found.of_output((outer, 1))
    assert found.of_output((inner, 0)) == found.of(within) | found.of_output((inner, 0))
    assert found.of(merge) == ALIVE


def _loop(*, conditional: bool) -> tuple[Deadness, dict[str, Node]]:
    """Two values go round; with ``conditional`` the second only on one side of a Switch."""
    graph, x, p, _ = _graph()
    nodes = {}
    for k in "ab":
        enter = graph.add("Enter", f"enter_{k}", [x], attrs={**T, "frame_name": "f"})
        nodes[f"merge_{k}"] = _merge(graph, f"merge_{k}", (enter, 0), (enter, 0))
    choice = graph.add("Enter", "choice", [p], attrs={"T": BOOL, "frame_name": "f",
                                                      "is_constant": True})  # fmt: skip
    less = graph.add("Less", "less", [nodes["merge_a"], nodes["merge_b"]], attrs=T)
    go = graph.add("LoopCond", "go", [less])
    for k in "ab":
        switch = graph.add("Switch", f"switch_{k}", [nodes[f"merge_{k}"], go], attrs=T)
        value: Output = (switch, 1)
        if conditional and k == "b":
            value = (graph.add("Switch", "sometimes", [value, (choice, 0)], attrs=T), 1)
        back = graph.add("NextIteration", f"next_{k}", [value], attrs=T)
        graph.set_input(nodes[f"merge_{k}"], 1, (back, 0))
        nodes[f"exit_{k}"] = graph.add("Exit", f"exit_{k}", [(switch, 0)], attrs=T)
    return Deadness(graph), nodes


def test_values_of_a_loop_come_round_together() -> None:
    found, nodes = _loop(conditional=False)
    assert found.of(nodes["merge_a"]) == found.of(nodes["merge_b"]) != ALIVE
    assert found.of(nodes["exit_a"]) == found.of(nodes["exit_b"]) == ALIVE


def test_but_not_one_that_a_branch_may_keep_back() -> None:
    found, nodes = _loop(conditional=True)
    assert found.of(nodes["merge_a"]) != found.of(nodes["merge_b"])


def test_predicates_of_branches_in_branches_stay_small_and_right() -> None:
    """The outer sides are one part together, and are told apart again where the branches end."""
    graph, x, *_ = _graph()
    value, switches, within = (x, 0), [], []
    for k in range(200):
        choice = graph.add("Placeholder", f"p{k}", attrs={"dtype": BOOL})
        switches.append(graph.add("Switch", f"s{k}", [value, choice], attrs=T))
        within.append(graph.add("Neg", f"n{k}", [(switches[-1], 1)], attrs=T))
        value = (within[-1], 0)
    mixed = graph.add("AddN", "mixed", [value, (within[50], 0), x], attrs={**T, "N": 3})
    again = graph.add("Switch", "again", [value, switches[0].inputs[1]], attrs=T)
    value, merges = (mixed, 0), []
    for k, switch in enumerate(reversed(switches)):
        merges.append(_merge(graph, f"m{k}", value, (switch, 0)))
        value = (merges[-1], 0)
    found = Deadness(graph)
    assert max(len(found.of_output((node, 1))) for node in [*graph, again]) <= 65
    assert found.of(mixed) == found.of(within[-1]) == found.of_output((again, 1))
    assert found.of_output((again, 0)) != found.of(mixed)
    for switch, merge in zip(reversed(switches), merges, strict=True):
        assert found.of(merge) == found.of(switch), merge.name
    assert len({found.of(node) for node in within}) == 200


def test_a_loop_in_a_deep_branch_ends_where_it_was() -> None:
    graph, x, *_ = _graph()
    value = (x, 0)
    for k in range(150):
        choice = graph.add("Placeholder", f"p{k}", attrs={"dtype": BOOL})
        value = (graph.add("Switch", f"s{k}", [value, choice], attrs=T), 1)
    before = graph.add("Neg", "before", [value], attrs=T)
    enter = graph.add("Enter", "enter", [before], attrs={**T, "frame_name": "f"})
    merge = _merge(graph, "merge", (enter, 0), (enter, 0))
    less = graph.add("Less", "less", [merge, merge], attrs=T)
    go = graph.add("LoopCond", "go", [less])
    switch = graph.add("Switch", "switch", [merge, go], attrs=T)
    body = graph.add("Neg", "body", [(switch, 1)], attrs=T)
    back = graph.add("NextIteration", "back", [body], attrs=T)
    graph.set_inputs(merge, [(enter, 0), (back, 0)])
    leaves = graph.add("Exit", "leaves", [(switch, 0)], attrs=T)
    found = Deadness(graph)
    assert found.of(leaves) == found.of(before)
