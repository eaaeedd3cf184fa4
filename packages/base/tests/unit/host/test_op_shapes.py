"""Shape functions of plugins, called from inference and directly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drystone_base.core.dtypes import FLOAT32, as_dtype
from drystone_base.core.errors import HostError, ShapeError
from drystone_base.graph import Graph
from drystone_base.graph.validate import validate
from drystone_base.host import _lib
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.inference import plugin_ops as ops
from drystone_base.inference.inference import infer
from drystone_base.inference.shapes._registry import Shape

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

Compile = Callable[..., Path]


@pytest.fixture(scope="module")
def library(compile_library: Compile) -> HostLibrary:
    """The library of ops_all.c, registered and known to Python."""
    opened = open_library(compile_library("ops_all.c"))
    opened.initialise("TF_InitKernel")
    ops.sync()
    return opened


def chain(op: str, *shapes: tuple[int, ...] | None, **attrs: object) -> Graph:
    """A graph of one node "y" of an op, fed by placeholders of these shapes."""
    graph = Graph()
    sources = [
        graph.add("Placeholder", f"x{k}", attrs={"dtype": FLOAT32, "shape": shape})
        for k, shape in enumerate(shapes)
    ]
    graph.add(op, "y", [(source, 0) for source in sources], attrs=dict(attrs))
    validate(graph)
    return graph


def shapes_of(graph: Graph, outputs: int = 1) -> list[object]:
    found = infer(graph, strict=True)
    return [found.shape((graph["y"], k)) for k in range(outputs)]


def test_nodes_of_plugin_ops_are_valid_and_inferred(library: HostLibrary) -> None:
    assert shapes_of(chain("Test>Triple", (2, 3), T=FLOAT32)) == [(2, 3)]
    assert shapes_of(chain("Test>Triple", None, T=FLOAT32)) == [None]
    outer = chain("Test>Outer", (2,), (), (3, 4), T=FLOAT32, N=3)
    assert shapes_of(outer) == [(2, 3, 4)]
    assert shapes_of(chain("Test>Outer", (2,), None, T=FLOAT32, N=2)) == [None]
    assert shapes_of(chain("Test>HeadAndTail", (5, 6, 7), T=FLOAT32), 2) == [(5,), (6, 7)]
    assert shapes_of(chain("Test>Unknown", (5,), T=FLOAT32)) == [None]
    assert shapes_of(chain("Test>NoShape", (5,), L=[FLOAT32])) == [None]


def test_equal_dimensions_stay_equal(library: HostLibrary) -> None:
    graph = chain("Test>HeadAndTail", (4, -1, 6), T=FLOAT32)
    found = infer(graph, strict=True)
    shape = found.shape((graph["x0"], 0))
    assert shape is not None
    assert shape[1] < -1
    assert found.shape((graph["y"], 1)) == shape[1:]


def test_shapes_may_depend_on_attributes(library: HostLibrary) -> None:
    (matrix,) = shapes_of(chain("Test>ByType"))  # T is float by default
    assert isinstance(matrix, tuple)
    assert len(matrix) == 2
    assert shapes_of(chain("Test>ByType", T=as_dtype("int32"))) == [()]


def test_a_refusing_shape_function_names_op_node_and_library(library: HostLibrary) -> None:
    graph = chain("Test>Refuses", (1,), T=FLOAT32)
    with pytest.raises(ShapeError) as caught:
        infer(graph, strict=True)
    assert caught.value.what == "node 'y' (Test>Refuses) cannot take its inputs"
    assert caught.value.status == "OUT_OF_RANGE"
    assert caught.value.found == (
        "the shape function of op Test>Refuses (node 'y', library "
        f"{library.path}): no shape pleases me"
    )
    assert graph["y"] in infer(graph).errors


def test_ranks_that_do_not_fit(library: HostLibrary) -> None:
    for shape, text in (((), "at least 1, but is 0"), ((1, 2, 3, 4), "at most 3, but is 4")):
        with pytest.raises(ShapeError) as caught:
            infer(chain("Test>HeadAndTail", shape, T=FLOAT32), strict=True)
        assert caught.value.found.endswith(f"the rank must be {text}")


def test_leaked_handles_are_counted(library: HostLibrary) -> None:
    def leaked() -> int:
        (op,) = [o for o in ops.plugin_ops() if o.name == "Test>Careless"]
        return op.leaked_handles

    before = leaked()
    assert shapes_of(chain("Test>Careless", (1,), T=FLOAT32)) == [None]
    assert leaked() == before + 2


def test_a_throwing_shape_function(compile_library: Compile) -> None:
    opened = open_library(compile_library("ops_throws.cc"))
    opened.initialise("TF_InitKernel")
    ops.sync()
    for count, text in ((1, "out of cheese"), (2, "of unknown type")):
        with pytest.raises(ShapeError) as caught:
            infer(chain("Test>Throws", *[(1,)] * count, N=count), strict=True)
        assert caught.value.status == "INTERNAL"
        assert caught.value.found.endswith(f"it threw an exception: {text}")


def test_nodes_that_do_not_fit_their_op(library: HostLibrary) -> None:
    with pytest.raises(HostError, match="no library registered op 'MatMul2'") as caught:
        ops.infer_shapes("MatMul2", b"", [])
    assert caught.value.status == "NOT_FOUND"
    for node, shapes, text in (
        (b"\xff", [], "malformed bytes of a NodeDef"),
        (b"", [], "needs attribute 'N' of type int"),
        (b"\x2a\x0a\x0a\x01N\x12\x05\x18\xff\xff\xff\x7f", [], "has the length 268435455"),
        (b"\x2a\x07\x0a\x01N\x12\x02\x18\x02", [(1,)], "has 1 inputs, but needs 2"),
        (b"", [(1,) * 255], "input 0 has rank 255; at most 254 is possible"),
    ):
        with pytest.raises(HostError, match=text) as caught:
            ops.infer_shapes("Test>Outer", node, shapes)
        assert caught.value.status == "INVALID_ARGUMENT"


@given(st.binary(max_size=60), st.lists(st.none() | st.tuples(st.integers(-3, 9)), max_size=4))
def test_any_node_is_answered(library: HostLibrary, node: bytes, shapes: list[Shape]) -> None:
    for op in ("Test>Outer", "Test>HeadAndTail", "Test>NoShape"):
        try:
            found = ops.infer_shapes(op, node, shapes)
        except HostError as error:
            if error.status != "INVALID_ARGUMENT":
                raise
        else:
            assert all(shape is None or min(shape, default=0) >= -1 for shape in found)
