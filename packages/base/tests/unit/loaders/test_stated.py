"""What models state beside their graphs: TF1 assets, argument orders, defaults, fingerprints."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from model_files import meta_graph, model_graph, write_saved_model
from tiny_models import constant, placeholder, write

import drystone_base as ds
from drystone_abi.protos import (
    FingerprintDef,
    MetaGraphDef,
    SavedModel,
    StructuredValue,
)
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import BadModelFile, BadRequest
from drystone_base.core.tensor import to_proto
from drystone_base.graph import Graph

# ---- assets ------------------------------------------------------------------------------------


def tf1_style(meta: MetaGraphDef) -> MetaGraphDef:
    """Assets where TensorFlow 1's builder puts them."""
    packed = meta.collection_def["saved_model_assets"].any_list.value
    for asset in meta.asset_file_def:
        url = "type.googleapis.com/tensorflow.AssetFileDef"
        packed.add(type_url=url, value=asset.SerializeToString())
    meta.ClearField("asset_file_def")
    return meta


def path_of(model: ds.Model) -> Path:
    return Path(model.run("path:0").item().decode())


def test_assets_of_a_collection_are_found_and_kept(tmp_path: Path) -> None:
    folder = write_saved_model(tmp_path / "m", tf1_style(meta_graph(model_graph())))
    model = ds.load(folder)
    assert path_of(model) == folder / "assets" / "words.txt"
    ds.save(model, tmp_path / "again")
    again = ds.load(tmp_path / "again")
    assert path_of(again) == tmp_path / "again" / "assets" / "words.txt"
    assert path_of(again).read_bytes() == path_of(model).read_bytes()
    meta = again.loaded.meta
    assert meta is not None
    assert [a.filename for a in meta.asset_file_def] == ["words.txt"]
    assert "saved_model_assets" not in meta.collection_def


def test_assets_are_added_to_those_of_a_collection(tmp_path: Path) -> None:
    model = ds.load(write_saved_model(tmp_path / "m", tf1_style(meta_graph(model_graph()))))
    (tmp_path / "more.txt").write_text("more")
    ds.save(model, tmp_path / "again", assets={"save/filename:0": tmp_path / "more.txt"})
    names = {p.name for p in (tmp_path / "again" / "assets").iterdir()}
    assert names == {"words.txt", "more.txt"}
    assert path_of(ds.load(tmp_path / "again")).name == "words.txt"


@pytest.mark.parametrize(
    ("url", "value", "found"),
    [
        ("type.googleapis.com/tensorflow.VariableDef", b"", "tensorflow.VariableDef"),
        ("", b"", "no type"),
        ("x/tensorflow.AssetFileDef", b"\xff", "bytes that are none"),
    ],
)
def test_a_collection_of_others_is_refused(
    tmp_path: Path, url: str, value: bytes, found: str
) -> None:
    meta = tf1_style(meta_graph(model_graph()))
    (packed,) = meta.collection_def["saved_model_assets"].any_list.value
    packed.type_url, packed.value = url, value
    with pytest.raises(BadModelFile, match=found) as error:
        ds.load(write_saved_model(tmp_path / "m", meta))
    assert error.value.code == "bad-saved-model"


def test_an_asset_of_a_collection_stays_in_its_folder(tmp_path: Path) -> None:
    meta = meta_graph(model_graph())
    meta.asset_file_def[0].filename = "../words.txt"
    with pytest.raises(BadModelFile, match="unsafe-asset"):
        ds.load(write_saved_model(tmp_path / "m", tf1_style(meta)))


# ---- orders ------------------------------------------------------------------------------------


def two_inputs() -> Graph:
    """``y = zeta * 10 - alpha``."""
    graph = Graph()
    zeta, alpha = (placeholder(graph, name, (-1,)) for name in ("zeta", "alpha"))
    scaled = graph.add("Mul", "scaled", [zeta, constant(graph, "ten", 10)], attrs={"T": FLOAT32})
    graph.add("Sub", "y", [scaled, alpha], attrs={"T": FLOAT32})
    return graph


def saved(tmp_path: Path, *orders: list[Any]) -> ds.Model:
    """A SavedModel whose object graph states functions with these positional arguments."""
    io = ({"zeta": "zeta:0", "alpha": "alpha:0"}, {"y": "y:0"})
    ds.save(two_inputs(), tmp_path / "m", signatures={"serving_default": io})
    file = tmp_path / "m" / "saved_model.pb"
    model = SavedModel.FromString(file.read_bytes())
    objects = model.meta_graphs[0].object_graph_def
    for k, order in enumerate(orders):
        stated = objects.concrete_functions[f"f{k}"].canonicalized_input_signature
        fill(stated.tuple_value.values.add(), order)
        stated.tuple_value.values.add().dict_value.SetInParent()
    file.write_bytes(model.SerializeToString())
    return ds.load(tmp_path / "m")


def fill(value: StructuredValue, order: Any) -> None:
    if isinstance(order, str):
        value.tensor_spec_value.name = order
    elif isinstance(order, list):
        value.tuple_value.SetInParent()
        for item in order:
            fill(value.tuple_value.values.add(), item)
    elif isinstance(order, dict):
        value.dict_value.SetInParent()
        for name, item in order.items():
            fill(value.dict_value.fields[name], item)


ONE, TWO = np.array([1.0], np.float32), np.array([2.0], np.float32)


@pytest.mark.parametrize(
    "orders",
    [
        [["zeta", "alpha"]],
        [[["zeta", "alpha"]]],  # one argument that is a list, as Keras has it
        [[{"a": "zeta", "b": "alpha"}]],
        [["zeta", "alpha"], ["zeta", "alpha"], ["x"], []],
    ],
)
def test_a_stated_order_is_that_of_positional_arguments(tmp_path: Path, orders: Any) -> None:
    model = saved(tmp_path, *orders)
    assert model.default_signature().signature.positional == ("zeta", "alpha")
    assert model(ONE, TWO)["y"].tolist() == [8]
    assert model(ONE, alpha=TWO)["y"].tolist() == [8]
    again = ds.load(tmp_path / "m")  # as it was noted
    assert again(ONE, TWO)["y"].tolist() == [8]


@pytest.mark.parametrize(
    "orders",
    [[], [["zeta", "alpha"], ["alpha", "zeta"]], [["zeta"]], [["zeta", "alpha", "more"]], [[None]]],
)
def test_without_one_order_arguments_go_by_name(tmp_path: Path, orders: Any) -> None:
    model = saved(tmp_path, *orders)
    with pytest.raises(BadRequest, match="the model states none") as error:
        model(ONE, TWO)
    assert error.value.code == "wrong-arguments"
    assert "alpha=..., zeta=..." in error.value.remedy
    for found in (model(zeta=ONE, alpha=TWO), model({"zeta": ONE, "alpha": TWO})):
        assert found["y"].tolist() == [8]


def test_one_positional_argument_is_the_input_that_is_left(tmp_path: Path) -> None:
    model = saved(tmp_path)
    assert model(ONE, alpha=TWO)["y"].tolist() == [8]
    assert model(TWO, zeta=ONE)["y"].tolist() == [8]
    with pytest.raises(BadRequest, match="found: 1 positional argument\n"):
        model(ONE)
    with pytest.raises(BadRequest, match="given twice: "):
        model(ONE, zeta=ONE, alpha=TWO)


def test_too_many_arguments_are_counted(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="3 positional arguments"):
        saved(tmp_path)(ONE, TWO, TWO)


def test_a_deep_structure_is_no_order(tmp_path: Path) -> None:
    deep: Any = "zeta"
    for _ in range(40):
        deep = [deep]
    assert saved(tmp_path, [deep, "alpha"]).default_signature().signature.positional == ()


# ---- inputs with a default -----------------------------------------------------------------------


def with_default() -> Graph:
    """``y = x * rate``, where ``rate`` is 2 unless it is given."""
    graph = Graph()
    x = placeholder(graph, "x", (-1,))
    attrs = {"dtype": FLOAT32, "shape": ()}
    rate = graph.add("PlaceholderWithDefault", "rate", [constant(graph, "two", 2)], attrs=attrs)
    graph.add("Mul", "y", [x, rate], attrs={"T": FLOAT32})
    return graph


def test_inputs_with_a_default_may_be_left_out(tmp_path: Path) -> None:
    model = ds.load(write(with_default(), tmp_path / "m.pb"))
    inputs = model.default_signature().signature.inputs
    assert {name: spec.optional for name, spec in inputs.items()} == {"x": False, "rate": True}
    assert model(x=ONE)["y"].tolist() == [2]
    assert model(x=ONE, rate=np.float32(5))["y"].tolist() == [5]
    assert model(ONE)["y"].tolist() == [2]
    again = ds.load(tmp_path / "m.pb")  # as it was noted
    assert again(x=ONE, rate=3.0)["y"].tolist() == [3]
    with pytest.raises(BadRequest, match="missing: x"):
        model(rate=1.0)


def test_the_command_line_knows_inputs_with_a_default(tmp_path: Path) -> None:
    path = write(with_default(), tmp_path / "m.pb")
    run = CliRunner().invoke
    assert "in, optional" in run(app, ["inspect", path]).output
    for given in (["--input", "x=[3]"], ["--input", "x=[3]", "--input", "rate=2"], []):
        done = run(app, ["run", path, *given])
        assert done.exit_code == 0, done.output
    assert run(app, ["run", path, "--input", "rate=2"]).exit_code == 2
    assert run(app, ["explain", path]).exit_code == 0


def test_saved_signatures_leave_inputs_with_a_default_out(tmp_path: Path) -> None:
    ds.save(ds.load(write(with_default(), tmp_path / "m.pb")), tmp_path / "m")
    model = ds.load(tmp_path / "m")  # TensorFlow asks for every input of a signature
    assert list(model.default_signature().signature.inputs) == ["x"]
    assert model(x=ONE)["y"].tolist() == [2]


def test_a_stated_input_with_a_default_is_optional(tmp_path: Path) -> None:
    io = ({"x": "x:0", "rate": "rate:0"}, {"y": "y:0"})
    ds.save(with_default(), tmp_path / "m", signatures={"serving_default": io})
    for _ in range(2):  # read, and as it was noted
        assert ds.load(tmp_path / "m")(x=ONE)["y"].tolist() == [2]


def stated_default(folder: Path, value: Any, op: str = "Placeholder") -> Path:
    """``y = x * rate``, where the signature, and not the graph, says what ``rate`` is."""
    graph = Graph()
    x = placeholder(graph, "x", (-1,))
    attrs = {"dtype": FLOAT32, "shape": ()}
    inputs = [] if op == "Placeholder" else [constant(graph, "two", 2)]
    rate = graph.add(op, "rate", inputs, attrs=attrs)
    graph.add("Mul", "y", [x, rate], attrs={"T": FLOAT32})
    io = ({"x": "x:0", "rate": "rate:0"}, {"y": "y:0"})
    ds.save(graph, folder, signatures={"serving_default": io})
    file = folder / "saved_model.pb"
    proto = SavedModel.FromString(file.read_bytes())
    signature = proto.meta_graphs[0].signature_def["serving_default"]
    signature.defaults["rate"].CopyFrom(to_proto(np.asarray(value)))
    signature.defaults["nothing"].CopyFrom(to_proto(np.ones((), np.float32)))
    file.write_bytes(proto.SerializeToString())
    return folder


@pytest.mark.parametrize("op", ["Placeholder", "PlaceholderWithDefault"])
@pytest.mark.parametrize("value", [2.0, 7.0])
def test_a_signature_states_values_of_inputs(tmp_path: Path, op: str, value: float) -> None:
    folder = stated_default(tmp_path / "m", np.float32(value), op)
    for place in (folder, folder):  # read, and as it was noted
        model = ds.load(place)
        assert model.inputs["rate"].optional
        assert model(x=ONE)["y"].tolist() == [value]
        assert model(ONE)["y"].tolist() == [value]
        assert model(x=ONE, rate=np.float32(5))["y"].tolist() == [5]
    ds.save(model, tmp_path / "again")
    assert ds.load(tmp_path / "again")(x=ONE)["y"].tolist() == [value]
    (made,) = ds.load(folder).signatures.values()
    known = (op, value) == ("PlaceholderWithDefault", 2.0)  # passes see what the graph has
    assert list(made.signature.defaults) == ([] if known else ["rate"])


def test_the_command_line_knows_what_a_signature_states(tmp_path: Path) -> None:
    folder, run = str(stated_default(tmp_path / "m", np.float32(7))), CliRunner().invoke
    assert "in, optional" in run(app, ["inspect", folder]).output
    for words, y in ((["x=[3]"], 21), (["x=[3]", "rate=2"], 6), (["x:0=[3]", "rate:0=2"], 6)):
        given = [word for text in words for word in ("--input", text)]
        out = str(tmp_path / "out.npz")
        done = run(app, ["run", folder, *given, "--outputs", out])
        assert done.exit_code == 0, done.output
        assert np.load(out)["y"].tolist() == [y]
    for command in (["run", folder], ["explain", folder]):
        assert run(app, command).exit_code == 0


@pytest.mark.parametrize("value", [np.float32([1, 2]), np.int32(3), np.float64(2)])
def test_a_default_that_does_not_fit_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(BadModelFile, match="a default of rate") as caught:
        ds.load(stated_default(tmp_path / "m", value))
    assert caught.value.code == "bad-saved-model"


# ---- fingerprints ------------------------------------------------------------------------------


def fingerprint(folder: Path) -> FingerprintDef:
    return FingerprintDef.FromString((folder / "fingerprint.pb").read_bytes())


def test_a_fingerprint_tells_models_apart(tmp_path: Path) -> None:
    source = write_saved_model(tmp_path / "m", meta_graph(model_graph()))
    for name in "ab":
        ds.save(ds.load(source), tmp_path / name)
    first, second = (fingerprint(tmp_path / name) for name in "ab")
    assert first == second
    fields = {f.name for f, _ in first.ListFields()}
    assert fields == {
        "saved_model_checksum", "graph_def_program_hash", "signature_def_hash",
        "saved_object_graph_hash", "checkpoint_hash", "uuid",
    }  # fmt: skip
    changed = ds.load(source)
    changed.run("save/put", {"save/read:0": np.zeros((3, 2), np.float32)})
    ds.save(changed, tmp_path / "c")
    third = fingerprint(tmp_path / "c")
    assert third.graph_def_program_hash == first.graph_def_program_hash
    assert third.checkpoint_hash != first.checkpoint_hash
    assert third.uuid != first.uuid
    ds.save(two_inputs(), tmp_path / "d")
    assert fingerprint(tmp_path / "d").checkpoint_hash == 0
