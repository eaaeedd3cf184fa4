"""Made-up inputs run: serialized examples, images, raw numbers, parts of sparse tensors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from model_files import const

import drystone_base as ds
from drystone_abi.protos import FunctionDef
from drystone_base.cli._app import app
from drystone_base.cli._made_up import make_inputs
from drystone_base.core.dtypes import FLOAT32, INT32, INT64, STRING, UINT8
from drystone_base.core.tensor import string_array
from drystone_base.graph import Graph, Node
from drystone_base.loaders import Signature, TensorSpec
from drystone_base.ops.attrs import FunctionRef, TensorAttr


def run(graph: Graph, tmp_path: Path, *more: str) -> Any:
    ds.write_graph(graph, tmp_path / "m.pb")
    for command in ("run", "explain", "bench"):
        extra = ("--repeat", "1") if command == "bench" else ()
        done = CliRunner().invoke(app, [command, str(tmp_path / "m.pb"), *extra, *more])
        assert done.exit_code == 0, done.output
    return ds.load(tmp_path / "m.pb")


def text(graph: Graph, shape: Any = (-1,)) -> Node:
    return graph.add("Placeholder", "text", attrs={"dtype": STRING, "shape": shape})


def empty(graph: Graph, name: str, dtype: Any) -> Node:
    value = string_array([], (0,)) if dtype is STRING else np.zeros(0, dtype.np)
    return graph.add("Const", name, attrs={"dtype": dtype, "value": TensorAttr(array=value)})


SPEC: dict[str, Any] = {
    "Tdense": [FLOAT32, INT64],
    "dense_shapes": [(3,), ()],
    "sparse_types": [STRING],
}


@pytest.mark.parametrize("through", [(), ("Identity",)])
def test_examples(tmp_path: Path, through: Any) -> None:
    graph = Graph()
    read = text(graph)
    for k, op in enumerate(through):
        read = graph.add(op, f"via{k}", [read], attrs={"T": STRING})
    keys = [const(graph, n, n, STRING) for n in ("words", "image", "label")]
    none = [empty(graph, "names", STRING), empty(graph, "d0", FLOAT32), empty(graph, "d1", INT64)]
    inputs = [read, none[0], *keys, *none[1:]]
    graph.add("ParseExample", "parsed", inputs, attrs=SPEC | {"Nsparse": 1, "Ndense": 2})
    graph.add("Identity", "out", [(graph["parsed"], 3)], attrs={"T": FLOAT32})
    run(graph, tmp_path)


def test_examples_of_the_second_version(tmp_path: Path) -> None:
    graph = Graph()
    names = empty(graph, "names", STRING)
    keys = [const(graph, n, v, STRING) for n, v in
            (("sparse", ["words"]), ("dense", ["image", "label"]), ("ragged", ["r"]))]  # fmt: skip
    defaults = [empty(graph, "d0", FLOAT32), empty(graph, "d1", INT64)]
    more = {"num_sparse": 1, "ragged_value_types": [INT64], "ragged_split_types": [INT64]}
    inputs = [text(graph), names, *keys, *defaults]
    graph.add("ParseExampleV2", "parsed", inputs, attrs=SPEC | more)
    graph.add("Identity", "out", [(graph["parsed"], 3)], attrs={"T": FLOAT32})
    run(graph, tmp_path)


def test_one_example(tmp_path: Path) -> None:
    graph = Graph()
    defaults = [empty(graph, "d0", FLOAT32), empty(graph, "d1", INT64)]
    more = {"num_sparse": 1, "sparse_keys": ["words"], "dense_keys": ["image", "label"]}
    graph.add("ParseSingleExample", "parsed", [text(graph, ()), *defaults], attrs=SPEC | more)
    graph.add("Identity", "out", [(graph["parsed"], 3)], attrs={"T": FLOAT32})
    run(graph, tmp_path)


@pytest.mark.parametrize("op", ["DecodePng", "DecodeJpeg", "DecodeBmp", "DecodeGif", "DecodeImage"])
def test_images(tmp_path: Path, op: str) -> None:
    graph = Graph()
    attrs = {"dtype": UINT8} if op in ("DecodePng", "DecodeImage") else {}
    graph.add(op, "y", [text(graph, ())], attrs=attrs)
    run(graph, tmp_path)


def test_raw_numbers(tmp_path: Path) -> None:
    graph = Graph()
    graph.add("DecodeRaw", "y", [text(graph)], attrs={"out_type": FLOAT32})
    run(graph, tmp_path)


def test_images_in_a_mapped_function(tmp_path: Path) -> None:
    function = FunctionDef()
    function.signature.name = "decode"
    function.signature.input_arg.add(name="a", type=STRING.number)  # type: ignore[arg-type]
    function.signature.output_arg.add(name="o", type=UINT8.number)  # type: ignore[arg-type]
    node = function.node_def.add(name="n", op="DecodePng", input=["a"])
    node.attr["channels"].i = 3
    node.attr["dtype"].type = UINT8.number  # type: ignore[assignment]
    function.ret["o"] = "n:image:0"
    proto = Graph().to_proto()
    proto.library.function.append(function)
    graph = Graph.from_proto(proto)
    attrs = {"f": FunctionRef("decode"), "Targuments": [STRING], "output_types": [UINT8],
             "output_shapes": [None]}  # fmt: skip
    graph.add("MapDefun", "y", [text(graph)], attrs=attrs)
    run(graph, tmp_path)


def test_strings_that_nothing_reads_are_words(tmp_path: Path) -> None:
    graph = Graph()
    graph.add("StringLength", "y", [text(graph)])
    model = run(graph, tmp_path)
    made = make_inputs(
        lambda: model.graph,
        model.default_signature().signature,
        {"text": (2,)},
        np.random.default_rng(0),
    )
    assert all(word.isalpha() for word in made["text"].tolist())


NAMED = [
    ("s/indices", "s/values", "s/shape"),  # tf.compat.v1.sparse_placeholder
    ("s/indices", "s/values", "s/dense_shape"),
    ("s", "s_1", "s_2"),  # tf.function
    ("s_indices", "s_values", "s_dense_shape"),
    ("indices", "values", "dense_shape"),
    ("indices_of_s", "values_of_s", "shape_of_s"),
    ("sIndices", "sValues", "sDenseShape"),
    ("a", "b", "c"),  # only the graph says so
]


@pytest.mark.parametrize("names", NAMED)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_parts_of_a_sparse_tensor_fit(tmp_path: Path, names: Any, rank: int) -> None:
    graph = Graph()
    parts = [
        graph.add("Placeholder", name, attrs={"dtype": dtype, "shape": shape})
        for name, dtype, shape in zip(
            names, (INT64, FLOAT32, INT64), ((-1, rank), (-1,), (rank,)), strict=True
        )
    ]
    default = const(graph, "zero", np.float32(0), FLOAT32)
    inputs = [parts[0], parts[2], parts[1], default]
    graph.add("SparseToDense", "y", inputs, attrs={"T": FLOAT32, "Tindices": INT64})
    run(graph, tmp_path)


def test_two_sparse_tensors_that_ops_join(tmp_path: Path) -> None:
    """Lists of indices, of values and of shapes: each tensor's have one place in all three."""
    graph = Graph()
    types = {"indices": (INT64, None), "values": (FLOAT32, (-1,)), "shape": (INT64, None)}
    made = {
        word: [
            graph.add("Placeholder", f"p{k}{k * len(word)}", attrs={"dtype": dtype, "shape": shape})
            for k in (1, 2)
        ]
        for word, (dtype, shape) in types.items()
    }
    inputs = [*made["indices"], *made["values"], *made["shape"]]
    graph.add("SparseConcat", "y", inputs, attrs={"concat_dim": 0, "N": 2, "T": FLOAT32})
    run(graph, tmp_path)


def test_numbered_inputs_of_other_shapes_are_no_parts() -> None:
    inputs = {
        "x": TensorSpec("a:0", INT64, (-1, 3)),
        "x_1": TensorSpec("b:0", FLOAT32, (-1,)),
        "x_2": TensorSpec("c:0", INT64, (4,)),
    }
    shapes = {name: (2, 3)[: len(spec.shape or ())] for name, spec in inputs.items()}
    graph = Graph()
    for spec in inputs.values():
        attrs = {"dtype": spec.dtype, "shape": spec.shape}
        graph.add("Placeholder", spec.tensor[:-2], attrs=attrs)
    made = make_inputs(lambda: graph, Signature("s", inputs, {}), shapes, np.random.default_rng(0))
    assert [a.shape for a in made.values()] == [(2, 3), (2,), (2,)]


def test_what_is_named_alike_but_is_none_stays_as_it_is() -> None:
    inputs = {
        "s/indices": TensorSpec("a:0", INT32, (4,)),
        "s/values": TensorSpec("b:0", FLOAT32, (5,)),
        "s/shape": TensorSpec("c:0", INT32, (2,)),
    }
    shapes = {name: spec.shape for name, spec in inputs.items()}
    made = make_inputs(Graph, Signature("s", inputs, {}), shapes, np.random.default_rng(0))
    assert [a.shape for a in made.values()] == [(4,), (5,), (2,)]
