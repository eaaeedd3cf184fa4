"""Row C19: shape and constant inference: symbols, partial values, branches, loops, functions."""

import pytest

from drystone_base import ShapeError, infer
from drystone_base.executor.testing import infer_shapes
from drystone_base.graph import Graph, from_text
from drystone_base.ops.own import ATTENTION

FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'


def attr(name: str, value: str) -> str:
    return f'attr {{ key: "{name}" value {{ {value} }} }} '


def placeholder(name: str, *dims: int) -> str:
    shape = " ".join(f"dim {{ size: {d} }}" for d in dims)
    attrs = attr("dtype", "type: DT_FLOAT") + attr("shape", f"shape {{ {shape} }}")
    return f'node {{ name: "{name}" op: "Placeholder" {attrs} }}\n'


def op(kind: str, name: str, *inputs: str, attr: str = FLOAT) -> str:
    fan_in = " ".join(f'input: "{i}"' for i in inputs)
    return f'node {{ name: "{name}" op: "{kind}" {fan_in} {attr} }}\n'


def ints(name: str, *values: int) -> str:
    flat = " ".join(f"int_val: {v}" for v in values)
    tensor = f"dtype: DT_INT32 tensor_shape {{ dim {{ size: {len(values)} }} }} {flat}"
    attrs = attr("dtype", "type: DT_INT32") + attr("value", f"tensor {{ {tensor} }}")
    return f'node {{ name: "{name}" op: "Const" {attrs} }}\n'


def shape_of(graph: Graph, name: str) -> object:
    return infer(graph, strict=True).shape(graph.output(name))


def test_unknown_dimensions_are_symbols() -> None:
    graph = from_text(placeholder("x", -1, -1) + op("Neg", "y", "x") + placeholder("z", -1))
    known = infer(graph)
    x, y, z = (known.shape((graph[n], 0)) for n in "xyz")
    assert x == y
    assert x is not None
    assert z is not None
    assert len({x[0], x[1], z[0]}) == 3, "different unknown dimensions have different symbols"
    assert max(x) <= -2


def test_reshape_through_a_computed_shape() -> None:
    """The usual flatten: [shape(x)[0], 12] as the new shape keeps the batch's symbol."""
    strided = (
        FLOAT.replace("DT_FLOAT", "DT_INT32") + ' attr { key: "shrink_axis_mask" value { i: 1 } }'
    )
    text = (
        placeholder("x", -1, 3, 4)
        + op("Shape", "s", "x")
        + ints("b", 0) + ints("e", 1) + ints("one", 1)
        + op("StridedSlice", "batch", "s", "b", "e", "one",
             attr=strided + ' attr { key: "Index" value { type: DT_INT32 } }')
        + 'node { name: "twelve" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } '
          'attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } '
          'int_val: 12 } } } }\n'
        + op("Pack", "p", "batch", "twelve",
             attr='attr { key: "T" value { type: DT_INT32 } } attr { key: "N" value { i: 2 } }')
        + op("Reshape", "y", "x", "p")
    )  # fmt: skip
    graph = from_text(text)
    known = infer(graph, strict=True)
    x, y = known.shape((graph["x"], 0)), known.shape((graph["y"], 0))
    assert x is not None
    assert y == (x[0], 12)


def test_a_contradiction_is_recorded_or_raised() -> None:
    graph = from_text(placeholder("a", 2, 3) + placeholder("b", 4, 5) + op("MatMul", "m", "a", "b"))
    known = infer(graph)
    assert known.shape((graph["m"], 0)) is None
    assert known.errors[graph["m"]].code == "bad-shape"
    with pytest.raises(ShapeError, match="node 'm'"):
        infer(graph, strict=True)


def test_given_shapes_win() -> None:
    graph = from_text(placeholder("x", -1, 3) + op("Neg", "y", "x"))
    known = infer(graph, given={(graph["x"], 0): (7, 3)})
    assert known.shape((graph["y"], 0)) == (7, 3)


def test_a_loop_widens_what_changes_and_keeps_what_does_not() -> None:
    """A loop variable that grows has an unknown length; one that does not keeps its shape."""
    frame = FLOAT + ' attr { key: "frame_name" value { s: "f" } }'
    two = FLOAT + ' attr { key: "N" value { i: 2 } }'
    text = (
        placeholder("x", 2, 3)
        + placeholder("go", 1)
        + ints("axis", 0).replace("dim { size: 1 }", "")
        + 'node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } '
          'attr { key: "shape" value { shape { } } } }\n'
        + op("Enter", "grow0", "x", attr=frame)
        + op("Enter", "same0", "x", attr=frame)
        + op("Merge", "grow", "grow0", "grow_next", attr=two)
        + op("Merge", "same", "same0", "same_next", attr=two)
        + op("LoopCond", "cond", "p", attr="")
        + op("Switch", "grow_s", "grow", "cond")
        + op("Switch", "same_s", "same", "cond")
        + op("ConcatV2", "longer", "grow_s:1", "grow_s:1", "axis", attr=two)
        + op("Neg", "minus", "same_s:1")
        + op("NextIteration", "grow_next", "longer")
        + op("NextIteration", "same_next", "minus")
        + op("Exit", "grow_out", "grow_s")
        + op("Exit", "same_out", "same_s")
    )  # fmt: skip
    graph = from_text(text)
    assert shape_of(graph, "same_out") == (2, 3)
    grown = shape_of(graph, "grow_out")
    assert isinstance(grown, tuple)
    assert grown[0] < 0
    assert grown[1] == 3


def test_functions_are_entered() -> None:
    text = (
        placeholder("x", 4, -1)
        + 'node { name: "call" op: "PartitionedCall" input: "x" '
          'attr { key: "Tin" value { list { type: DT_FLOAT } } } '
          'attr { key: "Tout" value { list { type: DT_FLOAT } } } '
          'attr { key: "f" value { func { name: "twice" } } } }\n'
        + 'library { function { signature { name: "twice" input_arg { name: "a" type: DT_FLOAT } '
          'output_arg { name: "r" type: DT_FLOAT } } '
          'node_def { name: "n" op: "AddV2" input: "a" input: "a" '
          'attr { key: "T" value { type: DT_FLOAT } } } '
          'ret { key: "r" value: "n:z:0" } } }'
    )  # fmt: skip
    graph = from_text(text)
    known = infer(graph, strict=True)
    assert known.shape((graph["call"], 0)) == known.shape((graph["x"], 0))


def test_unknown_ops_give_unknown_shapes() -> None:
    graph = from_text(
        placeholder("x", 2) + op("NobodyKnows", "u", "x", attr="") + op("Neg", "y", "u")
    )
    assert shape_of(graph, "y") is None


def test_equal_nodes_whose_values_decide_have_shapes_of_their_own() -> None:
    """What is remembered goes by shapes only where nothing else was looked at."""
    reshape = FLOAT + ' attr { key: "Tshape" value { type: DT_INT32 } }'
    graph = from_text(
        placeholder("x", 6)
        + ints("tall", 3, 2)
        + ints("wide", 2, 3)
        + "".join(op("Reshape", name, "x", name[:4], attr=reshape) for name in ("tall_x", "wide_x"))
        + "".join(op("Neg", f"neg_{name}", f"{name}_x") for name in ("tall", "wide"))
        + "".join(op("Abs", f"abs_{name}", f"neg_{name}") for name in ("tall", "wide"))
        + op("Abs", "again", "neg_tall")
    )
    found = {name: shape_of(graph, name) for name in ("abs_tall", "abs_wide", "again")}
    assert found == {"abs_tall": (3, 2), "abs_wide": (2, 3), "again": (3, 2)}


@pytest.mark.parametrize(("heads", "found"), [(12, 12), (1, 12), (-1, 12)])
def test_examples_and_heads_of_attention_are_broadcast(heads: int, found: int) -> None:
    layouts = ["BTNH", "BSNH", "BSNH", "BTNH"]
    shapes = [(-2, 7, heads, 64), (-2, 9, 12, 64), (-2, 9, 12, 32)]
    attrs = {"layouts": layouts, "Targs": [], "masks": [], "scale": 1.0, "fill": 0.0}
    assert infer_shapes(ATTENTION, shapes, **attrs) == [(-2, 7, found, 32)]
