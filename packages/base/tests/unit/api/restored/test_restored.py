"""Functions, variables and objects of a model beside its signatures, as TensorFlow gives them."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone_base as ds
from drystone_abi.protos import SavedModel
from drystone_base.api.restored import ModelObject, ObjectGraph, RestoredFunction
from drystone_base.cli._app import app
from drystone_base.loaders import load_model

DATA = Path(__file__).parents[2] / "data/modules"
CALLS, STATEFUL = (
    json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("everything", "stateful")
)
BEYOND = frozenset({7})
"""Calls that TensorFlow refuses and we take: ints for floats, as feeds of signatures are."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules")
    shutil.unpack_archive(DATA / "models.zip", folder)
    return folder


def decode(value: Any) -> Any:
    """A value as ``ci/scripts/module_fixtures.py`` wrote it; composites as tuples of arrays."""
    if isinstance(value, list):
        return [decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        strings = value["dtype"] == "string"
        array = np.array(value["array"], object if strings else value["dtype"])
        encoded = np.vectorize(str.encode, otypes="O")(array) if strings else array
        return encoded.reshape(value["shape"])
    ((kind, inner),) = value.items()
    if kind in ("dict", "named"):
        return {k: decode(v) for k, v in inner.items()}
    return tuple(decode(v) for v in inner)


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict) and hasattr(found, "_asdict"):
        found = found._asdict()
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[k], expected[k]) for k in found)
    if isinstance(expected, list | tuple):
        alike = type(found) is type(expected) and len(found) == len(expected)
        return alike and all(same(f, e) for f, e in zip(found, expected, strict=True))
    if not isinstance(expected, np.ndarray):
        return bool(found == expected)
    array = np.asarray(found)
    return array.dtype == expected.dtype and np.array_equal(array, expected)


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_functions_give_what_tensorflow_gives(models: Path, executor: Any) -> None:
    model = ds.load(models / "everything", config=ds.SessionConfig(executor=executor))
    refused = 0
    for number, row in enumerate(CALLS):
        function = model.functions[row["path"]]
        args, kwargs = decode(row["args"]), {k: decode(v) for k, v in row["kwargs"].items()}
        if "gives" in row:
            assert same(function(*args, **kwargs), decode(row["gives"])), row
        elif number not in BEYOND:
            refused += 1
            with pytest.raises(ds.BadRequest, match="wrong-arguments"):
                function(*args, **kwargs)
    assert refused >= 10


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_state_without_names_of_its_own(models: Path, executor: Any) -> None:
    model = ds.load(models / "stateful", config=ds.SessionConfig(executor=executor))
    for row in STATEFUL:
        args = decode(row["args"])
        assert same(model.functions[row["path"]](*args), decode(row["gives"])), row
    assert model.text.read() == b"hello"
    assert [model.nested[0].read(), model.nested[1]["k"].read()] == [1, 2]
    assert model.grown.read().shape == (4, 1)


def test_paths_lead_to_modules_lists_dicts_and_variables(models: Path) -> None:
    model = ds.load(models / "everything")
    assert list(model.functions)[-4:] == [
        "inner.apply", "parts.0.apply", "parts.1.apply", "named.a.apply",
    ]  # fmt: skip
    assert model.inner.apply is model.functions["inner.apply"]
    np.testing.assert_array_equal(model.parts[1].apply([1.0]), [4])
    np.testing.assert_array_equal(model.parts[-1].apply([1.0]), [4])
    np.testing.assert_array_equal(model.named["a"].apply([1.0]), [5])
    assert len(model.parts) == 2
    assert [part.by.read() for part in model.parts] == [3, 4]
    assert repr(model.parts[0]) == "<object 'parts.0': by, apply>"
    assert repr(model.inner.apply) == "<function 'inner.apply' (float32 [?])>"
    assert {"f", "inner", "w", "run"} <= set(dir(model))
    assert dir(model.inner)[-2:] == ["apply", "by"]


def test_variables_are_shared_by_functions_signatures_and_people(models: Path) -> None:
    model = ds.load(models / "everything")
    model.bump(5)
    assert model.count.read() == 5
    model.count.write(np.int64(7))
    assert model.bump(1) == 8
    assert model.variables[model.count.name] is model.count
    served = model(words=["x"])["number"]
    np.testing.assert_array_equal(served, model.served(["x"])["number"])


def test_a_model_without_signatures_is_called_by_its_call(models: Path) -> None:
    model = ds.load(models / "bare")
    assert model.signatures == {}
    assert model(1.0) == 8
    assert model.read() == b"one\ntwo\n"
    with pytest.raises(ds.BadRequest, match=r"call model.signatures\[NAME\].*functions"):
        _ = model.inputs


def test_what_is_not_there_is_said(models: Path) -> None:
    model = ds.load(models / "everything")
    with pytest.raises(AttributeError, match="the model has no attribute 'parst'; did you mean pa"):
        _ = model.parst
    with pytest.raises(AttributeError, match="object 'inner' has no attribute 'aply'; did you me"):
        _ = model.inner.aply
    with pytest.raises(ds.BadRequest) as error:
        _ = model.parts[2]
    assert (error.value.code, error.value.needed) == ("unknown-object", "0, 1")
    assert not hasattr(model, "_repr_png_")


def test_a_call_that_fits_no_trace_names_them(models: Path) -> None:
    model = ds.load(models / "everything")
    with pytest.raises(ds.BadRequest) as error:
        model.f(np.zeros((2, 2), np.float32), factor=5.0)
    assert error.value.found == "(float32 [2, 2], False, 5.0)"
    assert error.value.needed.startswith("(float32 [?, 3], False, 2.0); (float32 [?, 3], True, 2.0")


class Hostile:
    dtype, shape = "float32", (3,)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize("value", [Hostile(), object(), {1: 2}, [[1], [2, 3]], "text", b"", 1j])
def test_values_of_any_kind_are_refused(models: Path, value: Any) -> None:
    model = ds.load(models / "everything")
    for path in ("shifted", "bump", "sparse", "nest"):
        for argument in (value, (value, value, value), {"a": value, "b": [value]}):
            with pytest.raises(ds.BadRequest, match=r"wrong-arguments|fed to 's'.*wrong-feed"):
                model.functions[path](argument)


def test_functions_of_a_closed_model_are_refused(models: Path) -> None:
    model = ds.load(models / "everything")
    shifted, x = model.shifted, np.zeros(3, np.float32)
    shifted(x)
    model.close()
    for use in (lambda: shifted(x), lambda: model.functions, lambda: model.inner):
        with pytest.raises(ds.BadRequest, match="model-closed"):
            use()


def test_a_graph_without_objects_has_none(tmp_path: Path) -> None:
    from tiny_models import affine, write

    model = ds.load(write(affine(), tmp_path / "m.pb"))
    assert model.functions == {}
    with pytest.raises(AttributeError):
        _ = model.anything


def test_inspect_lists_functions(models: Path) -> None:
    done = CliRunner().invoke(app, ["inspect", str(models / "everything"), "--json"])
    assert done.exit_code == 0, done.output
    listed = json.loads(done.stdout)["callable"]
    assert listed["inner.apply"] == ["(float32 [?])"]
    assert listed["nest"][1].endswith("mode='pair')")
    table = CliRunner().invoke(app, ["inspect", str(models / "everything")]).stdout
    assert "parts.1.apply" in table


# ---- damaged files -----------------------------------------------------------------------------

FIELDS = st.tuples(st.integers(0, 10**6), st.integers(-3, 70), st.sampled_from([0, 1, 2, 3, 4]))


@settings(max_examples=25, deadline=None)
@given(changes=st.lists(FIELDS, min_size=1, max_size=6))
def test_damaged_objects_are_refused(
    models: Path, tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("damaged") / "model"
    shutil.copytree(models / "everything", folder)
    saved = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    for place, number, kind in changes:
        damage(saved.meta_graphs[0].object_graph_def, place, number, kind)
    (folder / "saved_model.pb").write_bytes(saved.SerializeToString())
    with suppress(ds.DrystoneError):
        model = ds.load(folder)
        for function in model.functions.values():
            try_all(model, function)
    shutil.rmtree(folder)


def damage(objects: Any, place: int, number: int, kind: int) -> None:
    node = objects.nodes[place % len(objects.nodes)]
    name = sorted(objects.concrete_functions)[place % len(objects.concrete_functions)]
    concrete = objects.concrete_functions[name]
    if kind == 0 and node.children:
        node.children[place % len(node.children)].node_id = number
    elif kind == 1 and concrete.bound_inputs:
        concrete.bound_inputs[0] = number
    elif kind == 2:
        concrete.canonicalized_input_signature.tuple_value.values.add().int64_value = number
    elif kind == 3:
        concrete.output_signature.tuple_value.values.add().tensor_spec_value.dtype = abs(number)
    else:
        node.variable.name = str(number)


def try_all(model: ds.Model, function: RestoredFunction) -> None:
    for row in CALLS:
        if model.functions.get(row["path"]) is function:
            with suppress(ds.DrystoneError):
                function(*decode(row["args"]), **{k: decode(v) for k, v in row["kwargs"].items()})


def test_objects_can_be_looked_at_without_a_session(models: Path) -> None:
    graph = ObjectGraph(load_model(models / "everything"))
    assert isinstance(graph.attribute(0, "", "inner"), ModelObject)
    assert len(graph.functions()["f"].traces) == 4
