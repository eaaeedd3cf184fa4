"""Strings go in as they are: any bytes, any lengths, from any kind of array, into everything."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.api import feeds
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32, STRING
from drystone_base.core.errors import BadRequest, GraphError, KernelError
from drystone_base.core.tensor import as_strings, from_proto, to_proto
from drystone_base.core.time_limits import OutOfTime, until
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr

EXECUTORS = ("native", "reference")


def session(executor: str, op: str = "Identity", **attrs: Any) -> Session:
    graph = Graph()
    text = graph.add("Placeholder", "x", attrs={"dtype": STRING, "shape": None})
    graph.add(op, "y", [text], attrs={"T": STRING} | attrs)
    graph.add("StringLength", "n", [text])
    return Session(graph, SessionConfig(executor=executor))


def fed(executor: str, value: Any) -> Any:
    out, lengths = session(executor).run(["y:0", "n:0"], {"x:0": value})
    texts = np.asarray(out, object)
    assert np.asarray(lengths).ravel().tolist() == [len(t) for t in texts.ravel().tolist()]
    return texts.tolist()


NUL = b"ab\0\0"


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (NUL, NUL),
        ("ab\0", b"ab\0"),
        ([NUL], [NUL]),
        ((NUL, b"c"), [NUL, b"c"]),
        ([[NUL], ["größer\0"]], [[NUL], ["größer\0".encode()]]),
        (([NUL], (b"",)), [[NUL], [b""]]),
        (np.array([NUL], object), [NUL]),
        (np.array(NUL, object), NUL),
        (np.array([["a\0"], [NUL]], object), [[b"a\0"], [NUL]]),
        ([np.bytes_(NUL), np.str_("a\0")], [NUL, b"a\0"]),
        ([np.array([NUL], object), np.array([b"c"], object)], [[NUL], [b"c"]]),
        (np.array(["longer", "a"]), [b"longer", b"a"]),
        (np.array([b"longer", b"a"]), [b"longer", b"a"]),
        ([b"\0\0\0", b"\xff\xfe"], [b"\0\0\0", b"\xff\xfe"]),
        ([], []),
        ("\udcff", b"\xff"),
        (bytearray(NUL), NUL),
        (memoryview(NUL)[::2], b"a\0"),
        ([bytearray(b"a\0"), b"b", "c"], [b"a\0", b"b", b"c"]),
        ([["a"], [memoryview(NUL)]], [[b"a"], [NUL]]),
    ],
)
def test_any_bytes_are_fed_as_they_are(executor: str, value: Any, expected: Any) -> None:
    assert fed(executor, value) == expected


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy has no StringDType")
@pytest.mark.parametrize("executor", EXECUTORS)
def test_arrays_of_variable_width(executor: str) -> None:
    value = np.array([["a\0", "größer"]], np.dtypes.StringDType())
    assert fed(executor, value) == [[b"a\0", "größer".encode()]]


@given(st.recursive(st.binary(max_size=8) | st.text(max_size=4), lambda i: st.lists(i, max_size=3)))
@settings(max_examples=60, deadline=None)
def test_nested_lists_become_arrays_or_are_refused(value: Any) -> None:
    def leaves(v: Any) -> list[Any]:
        return [x for item in v for x in leaves(item)] if isinstance(v, list) else [v]

    try:
        out = as_strings(value)
    except (TypeError, ValueError):
        return
    texts = [
        t.encode("utf-8", "surrogateescape") if isinstance(t, str) else t for t in leaves(value)
    ]
    assert out.dtype == object
    assert out.ravel().tolist() == texts


def test_one_long_string_among_many_takes_no_room_for_all() -> None:
    value = [b"a"] * 20_000 + [b"b" * 200_000]
    tracemalloc.start()
    try:
        lengths = session("native").run("n:0", {"x:0": value})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert lengths.sum() == 220_000
    assert peak < 8 << 20  # of one width they would take 4 GB


@pytest.mark.parametrize("value", [["a"] * 9_000 + ["b" * 900_000], [["a"], ["b" * 900_000]]])
def test_strings_for_numbers_are_refused_before_they_get_one_width(value: Any) -> None:
    graph = Graph()
    graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    with pytest.raises(BadRequest, match=r"must have the tensor's dtype(?s:.)*found: strings"):
        Session(graph).run("x:0", {"x:0": value})


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([b"a", 1], "int 1"),
        ([["a"], ["b", "c"]], "nested lists of unequal length"),
        ([None], "NoneType None"),
        ("\ud800", "half a surrogate pair"),
        (np.array([1.0]), "float 1.0"),
    ],
)
def test_what_is_no_string_is_refused_by_name(value: Any, found: str) -> None:
    with pytest.raises(BadRequest, match=found) as error:
        session("native").run("y:0", {"x:0": value})
    assert error.value.code == "wrong-feed"


@pytest.mark.parametrize("value", [np.array(["a", "bc"]), np.array([b"a", b"bc"])])
def test_constants_of_fixed_width_are_strings(value: Any) -> None:
    attr = TensorAttr(array=value)
    assert attr.array.dtype == object
    assert attr.array.tolist() == [b"a", b"bc"]


def test_constants_keep_their_bytes() -> None:
    value = as_strings([[NUL, b""]])
    assert from_proto(to_proto(value)).tolist() == [[NUL, b""]]
    with pytest.raises(GraphError, match="holds no strings") as error:
        to_proto(np.array([5], object))  # bytes(5) would be five NULs
    assert error.value.code == "bad-tensor"


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("op", "more", "attrs"),
    [
        ("GatherV2", (0, 0), {"Tparams": STRING, "Tindices": INT32, "Taxis": INT32}),
        ("Gather", (0,), {"Tparams": STRING, "Tindices": INT32}),
        ("Squeeze", (), {"T": STRING}),
        ("Unpack", (), {"T": STRING, "num": 1}),
        ("ReduceJoin", (0,), {}),
    ],
)
def test_items_of_arrays_stay_whole(executor: str, op: str, more: Any, attrs: Any) -> None:
    graph = Graph()
    text = graph.add("Placeholder", "x", attrs={"dtype": STRING, "shape": (1,)})
    others = [
        graph.add(
            "Const", f"k{k}",
            attrs={"dtype": INT32, "value": TensorAttr(array=np.array(v, np.int32))},
        )
        for k, v in enumerate(more)
    ]  # fmt: skip
    graph.add(op, "y", [text, *others], attrs=attrs)
    found = Session(graph, SessionConfig(executor=executor)).run("y:0", {"x:0": [NUL]})
    assert np.asarray(found, object).item() == NUL


def test_reading_strings_looks_at_the_time() -> None:
    with until(0.0), pytest.raises(OutOfTime):
        as_strings([b"a"])


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_deadline_counts_while_strings_are_read(
    executor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def over(_: Any) -> Any:
        raise OutOfTime

    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": STRING})
    graph.add("StringLength", "n", [x])
    session = Session(graph, SessionConfig(executor=executor, deadline=60.0))
    assert session.run("n:0", {"x:0": [b"a"]}).tolist() == [1]
    monkeypatch.setattr(feeds, "as_strings", over)
    with pytest.raises(KernelError, match="while its feeds were read") as caught:
        session.run("n:0", {"x:0": [b"a"]})
    assert caught.value.code == "deadline-exceeded"
