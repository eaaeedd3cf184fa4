"""What outlives a kernel's call: tensor lists, tensor arrays, stacks, streams of numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import native_ops
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenarios import Program
from scenarios._answers import ours, problems, read

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import KernelError
from drystone_base.graph import Node
from drystone_base.kernels.data_flow._tensor_lists import TensorList

ANY = np.int32(-1)  # an element shape of unknown rank


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    native_ops.load()


@pytest.mark.cases_in_gate(2)
@pytest.mark.parametrize("family", ["calls", "control_flow", "lists", "variables"])
def test_programs_answer_as_tensorflow_does(family: str) -> None:
    wrong = [
        f"{item.label}: {problem}"
        for item, graph, steps, want in read(family)
        for problem in problems(ours(graph, steps), want, item.tol)
    ]
    assert not wrong, f"{len(wrong)} steps differ:\n" + "\n".join(wrong[:20])


def python_ops(session: Session, fetches: list[str], feeds: tuple[str, ...] = ()) -> Counter[str]:
    """Ops of a plan that call back into Python."""
    described = session.describe(fetches, feeds)
    return Counter(
        i["op"] for b in described["blocks"] for i in b["instructions"] if "callback" in i
    )


# ---- lists that kernels of both kinds work on --------------------------------------------------


def plain(value: Any) -> Any:
    """A fetched value as nested Python lists."""
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 0:
        value = value.item()
    if isinstance(value, TensorList):
        return [str(value.dtype), value.shape, value.limit, [plain(v) for v in value.items()]]
    return value.tolist() if isinstance(value, np.ndarray) else value


class Lists:
    """A program over lists; every list stays reachable, so that none may change."""

    def __init__(self) -> None:
        self.p = Program()
        made = self.p("TensorListReserve", ANY, np.int32(2), element_dtype="float32")
        self.lists = [made]
        self.values: list[Any] = []

    def item(self, number: int) -> np.ndarray[Any, Any]:
        return np.array([number, number + 0.5], np.float32)

    def add(self, kind: str, which: int, number: int) -> None:
        """One more node, on one of the lists that are there."""
        p, x = self.p, self.lists[which % len(self.lists)]
        y = self.lists[number % len(self.lists)]
        index, item = np.int32(number % 4), self.item(number)
        float32: dict[str, Any] = {"element_dtype": "float32"}
        changes = {
            "push": lambda: p("TensorListPushBack", x, item),
            "batch": lambda: p("TensorListPushBackBatch", x, item),  # in Python
            "join": lambda: p("TensorListConcatLists", x, y, **float32),  # in Python
            "set": lambda: p(
                "TensorListSetItem", x, index, item, resize_if_index_out_of_bounds=True
            ),
            "resize": lambda: p("TensorListResize", x, index),
            "zeros": lambda: p("ZerosLike", x, T="variant"),
            "sum": lambda: p("AddN", [x, x], T="variant"),
            "rows": lambda: p("TensorListFromTensor", np.stack([item, item]), ANY),
            "scatter": lambda: p(
                "TensorListScatterIntoExistingList", x, item[None], np.array([number % 4], np.int32)
            ),
        }
        reads = {
            "length": lambda: p("TensorListLength", x),
            "shape": lambda: p("TensorListElementShape", x, shape_type="int64"),
            "get": lambda: p("TensorListGetItem", x, index, np.array([2], np.int32), **float32),
            "stack": lambda: p("TensorListStack", x, np.array([2], np.int32), **float32),
            "concat": lambda: p(
                "TensorListConcatV2", x, np.array([2], np.int32), np.zeros(0, np.int64), **float32
            ),
            "gather": lambda: p(
                "TensorListGather", x, np.array([number % 3, 0], np.int32),
                np.array([2], np.int32), **float32,
            ),
        }  # fmt: skip
        if kind == "pop":
            popped = p("TensorListPopBack", x, np.array([2], np.int32), **float32)
            self.lists.append(popped)
            self.values.append((popped, 1))
        elif kind in changes:
            self.lists.append(changes[kind]())
        else:
            self.values.append(reads[kind]())


KINDS = ["push", "batch", "join", "set", "resize", "zeros", "sum", "rows", "scatter", "pop",
         "length", "shape", "get", "stack", "concat", "gather"]  # fmt: skip


def answers(graph: Any, fetches: list[str], executor: Any) -> list[Any]:
    found = []
    with Session(graph, SessionConfig(executor=executor)) as session:
        for fetch in fetches:
            try:
                found.append(plain(session.run(fetch)))
            except KernelError as error:
                found.append(error.status)
    return found


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 9), st.integers(0, 9)), max_size=14)
)
def test_lists_of_both_kinds_of_kernels(steps: list[tuple[str, int, int]]) -> None:
    lists = Lists()
    for kind, which, number in steps:
        lists.add(kind, which, number)
    names = [f"{n.name}:0" for n in lists.lists]
    names += [f"{v.name}:0" if isinstance(v, Node) else f"{v[0].name}:{v[1]}" for v in lists.values]
    graph = lists.p.graph
    assert answers(graph, names, "native") == answers(graph, names, "reference")
    try:  # all at once: no list may see what others become
        whole = [plain(v) for v in Session(graph).run(names)]
    except KernelError:
        return
    assert whole == answers(graph, names, "reference")


@pytest.mark.parametrize(
    ("dtype", "item"),
    [("string", np.array([b"a", b"bc"], object)), ("bool", np.array([True])), ("int8", np.int8(3))],
)
def test_elements_of_other_dtypes_cross(dtype: str, item: Any) -> None:
    p = Program()
    made = p("EmptyTensorList", ANY, np.int32(5), element_dtype=dtype)
    pushed = p("TensorListPushBack", made, item)
    joined = p("TensorListConcatLists", pushed, pushed, element_dtype=dtype)  # in Python
    again = p("TensorListPushBack", joined, item, element_dtype=dtype)
    fetches = [f"{n.name}:0" for n in (made, pushed, joined, again)]
    assert answers(p.graph, fetches, "native") == answers(p.graph, fetches, "reference")


def test_lists_of_lists_cross() -> None:
    p = Program()
    inner = p(
        "TensorListPushBack", p("EmptyTensorList", ANY, ANY, element_dtype="float32"), np.float32(1)
    )
    outer = p("EmptyTensorList", ANY, ANY, element_dtype="variant")
    outer = p("TensorListPushBack", outer, inner, element_dtype="variant")
    both = p("TensorListConcatLists", outer, outer, element_dtype="variant")  # in Python
    popped = p("TensorListPopBack", both, np.zeros(0, np.int32), element_dtype="variant")
    value = p("TensorListPopBack", (popped, 1), ANY, element_dtype="float32")
    grown = p("TensorListPushBack", (popped, 1), np.float32(2))
    fetches = [
        f"{both.name}:0",
        f"{popped.name}:0",
        f"{popped.name}:1",
        f"{value.name}:1",
        f"{grown.name}:0",
    ]
    assert answers(p.graph, fetches, "native") == answers(p.graph, fetches, "reference")


def test_a_list_is_kept_by_a_variable_and_fed() -> None:
    p = Program()
    given_list = p.feed("variant", ())
    pushed = p("TensorListPushBack", given_list, np.float32(1))
    handle = p("VarHandleOp", dtype="variant", shape=())
    assigned = p("AssignVariableOp", handle, pushed, dtype="variant")
    held = p("ReadVariableOp", handle, dtype="variant")
    more = p("TensorListPushBack", held, np.float32(2))
    with Session(p.graph) as session:
        first = session.run(f"{pushed.name}:0", {f"{given_list.name}:0": fed_list()})
        session.run(assigned.name, {f"{given_list.name}:0": first})
        assert plain(session.run(f"{more.name}:0"))[3] == [0.0, 1.0, 1.0, 2.0]
        assert plain(session.run(f"{held.name}:0"))[3] == [0.0, 1.0, 1.0]


def fed_list() -> Any:
    p = Program()
    made = p("EmptyTensorList", ANY, ANY, element_dtype="float32")
    made = p("TensorListPushBack", made, np.float32(0))
    return Session(p.graph).run(f"{made.name}:0")


def test_variants_of_other_kinds_are_zeroed_and_added_in_python() -> None:
    p = Program()
    made = p("OptionalFromValue", [np.float32(2)])
    zero = p(
        "OptionalGetValue",
        p("ZerosLike", made, T="variant"),
        output_types=["float32"],
        output_shapes=[()],
    )
    total = p(
        "OptionalGetValue",
        p("AddN", [made, made], T="variant"),
        output_types=["float32"],
        output_shapes=[()],
    )
    with Session(p.graph) as session:
        assert session.run([f"{zero.name}:0", f"{total.name}:0"]) == [0, 4]


def test_tensor_arrays_and_stacks_are_native() -> None:
    p = Program()
    array = p("TensorArrayV3", np.int32(3), dtype="float32", element_shape=None)
    written = p(
        "TensorArrayScatterV3",
        array,
        np.arange(3, dtype=np.int32),
        np.ones((3, 2), np.float32),
        (array, 1),
    )
    gradient = p("TensorArrayGradV3", array, written, source="g")
    collected = p(
        "TensorArrayWriteV3", gradient, np.int32(1), np.array([5, 6], np.float32), (gradient, 1)
    )
    collected = p(
        "TensorArrayWriteV3", gradient, np.int32(1), np.array([1, 1], np.float32), collected
    )
    out = p(
        "TensorArrayGatherV3",
        gradient,
        np.arange(3, dtype=np.int32),
        collected,
        dtype="float32",
        element_shape=None,
    )
    stack = p("StackV2", np.int32(-1), elem_type="float32")
    pushed = p("StackPushV2", stack, np.float32(3))
    popped = p("StackPopV2", stack, elem_type="float32", controls=[pushed])
    fetches = [f"{out.name}:0", f"{popped.name}:0"]
    with Session(p.graph) as session:
        assert [plain(v) for v in session.run(fetches)] == [[[0, 0], [6, 7], [0, 0]], 3]
        assert not python_ops(session, fetches)
        handle = session.run(f"{array.name}:0")
        assert "plugin" in repr(handle.item())


# ---- streams of random numbers -----------------------------------------------------------------

FLOATS = ["float16", "bfloat16", "float32", "float64"]
LOGITS = np.array([[1, 2, 3], [-9, 0, -np.inf]], np.float32)
DRAWN = [
    ("RandomUniform", [np.array([3, 5], np.int32)], "dtype", FLOATS),
    ("RandomStandardNormal", [np.array([3, 5], np.int32)], "dtype", FLOATS),
    ("TruncatedNormal", [np.array([3, 5], np.int32)], "dtype", FLOATS),
    ("RandomUniformInt", [np.array([7], np.int32), -5, 9], "Tout", ["int32", "int64"]),
    ("RandomShuffle", [np.arange(12).reshape(6, 2)], "T", ["float32", "int8"]),
    ("Multinomial", [LOGITS, np.int32(6)], "output_dtype", ["int32", "int64"]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "attr", "dtypes"), DRAWN, ids=[d[0] for d in DRAWN])
def test_streams_go_on_as_in_python(
    op: str, inputs: list[Any], attr: str, dtypes: list[str]
) -> None:
    for dtype in dtypes:
        p = Program()
        values = [
            v.astype(dtype) if attr == "T" else np.dtype(dtype).type(v) if isinstance(v, int) else v
            for v in inputs
        ]
        attrs: dict[str, Any] = {attr: dtype, "seed": 12, "seed2": 34}
        drawn = p(op, *values, **attrs)
        other = p("Identity", drawn)
        with Session(p.graph, SessionConfig(executor="reference")) as session:
            want = [session.run(f"{drawn.name}:0") for _ in range(4)]
        with Session(p.graph) as session:  # two plans of one session share the stream
            got = [session.run(f"{n.name}:0") for n in (drawn, other, drawn, drawn)]
            assert not python_ops(session, [f"{drawn.name}:0"])
        for a, b in zip(got, want, strict=True):
            if a.dtype.kind == "f" and "Uniform" not in op:
                np.testing.assert_array_max_ulp(a, b, 4)
            else:
                assert a.dtype == b.dtype
                assert a.tolist() == b.tolist()


def test_streams_without_seeds_differ() -> None:
    p = Program()
    drawn = p("RandomUniform", np.array([8], np.int32), dtype="float32")
    first, second = (Session(p.graph).run(f"{drawn.name}:0") for _ in range(2))
    assert first.tolist() != second.tolist()


def test_a_generator_in_a_variable_moves_on() -> None:
    p = Program()
    handle = p("VarHandleOp", dtype="int64", shape=(3,))
    start = p("AssignVariableOp", handle, np.array([5, 1, 77], np.int64), dtype="int64")
    shape, philox = np.array([6], np.int64), np.int64(1)
    uniform = p("StatefulUniform", handle, philox, shape, dtype="float64")
    skipped = p("RngReadAndSkip", handle, np.int32(1), np.uint64(3))
    state = p("ReadVariableOp", handle, dtype="int64")
    fetches = [f"{n.name}:0" for n in (uniform, skipped, uniform, state)]
    found = []
    for executor in ("native", "reference"):
        with Session(p.graph, SessionConfig(executor=executor)) as session:
            session.run(start.name)
            found.append([session.run(f).tolist() for f in fetches])
    assert found[0] == found[1]


def test_another_algorithm_is_left_to_python() -> None:
    p = Program()
    key, counter = np.array([3], np.uint64), np.array([1, 2], np.uint64)
    drawn = [
        p(
            "StatelessRandomUniformV2",
            np.array([5], np.int32),
            key,
            counter,
            np.int32(alg),
            dtype="float32",
        )
        for alg in (1, 2)
    ]
    fetches = [f"{n.name}:0" for n in drawn]
    assert answers(p.graph, fetches, "native") == answers(p.graph, fetches, "reference")
