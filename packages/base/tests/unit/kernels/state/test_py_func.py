"""Python functions called by graphs: only registered ones, only where the session lets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from model_files import const
from stateful import Bench, f32, i32, shapes

import drystone_base as ds
from drystone_base import Access, Session, SessionConfig
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32, FLOAT64, INT32, STRING
from drystone_base.graph import Graph
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

OPS = ("PyFunc", "PyFuncStateless", "EagerPyFunc")


def bench() -> Bench:
    made = Bench()
    access = Access(python=True)
    made.runtime = Runtime(ResourceManager(), made._invoke, access=access)
    return made


def called(function: Callable[..., Any], types: Any, *args: Any, op: str = "PyFunc") -> list[Any]:
    ds.register_py_func("test", function)
    return bench().all(op, *args, token="test", Tout=types)


def graph(token: str = "double") -> Graph:
    made = Graph()
    x = const(made, "x", f32([1, 2]), FLOAT32)
    made.add("PyFunc", "call", [x], attrs={"token": token, "Tin": [FLOAT32], "Tout": [FLOAT32]})
    return made


def test_a_session_calls_python_only_when_told() -> None:
    seen: list[int] = []

    def double(x: Any) -> Any:
        seen.append(x.size)
        return x * 2

    ds.register_py_func("double", double)
    for access in (None, Access.nothing(), Access.anywhere(), Access(read=(Path("/"),))):
        with pytest.raises(ds.KernelError) as caught:
            Session(graph(), SessionConfig(access=access)).run("call")
        assert (caught.value.code, caught.value.status) == ("access-denied", "PERMISSION_DENIED")
        assert "node 'call' (PyFunc) may not call Python function 'double'" in str(caught.value)
        assert "SessionConfig(access=Access().with_python())" in str(caught.value)
    assert not seen
    for access in (Access(python=True), Access.nothing().with_python()):
        assert Session(graph(), SessionConfig(access=access)).run("call").tolist() == [2, 4]


def test_opening_files_keeps_python_open(tmp_path: Path) -> None:
    access = Access(python=True).with_read(tmp_path).with_write(tmp_path)
    assert access == Access((tmp_path,), (tmp_path,), python=True)
    ds.register_py_func("double", lambda x: x * 2)
    ds.write_graph(graph(), tmp_path / "model.pb")
    model = ds.load(tmp_path / "model.pb", config=SessionConfig(access=Access(python=True)))
    assert model.run("call").tolist() == [2, 4]


def test_a_token_without_a_function_is_named() -> None:
    with pytest.raises(ds.KernelError, match="must be registered") as caught:
        Session(graph("pyfunc_7"), SessionConfig(access=Access(python=True))).run("call")
    assert caught.value.status == "INVALID_ARGUMENT"
    assert "register_py_func('pyfunc_7', function)" in caught.value.remedy


def test_inspect_lists_calls_of_python(tmp_path: Path) -> None:
    ds.write_graph(graph(), tmp_path / "model.pb")
    result = CliRunner().invoke(app, ["inspect", str(tmp_path / "model.pb"), "--json"])
    assert json.loads(result.stdout)["outside"] == {"PyFunc": {"count": 1, "effect": "runs Python"}}


@pytest.mark.parametrize("op", OPS)
def test_arguments_and_results_are_arrays(op: str) -> None:
    a, b = called(lambda x, y: (x + y, [b"t", "é"]), [FLOAT32, STRING], f32([1]), f32(2), op=op)
    assert (a.tolist(), a.dtype) == ([3], np.float32)
    assert b.tolist() == [b"t", "é".encode()]
    assert called(lambda: None, [], op=op) == []
    assert called(lambda s: s.item().upper(), [STRING], "text", op=op)[0].item() == b"TEXT"
    (zeros,) = called(lambda: [[b"a\0", b"\0"]], [STRING], op="EagerPyFunc")
    assert zeros.tolist() == [b"a\0", b"\0"]


def test_only_eager_calls_convert_numbers() -> None:
    for value, dtype in ((1, FLOAT32), (1.5, FLOAT32), (np.float64(2), FLOAT32), (True, INT32)):
        (got,) = called(lambda v=value: v, [dtype], op="EagerPyFunc")
        assert (got, got.dtype) == (value, dtype.np)
        for op in OPS[:2]:
            with pytest.raises(ds.KernelError, match="types that the node declares"):
                called(lambda v=value: v, [dtype], op=op)
    wrong: list[tuple[Any, Any]] = [(1.5, INT32), ("x", FLOAT32), (1, STRING), (object(), FLOAT32)]
    for value, dtype in wrong:
        with pytest.raises(ds.KernelError, match="types that the node declares"):
            called(lambda v=value: v, [dtype], op="EagerPyFunc")
    assert called(lambda: 1.5, [FLOAT64])[0] == 1.5


def test_results_must_be_as_many_as_outputs() -> None:
    for value in (None, (), (f32(1), f32(2))):
        with pytest.raises(ds.KernelError, match="one value per output"):
            called(lambda v=value: v, [FLOAT32])
    assert called(lambda: (1.0, 2.0), [FLOAT32], op="EagerPyFunc")[0] == 1


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("no"), "INVALID_ARGUMENT"),
        (TypeError("no"), "INVALID_ARGUMENT"),
        (StopIteration(), "OUT_OF_RANGE"),
        (MemoryError(), "RESOURCE_EXHAUSTED"),
        (NotImplementedError(), "UNIMPLEMENTED"),
        (KeyError("no"), "UNKNOWN"),
        (OSError("no"), "UNKNOWN"),
    ],
)
def test_exceptions_become_errors_of_the_node(error: Exception, status: str) -> None:
    def fails() -> None:
        raise error

    ds.register_py_func("test", fails)
    found = type(error).__name__
    bench().fails(status, f"must return\n  found: {found}", "PyFunc", token="test", Tout=[FLOAT32])


def test_arguments_cannot_be_changed_and_results_are_kept() -> None:
    def change(x: Any) -> Any:
        x[0] = 9
        return x

    with pytest.raises(ds.KernelError, match="read-only"):
        called(change, [INT32], i32([1]))
    buffer = f32([1, 2])
    (got,) = called(lambda: buffer, [FLOAT32])
    buffer[0] = 9
    assert got.tolist() == [1, 2]


def test_shapes() -> None:
    for op in OPS:
        assert shapes(op, [(2,)], token="t", Tout=[FLOAT32, INT32])[0] == [None, None]
