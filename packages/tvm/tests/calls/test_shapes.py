"""What is known of results before a run: by attributes, shapes that are given, libraries."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import drystone_tvm
import numpy as np
import pytest
from drystone_tvm.compiling.stated import Form, Tensor, assembly

import drystone_base as ds
from drystone_base.core.errors import KernelError
from drystone_base.tracing import operations as ops

Compile = Callable[..., Path]
F32 = np.float32
FORM = Form(
    "echo",
    (Tensor("x", "float32", ("n0", 3)),),
    (Tensor("y", "float32", ("n0", 3)), Tensor("facts", "int64", (5,))),
    "llvm",
)


def shapes_of(inputs: list[Any], outputs: int, **attrs: Any) -> list[Any]:
    """What is known of a node whose inputs have these shapes."""
    graph = ds.Graph()
    b = ds.Builder(graph)
    given = [b("Placeholder", dtype="float32", shape=shape) for shape in inputs]
    sizes = [b(*one) if isinstance(one, tuple) else b.const(np.array(one, np.int64))
             for one in attrs.pop("given", [])]  # fmt: skip
    node = b.node(
        "TvmRuntime", given, sizes, lib_path="/none.so", function_name="f", name="y",
        Tin=["float32"] * len(given), Tout=["float32"] * outputs, num_shapes=len(sizes), **attrs,
    )  # fmt: skip
    known = ds.infer(graph)
    found = [known.shape((node, k)) for k in range(outputs)]
    return [shape and tuple(d if d >= 0 else -1 for d in shape) for shape in found]


@pytest.mark.parametrize(
    ("inputs", "attrs", "found"),
    [
        ([(2, 3)], {}, [(2, 3)]),
        ([None], {}, [None]),
        ([(2, -1), (5,)], {}, [(2, -1)] * 3),
        ([(2, 3)], {"output_shapes": [(4,), (5, 6)]}, [(4,), (5, 6)]),
        ([(2, 3)], {"output_shapes": [(-1, 8)], "sizes_of": [0, 1]}, [(3, 8)]),
        (
            [(2, -1), (7,)],
            {"output_shapes": [(-1, -1), (-1,)], "sizes_of": [1, 0, 0, 1, 0, 0]},
            [(7, -1), (2,)],
        ),
        ([None], {"output_shapes": [(-1, 8)], "sizes_of": [0, 1]}, [(-1, 8)]),
        ([], {"output_shapes": [(4,)]}, [(4,)]),
        ([], {"given": [[4, 5]]}, [(4, 5)]),
        ([(2, 3)], {"given": [[4], []]}, [(4,), ()]),
    ],
)
def test_nodes_state_shapes(inputs: list[Any], attrs: dict[str, Any], found: list[Any]) -> None:
    assert shapes_of(inputs, len(found), **attrs) == found


@pytest.mark.parametrize(
    "attrs",
    [
        {"output_shapes": [(-1,)]},
        {"output_shapes": [(-1,)], "sizes_of": [0]},
        {"output_shapes": [(-1,)], "sizes_of": [3, 0]},
        {"output_shapes": [(-1,)], "sizes_of": [0, 9]},
        {"output_shapes": [(-1,)], "sizes_of": [-1, -1]},
    ],
)
def test_what_the_kernel_refuses_is_not_known(attrs: dict[str, Any]) -> None:
    assert shapes_of([(2, 3)], 1, **attrs) == [(-1,)]


def test_a_symbol_stays_what_it_is() -> None:
    """What comes after a call may know that two sizes are equal."""
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", shape=(-1, 3), name="x")
    y = b("TvmRuntime", [x], [], lib_path="/none.so", function_name="f", Tin=["float32"],
          Tout=["float32"], output_shapes=[(-1,)], sizes_of=[0, 0])  # fmt: skip
    known = ds.infer(graph)
    (rows, _), (size,) = known.shape(x), known.shape(y)  # type: ignore[misc]
    assert rows == size < -1


def test_shapes_that_a_graph_computes(library: Path) -> None:
    config = ds.SessionConfig(access=ds.Access(libraries=(library,)))

    @ds.function(signature=[ds.Spec([None, 3])], config=config)
    def f(x: Any) -> Any:
        shape = ops.shape(x, out_type="int64")
        y, facts = drystone_tvm.call(
            x, lib_path=library, function_name="echo", output_dtypes=["float32", "int64"],
            output_shapes=[shape, [5]],
        )  # fmt: skip
        assert (y.shape, facts.shape) == ((None, 3), (5,))
        return y

    assert f(np.ones((2, 3), F32)).shape == (2, 3)


def test_what_a_library_states_is_known(compiled: Compile, tmp_path: Path) -> None:
    about = tmp_path / "about.s"
    about.write_text(assembly(FORM))
    path = compiled(str(about), name="stated.so")

    @ds.function(
        signature=[ds.Spec([None, 3])],
        config=ds.SessionConfig(access=ds.Access(libraries=(path,))),
    )
    def f(x: Any) -> Any:
        for y, facts in (
            drystone_tvm.call(x, lib_path=path, function_name="echo"),
            drystone_tvm.load(path)["echo"](x),
        ):
            assert (y.shape, str(y.dtype)) == ((None, 3), "float32")
            assert (facts.shape, str(facts.dtype)) == ((5,), "int64")
        return y, facts

    x = np.ones((4, 3), F32)
    y, facts = f(x)
    assert y.tolist() == x.tolist()
    assert facts[2] == 2
    assert sorted(node.op for node in f.graph if "Tvm" in node.op or "Ensure" in node.op) == [
        "TvmRuntime", "TvmRuntime",
    ]  # fmt: skip
    found = drystone_tvm.call(x, lib_path=path, function_name="echo")
    assert [one.shape for one in found] == [(4, 3), (5,)]


FACTS: dict[str, Any] = {
    "function": "echo", "inputs": [["x", "float32", ["n0"]]], "target": "llvm", "needs": [],
    "outputs": [["y", "float32", ["n0"]], ["facts", "int64", [5]]], "made_by": "a test",
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"outputs": [["y", "float32", ["n7"]], ["facts", "int64", [5]]]},
        {"outputs": [["y", "float32", [-1]]]},
        {"outputs": [["y", "float32", [True]]]},
        {"outputs": [["y", "float32", [1 << 64]]]},
        {"outputs": [["y", "float32", [2.5]]]},
        {"outputs": [["y", "no dtype", [3]]]},
        {"outputs": [["y", "float32", None]]},
        {"outputs": [["y", "float32"]]},
        {"inputs": 5},
        {"needs": 5},
        {},
    ],
)
def test_what_makes_no_sense_is_not_stated(
    compiled: Compile, tmp_path: Path, change: dict[str, Any]
) -> None:
    text = "\n".join(["drystone-tvm 1", "needs", json.dumps(FACTS | change)])
    about = tmp_path / "about.s"
    about.write_text(f'.section .drystone_tvm,"",@progbits\n.ascii {json.dumps(text)}\n')
    path = compiled(str(about), name="odd.so")
    assert (drystone_tvm.load(path)["echo"].form is None) == bool(change)
    y, _ = drystone_tvm.call(
        np.ones(2, F32), lib_path=path, function_name="echo", output_dtypes=["float32", "int64"],
        output_shapes=[[2], [5]],
    )  # fmt: skip
    assert y.tolist() == [1, 1]


def test_neither_pipes_nor_devices_are_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.so")
    for path in (tmp_path / "pipe.so", Path("/dev/zero"), tmp_path, Path("/none\0.so")):
        assert drystone_tvm.load(path)["f"].form is None
    with pytest.raises(KernelError, match="is no file"):
        drystone_tvm.call(np.ones(1, F32), lib_path=tmp_path / "pipe.so", function_name="f")


def test_sizes_that_say_too_little_are_refused(library: Path) -> None:
    def f(x: Any, size: Any) -> Any:
        return drystone_tvm.call(
            x, lib_path=library, function_name="addone", output_dtypes=["float32"],
            output_shapes=[[size, 3]],
        )  # fmt: skip

    with pytest.raises(ds.BadRequest, match="pairs") as caught:
        ds.function(lambda x: f(x, None)).trace(ds.Spec([None]))
    assert caught.value.code == "bad-shape"
    for pair in ((4, 0), (0, 1), (0, -1), (-1, 0)):
        with pytest.raises(ds.BadRequest, match="axes that the inputs have, whose ranks are 1"):
            f(np.ones(2, F32), pair)
