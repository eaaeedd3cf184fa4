"""Arguments of other types than a function states are told as such."""

from __future__ import annotations

import importlib
import io
import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core import arguments
from drystone_base.core.arguments import checked, explained, fits
from drystone_base.core.dtypes import FLOAT32, from_number, from_numpy
from drystone_base.graph import parse_tensor_name
from drystone_base.graph_editor import replace
from drystone_base.loaders._source import GraphSource
from drystone_base.placement.device import parse_device


def graph() -> ds.Graph:
    made = ds.Graph()
    made.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (3,)})
    made.add("Identity", "y", [(made["x"], 0)], attrs={"T": FLOAT32})
    return made


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (1, int, True),
        (np.int64(1), int, True),
        (True, int, False),
        (1, float, True),
        (np.float32(1), float, True),
        ("1", float, False),
        (np.True_, bool, True),
        (1, bool, False),
        (None, str | None, True),
        (b"x", str | None, False),
        ("x", Sequence[str], False),
        (["x"], Sequence[str], True),
        (["x", 1], Sequence[str], False),
        (("x", 1), tuple[str, int], True),
        (("x",), tuple[str, int], False),
        (("x", "y"), tuple[str, ...], True),
        ({"x": 1}, Mapping[str, int], True),
        ({1: 1}, Mapping[str, int], False),
        (iter("ab"), Iterable[str], True),
        (len, Callable[..., Any], True),
        (3, Callable[..., Any], False),
        ("a", Literal["a", "b"], True),
        ("c", Literal["a", "b"], False),
        (True, Literal[1], False),
        (Path("x"), Path, True),
        (object(), Any, True),
        (np.zeros(()), np.ndarray[Any, Any], True),
        (np.zeros(3), np.ndarray[tuple[int], np.dtype[np.float64]] | None, True),
        ([1.0], np.ndarray[Any, Any], False),
    ],
)
def test_what_fits(value: Any, kind: Any, expected: bool) -> None:
    assert fits(value, kind) is expected


def test_items_of_arrays_are_not_looked_at_one_by_one() -> None:
    """An array may have millions, and what an annotation says in brackets is about the whole."""

    class Counted(np.ndarray[Any, Any]):
        seen = 0

        def __iter__(self) -> Iterator[Any]:
            Counted.seen += 1
            return super().__iter__()

    assert fits(np.zeros(100).view(Counted), np.ndarray[Any, Any])
    assert Counted.seen == 0


class Stubborn:
    """Nothing of it can be asked."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


def waiting_for_a_range() -> None:
    made = graph()
    made.set_controls(made["y"], range(10**12))  # type: ignore[arg-type]


def replacing_a_range() -> None:
    made = graph()
    replace(made, range(10**12), ["y"], made["y"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "name", "needed"),
    [
        (lambda: ds.load(3), "drystone.load", "str | os.PathLike[str]"),  # type: ignore[arg-type]
        (lambda: ds.load(b"x"), "path", "str | os.PathLike[str]"),  # type: ignore[arg-type]
        (lambda: ds.load("x", tags=5), "tags", "Iterable[str]"),  # type: ignore[arg-type]
        (lambda: ds.Session(3), "drystone.Session", "Graph"),  # type: ignore[arg-type]
        (lambda: ds.Session(graph()).run("y", 5), "feeds", "Mapping"),  # type: ignore[arg-type]
        (lambda: ds.Session(graph()).run("y", np.ones(2)), "feeds", "Mapping"),  # type: ignore[arg-type]
        (lambda: ds.Session(graph()).make_callable("y", "x"), "feeds", "Sequence[str]"),
        (lambda: graph().users([]), "node", "Node"),  # type: ignore[arg-type]
        (lambda: graph()[[]], "name", "str"),  # type: ignore[index]
        (lambda: graph().add(1, "n"), "op", "str"),  # type: ignore[arg-type]
        (lambda: graph().redirect(Path("x"), Path("y")), "old", "Output"),  # type: ignore[arg-type]
        (lambda: graph()["x"].attr({}), "name", "str"),  # type: ignore[arg-type]
        (lambda: ds.save(graph(), "x", assets=Stubborn()), "assets", "Mapping"),  # type: ignore[arg-type]
        (lambda: graph().remove(range(10**12)), "nodes", "Node"),  # type: ignore[arg-type]
        (lambda: graph().remove({"x": 1}), "nodes", "Node"),  # type: ignore[dict-item]
        (lambda: graph().remove(memoryview(b"xyz")[::2]), "nodes", "Node"),  # type: ignore[arg-type]
        (lambda: graph().remove(deque([1])), "nodes", "Node"),  # type: ignore[list-item]
        (lambda: graph().remove({"x": 1}.keys()), "nodes", "Node"),  # type: ignore[arg-type]
        (lambda: graph().copy(range(10**12)), "only", "Set[Node]"),  # type: ignore[arg-type]
        (lambda: graph().copy(set(), range(10**12)), "ends", "Set[Node]"),  # type: ignore[arg-type]
        (lambda: graph().add("NoOp", "n", range(10**12)), "inputs", "Output"),  # type: ignore[arg-type]
        (waiting_for_a_range, "controls", "Node"),
        (replacing_a_range, "inputs", "Output"),
        (lambda: from_number([]), "number", "int"),  # type: ignore[arg-type]
        (lambda: from_numpy(FLOAT32), "dtype", "dtype"),  # type: ignore[arg-type]
        (lambda: from_numpy([]), "dtype", "dtype"),  # type: ignore[arg-type]
        (lambda: ds.latest_checkpoint(b"x"), "folder", "str"),  # type: ignore[arg-type]
        (lambda: ds.Session(graph()).make_part(["y"], ["x"], slice(2)), "sends", "Sequence[str]"),
        (lambda: graph().copy([graph()["x"]]), "only", "Set[Node]"),  # type: ignore[arg-type]
        (lambda: graph().functions.get([]), "name", "str"),  # type: ignore[arg-type]
        (lambda: ds.modules.Registry("x").origin({}), "name", "str"),  # type: ignore[arg-type]
        (lambda: ds.modules.Registry("x").register(3, 4, "o"), "name", "str"),  # type: ignore[arg-type]
        (lambda: ds.read_graph(None), "source", "bytes"),  # type: ignore[arg-type]
    ],
)
def test_an_argument_of_another_type_is_named(
    call: Callable[[], Any], name: str, needed: str
) -> None:
    with pytest.raises(ds.BadRequest) as caught:
        call()
    assert caught.value.code == "bad-argument"
    assert name in caught.value.what
    assert needed in caught.value.needed
    assert "help(drystone." in caught.value.remedy


@pytest.mark.parametrize("given", ["bad", "(2,3", {"names": 3}, 7, Stubborn(), b"\xff"])
def test_what_numpy_takes_for_no_dtype_is_refused(given: Any) -> None:
    with pytest.raises(ds.GraphError) as caught:
        ds.DType(1, "float32", given, "f")
    assert caught.value.code == "bad-dtype"
    assert "what numpy.dtype takes" in str(caught.value)


def test_who_takes_no_line_of_a_summary_is_told(tmp_path: Path) -> None:
    ds.write_graph(graph(), str(tmp_path / "m.pb"))
    with ds.load(str(tmp_path / "m.pb")) as model, pytest.raises(ds.BadRequest) as caught:
        model.summary(print_fn=int)
    assert caught.value.code == "bad-argument"
    assert "print_fn must take a line of text" in str(caught.value)


def test_a_wrong_number_of_arguments_is_pythons_own() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        ds.load("x", no_such=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required"):
        ds.load()  # type: ignore[call-arg]


def test_what_fails_with_arguments_that_fit_is_left_as_it_is() -> None:
    @explained
    def broken(x: int) -> int:
        return x // 0

    with pytest.raises(ZeroDivisionError):
        broken(3)
    with pytest.raises(ds.BadRequest, match="x"):
        broken("3")  # type: ignore[arg-type]


def test_what_fails_in_a_method_is_no_fault_of_its_owner() -> None:
    class Lines:
        def __iter__(self) -> Iterator[str]:
            return iter("ab")

        @explained
        def broken(self) -> None:
            raise TypeError("a fault of ours")

    Lines.__module__ = ds.__name__  # of others it would be the argument's fault
    with pytest.raises(TypeError, match="ours"):
        Lines().broken()


def test_text_that_cannot_be_encoded_is_refused() -> None:
    @checked
    def write(text: str) -> bytes:
        return text.encode()

    with pytest.raises(ds.BadRequest, match="surrogate") as caught:
        write("\ud800")
    assert caught.value.code == "bad-argument"


class Hostile(Mapping[Any, Any]):
    """Nothing can be asked of it, not even what it holds."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("not even an array")

    def __getitem__(self, _: Any) -> Any:
        raise RuntimeError("not even an item")

    def __iter__(self) -> Any:
        raise RuntimeError("not even its items")

    def __len__(self) -> int:
        raise RuntimeError("not even its length")

    def __repr__(self) -> str:
        raise RuntimeError("not even text")


class Once:
    """Something that is no collection and no iterator, but gives one."""

    def __iter__(self) -> Iterator[bytes]:
        return iter([b"x"])


HUGE = 10**5000


@pytest.mark.parametrize(
    ("call", "code", "inner"),
    [
        (lambda: ds.Session(graph()).run("y", {"x": Hostile()}), "wrong-feed", RuntimeError),
        (lambda: ds.Session(graph()).run("y", {"x": [Hostile()]}), "wrong-feed", RuntimeError),
        (lambda: ds.Session(graph()).run("y", {"x": HUGE}), "wrong-feed", None),
        (lambda: ds.Session(graph()).run("y", {"x": np.zeros(3, "i4,f8")}), "wrong-feed", None),
        (lambda: ds.Session(graph()).run("y", {"x": np.zeros(3, "V3")}), "wrong-feed", None),
        (lambda: ds.Session(graph()).run("y", Hostile()), "bad-argument", RuntimeError),
        (lambda: graph()[Stubborn()], "unknown-node", None),  # type: ignore[index]
        (lambda: graph()[HUGE], "unknown-node", None),  # type: ignore[index]
        (lambda: graph().functions[HUGE], "unknown-function", None),  # type: ignore[index]
        (lambda: graph().remove(Hostile()), "bad-argument", RuntimeError),
        (lambda: graph().remove(x for x in [1]), "bad-argument", TypeError),  # type: ignore[misc]
        (lambda: graph().remove(io.BytesIO(b"x\n")), "bad-argument", TypeError),  # type: ignore[arg-type]
        (lambda: ds.validate(graph(), nodes=Once()), "bad-argument", AttributeError),  # type: ignore[arg-type]
        (lambda: ds.Session(graph()).run("y:" + "9" * 5000), "unknown-fetch", None),
        (lambda: ds.SessionConfig(seed=HUGE), "bad-session-setting", None),
    ],
)
def test_what_a_hostile_argument_raises_is_told_as_its_fault(
    call: Callable[[], Any], code: str, inner: type[Exception] | None
) -> None:
    with pytest.raises(ds.DrystoneError) as caught:
        call()
    assert caught.value.code == code
    assert all((caught.value.check, caught.value.found, caught.value.needed, caught.value.remedy))
    assert type(caught.value.inner) is (inner or type(None))
    str(caught.value).encode()


def test_a_list_that_holds_itself_is_no_array() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ds.BadRequest, match="wrong-feed"):
        ds.Session(graph()).run("y", {"x": endless})


def test_a_feed_that_does_not_fit_into_memory_is_told() -> None:
    large = np.broadcast_to(np.float64(1), (1 << 21, 1 << 21))
    with pytest.raises(ds.BadRequest, match="does not fit into memory") as caught:
        ds.Session(graph()).run("y", {"x": large})
    assert caught.value.status == "RESOURCE_EXHAUSTED"


def test_devices_and_tensors_have_numbers_of_any_length() -> None:
    assert parse_tensor_name("y:" + "0" * 5000 + "1") == ("y", 1)
    assert parse_tensor_name("y:" + "9" * 5000)[0] == "y"
    with pytest.raises(ds.GraphError, match="bad-device"):
        parse_device("/device:CPU:" + "9" * 5000)


def test_functions_are_pickled_and_documented_as_before() -> None:
    assert pickle.loads(pickle.dumps(ds.load)) is ds.load
    assert (ds.load.__doc__ or "").startswith("Load a SavedModel")


def test_an_error_is_made_of_anything() -> None:
    error = ds.BadRequest("what", found=Stubborn(), needed=np.zeros(2), remedy="r")
    assert "Stubborn" in error.found
    assert "[0. 0.]" in str(error)


def test_a_folder_without_plugins_is_told(tmp_path: Path) -> None:
    for call in (ds.plugins.check, ds.plugins.load_library):
        with pytest.raises(ds.PluginError, match="holds no plugin") as caught:
            call(tmp_path)
        assert caught.value.code == "plugin-not-found"


def test_other_classes_of_an_annotation_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session is made of a graph's source in each process: what a graph is need not be found."""
    looked_for: list[str] = []

    def homes(module: str) -> dict[str, str]:
        looked_for.append(module)
        return {}

    monkeypatch.setattr(arguments, "_homes", homes)
    arguments._meaning.cache_clear()
    source = GraphSource.of(ds.Graph())
    assert arguments._mismatch(ds.Session.__init__, (None, source), {}) is None
    assert looked_for == []


def test_a_class_is_known_by_name_without_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an argument of the class nor None has its module imported; another value does."""
    (tmp_path / "things_of_a_test.py").write_text("class Thing: ...\n", encoding="utf-8")
    (tmp_path / "users_of_a_test.py").write_text(
        "from __future__ import annotations\n"
        "from typing import TYPE_CHECKING\n"
        "from drystone_base.core.arguments import checked\n"
        "if TYPE_CHECKING:\n"
        "    from things_of_a_test import Thing\n"
        "@checked\n"
        "def take(thing: Thing | None = None, more: tuple[Thing, ...] = ()) -> int:\n"
        "    return 1\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    users = importlib.import_module("users_of_a_test")
    assert users.take(None, ()) == 1
    assert "things_of_a_test" not in sys.modules
    with pytest.raises(ds.BadRequest, match="bad-argument"):
        users.take(3)
    things = importlib.import_module("things_of_a_test")
    kind = type("Thing", (things.Thing,), {})
    assert users.take(things.Thing(), (kind(), things.Thing())) == 1
    with pytest.raises(ds.BadRequest, match="bad-argument"):
        users.take(type("Thing", (), {})())
