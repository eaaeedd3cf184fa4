"""The reference executor: branches, loops, dead tensors, functions, errors."""

import numpy as np
import pytest

import drystone_base as ds
from drystone_base import Session, SessionConfig
from drystone_base.core.errors import BadRequest, GraphError, KernelError, UnsupportedOp
from drystone_base.graph import from_text
from drystone_base.ops.attrs import TensorAttr

F = 'attr { key: "T" value { type: DT_INT32 } }'


def attr(name: str, value: str) -> str:
    return f'attr {{ key: "{name}" value {{ {value} }} }} '


def const(name: str, value: int, extra: str = "") -> str:
    tensor = f"tensor {{ dtype: DT_INT32 tensor_shape {{}} int_val: {value} }}"
    attrs = attr("dtype", "type: DT_INT32") + attr("value", tensor)
    return f'node {{ name: "{name}" op: "Const" {extra} {attrs} }}\n'


def enter(name: str, source: str, constant: bool = False, frame: str = "loop") -> str:
    flag = 'attr { key: "is_constant" value { b: true } }' if constant else ""
    return (
        f'node {{ name: "{name}" op: "Enter" input: "{source}" {F} {flag} '
        f'attr {{ key: "frame_name" value {{ s: "{frame}" }} }} }}\n'
    )


def op(kind: str, name: str, *inputs: str, attr: str = F) -> str:
    fan_in = " ".join(f'input: "{i}"' for i in inputs)
    return f'node {{ name: "{name}" op: "{kind}" {fan_in} {attr} }}\n'


N2 = F + ' attr { key: "N" value { i: 2 } }'


def counting_loop(start: str, limit: str, frame: str = "loop", p: str = "") -> str:
    """i = start; while i < limit: i += 1. The result is ``{p}exit``."""
    return (
        enter(f"{p}enter", start, frame=frame)
        + enter(f"{p}limit", limit, constant=True, frame=frame)
        + op("Merge", f"{p}merge", f"{p}enter", f"{p}next", attr=N2)
        + op("Less", f"{p}less", f"{p}merge", f"{p}limit")
        + op("LoopCond", f"{p}cond", f"{p}less", attr="")
        + op("Switch", f"{p}switch", f"{p}merge", f"{p}cond")
        + op("Exit", f"{p}exit", f"{p}switch")
        + op("Identity", f"{p}body", f"{p}switch:1")
        + const(f"{p}one", 1, f'input: "^{p}body"')
        + op("Add", f"{p}add", f"{p}body", f"{p}one")
        + op("NextIteration", f"{p}next", f"{p}add")
    )


@pytest.mark.parametrize(("start", "limit"), [(0, 10), (5, 5), (7, 3)])
def test_counting_loop(start: int, limit: int) -> None:
    graph = from_text(const("s", start) + const("l", limit) + counting_loop("s", "l"))
    assert Session(graph).run("exit:0") == max(start, limit)


def branch(then: str, otherwise: str) -> str:
    """A conditional over ``x`` by the predicate ``p``; ``then`` and ``otherwise`` name results."""
    return op("Merge", "result", otherwise, then, attr=N2)


def test_branches_and_the_index_of_the_merge() -> None:
    text = (
        'node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } }'
        + const("x", 3)
        + op("Switch", "s", "x", "p")
        + op("Neg", "minus", "s:0")
        + op("Square", "square", "s:1")
        + branch("square", "minus")
    )
    session = Session(from_text(text))
    assert session.run(["result:0", "result:1"], {"p": True}) == [9, 1]
    assert session.run(["result:0", "result:1"], {"p": False}) == [-3, 0]
    with pytest.raises(BadRequest, match="tensor 'square' has no value") as caught:
        session.run("square:0", {"p": False})
    assert caught.value.code == "dead-fetch"


def test_a_loop_on_the_branch_not_taken_is_dead_not_stuck() -> None:
    text = (
        'node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } }'
        + const("x", 3)
        + const("l", 9)
        + op("Switch", "s", "x", "p")
        + op("Switch", "sl", "l", "p")
        + counting_loop("s:1", "sl:1")
        + op("Neg", "minus", "s:0")
        + branch("exit", "minus")
    )
    session = Session(from_text(text))
    assert session.run("result:0", {"p": True}) == 9
    assert session.run("result:0", {"p": False}) == -3


def test_nested_loops() -> None:
    """for i in range(3): j = i; while j < 5: j += 1. The outer variable takes i + 1 each time."""
    inner = counting_loop("body", "five", frame="inner", p="in_")
    text = (
        const("zero", 0)
        + const("three", 3)
        + const("c5", 5)
        + enter("five", "c5", constant=True)
        + enter("enter", "zero")
        + enter("limit", "three", constant=True)
        + enter("sum0", "zero")
        + op("Merge", "merge", "enter", "next", attr=N2)
        + op("Merge", "sum", "sum0", "sum_next", attr=N2)
        + op("Less", "less", "merge", "limit")
        + op("LoopCond", "cond", "less", attr="")
        + op("Switch", "switch", "merge", "cond")
        + op("Switch", "sum_switch", "sum", "cond")
        + op("Exit", "exit", "sum_switch")
        + op("Identity", "body", "switch:1")
        + inner
        + const("one", 1, 'input: "^body"')
        + op("Add", "add", "body", "one")
        + op("Add", "sum_add", "sum_switch:1", "in_exit")
        + op("NextIteration", "next", "add")
        + op("NextIteration", "sum_next", "sum_add")
    )
    assert Session(from_text(text)).run("exit:0") == 15


def test_feeds_cut_the_graph() -> None:
    text = (
        const("a", 1) + op("Neg", "b", "a") + op("NotAnOp", "c", "b") + op("Neg", "d", "c", attr=F)
    )
    session = Session(from_text(text))
    assert session.run("b") == -1
    with pytest.raises(UnsupportedOp, match="op 'NotAnOp' is unknown") as caught:
        session.run("d")
    assert caught.value.code == "op-unknown"


def test_a_known_op_without_kernel_says_so() -> None:
    text = (
        'node { name: "q" op: "TPUReplicateMetadata" attr { key: "num_replicas" value { i: 1 } } }'
    )
    text += const("a", 1) + op("Identity", "b", "a", "^q")
    with pytest.raises(UnsupportedOp, match="known but not implemented") as caught:
        Session(from_text(text)).run("b")
    assert caught.value.code == "op-not-implemented"


def test_unknown_fetches_offer_near_matches() -> None:
    with pytest.raises(BadRequest, match="did you mean alpha") as caught:
        Session(from_text(const("alpha", 1))).run("alhpa:0")
    assert caught.value.code == "unknown-fetch"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.zeros((2, 3), np.float32), "[2, 3]"),
        (np.zeros(4, np.complex64), "complex64"),
        ("text", "strings"),
    ],
)
def test_feeds_that_do_not_fit(value: object, found: str) -> None:
    text = (
        'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } '
        'attr { key: "shape" value { shape { dim { size: -1 } } } } } versions { producer: 27 }'
        + op("Neg", "y", "x", attr='attr { key: "T" value { type: DT_FLOAT } }')
    )
    with pytest.raises(BadRequest, match="the value fed to 'x' does not fit") as caught:
        Session(from_text(text)).run("y", {"x:0": value})
    assert caught.value.code == "wrong-feed"
    assert found in caught.value.found


def test_fetch_structures() -> None:
    session = Session(from_text(const("a", 1) + const("b", 2) + op("NoOp", "n", "^a", attr="")))
    assert session.run({"p": "a", "q": ("b", ["a:0"])}) == {"p": 1, "q": (2, [1])}
    assert session.run(["n", "b"]) == [None, 2]


def test_kernel_errors_name_the_node() -> None:
    text = const("a", 1) + const("z", 0) + op("FloorDiv", "bad", "a", "z")
    with pytest.raises(KernelError, match="node 'bad'"):
        Session(from_text(text)).run("bad")


def test_the_deadline_stops_a_loop_without_end() -> None:
    text = const("s", 0) + const("l", 1) + counting_loop("s", "l")
    text = text.replace('op: "Add"', 'op: "Mul"')
    with pytest.raises(KernelError, match="look for a loop that never ends") as caught:
        Session(from_text(text), SessionConfig(deadline=0.2)).run("exit")
    assert caught.value.status == "DEADLINE_EXCEEDED"


def test_a_cycle_is_refused_not_hung() -> None:
    text = op("Neg", "a", "b") + op("Neg", "b", "a")
    with pytest.raises(GraphError, match="cycle"):
        Session(from_text(text)).run("a")


def test_make_callable_checks_the_argument_count() -> None:
    text = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }'
    call = Session(from_text(text + op("Neg", "y", "x"))).make_callable("y", ["x"])
    assert call(4) == -4
    with pytest.raises(BadRequest, match="one value per feed"):
        call()


def test_feeds_and_fetches_are_names() -> None:
    session = Session(from_text(const("a", 1)))
    for feed in (None, 1, b"a:0"):
        with pytest.raises(BadRequest, match="cannot take this for 'feeds'") as raised:
            session.make_callable("a", [feed])  # type: ignore[list-item]
        assert raised.value.code == "bad-argument"
        assert raised.value.found == f"list: [{feed!r}]"
        with pytest.raises(BadRequest, match="a feed cannot be of type ") as raised:
            session.run("a", {feed: 1})  # type: ignore[dict-item]
        assert raised.value.code == "bad-feed"
        assert raised.value.needed == "'node:0'"
        assert raised.value.remedy == "give the name of each tensor that is fed"
    with pytest.raises(BadRequest, match="a fetch cannot be of type int") as raised:
        session.run(1)
    assert raised.value.code == "bad-fetch"


def test_what_a_session_holds_cannot_be_changed_from_outside() -> None:
    floats = ds.as_dtype("float32")
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": floats, "shape": (2,)})
    v = graph.add("VariableV2", "v", attrs={"dtype": floats, "shape": (2,)})
    graph.add("Assign", "assign", [v, x], attrs={"T": floats})
    value = TensorAttr(array=np.zeros(2, np.float32))
    graph.add("Const", "c", attrs={"dtype": floats, "value": value})
    session = ds.Session(graph)
    fed = np.ones(2, np.float32)
    session.run("assign", {"x": fed})
    fed[:] = 5
    for name, want in (("v", [1, 1]), ("c", [0, 0])):
        result = session.run(name)
        with pytest.raises(ValueError, match="read-only"):
            result[:] = 9
        assert result.tolist() == want
