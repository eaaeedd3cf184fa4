"""Models at hand: what they say of themselves, closing, copies by path, threads and precision."""

import copy
import gc
import multiprocessing
import pickle
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_files import WEIGHTS, meta_graph, model_graph, write_saved_model
from tiny_models import affine, placeholder, write

import drystone_base as ds
from drystone_base.api.tuning import tuned
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.loaders import load_model
from drystone_base.modules import Module

X = np.array([[1.0, -2.0, 3.0]], np.float32)
Y = np.array([[3.0, 0.0, 7.0]], np.float32)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return write_saved_model(tmp_path / "model", meta_graph(model_graph()))


@pytest.fixture
def frozen(tmp_path: Path) -> str:
    return write(affine(), tmp_path / "m.pb")


# ---- what a model says of itself ---------------------------------------------------------------


def test_inputs_and_outputs_are_those_of_the_default_signature(frozen: str) -> None:
    model = ds.load(frozen)
    assert {n: (s.tensor, s.shape) for n, s in model.inputs.items()} == {"x": ("x:0", (-1, 3))}
    assert list(model.outputs) == ["y"]


def test_inputs_of_a_model_without_default_signature(saved: Path) -> None:
    model = ds.load(saved)
    model.signatures.pop("serving_default")
    with pytest.raises(ds.BadRequest, match="no-default-signature"):
        _ = model.inputs


def test_variables_have_their_restored_and_assigned_values(saved: Path) -> None:
    model = ds.load(saved)
    w = model.variables["w"]
    np.testing.assert_array_equal(w.read(), WEIGHTS)
    assert repr(w) == "<Variable 'w': float32 [3, 2]>"
    w.write(WEIGHTS * 2)
    np.testing.assert_array_equal(model(X)["y"], X @ (WEIGHTS * 2))


def test_summary_says_what_the_model_is(saved: Path) -> None:
    lines: list[str] = []
    ds.load(saved).summary(lines.append)
    text = "\n".join(lines)
    assert f"model      {saved}" in text
    assert "kind       savedmodel, tags serve" in text
    assert "variables  2, 7 numbers" in text
    assert lines[-2].split() == ["serving_default", "in", "x", "float32", "[?,", "3]", "x:0"]
    assert lines[-1].split() == ["out", "y", "float32", "[?,", "2]", "y:0"]


def test_summary_prints_by_itself(frozen: str, capsys: pytest.CaptureFixture[str]) -> None:
    ds.load(frozen).summary()
    assert "graph      6 nodes, 0 functions" in capsys.readouterr().out


def test_everything_has_a_short_repr(frozen: str) -> None:
    model = ds.load(frozen)
    assert repr(model) == f"<Model graphdef {frozen!r}: default>"
    assert repr(model.graph) == "<Graph: 6 nodes, 0 functions>"
    assert repr(model.session).startswith("<Session of <Graph: 6 nodes, 0 functions>, ")
    assert repr(model.signatures["default"]) == "<signature 'default' (x: float32) -> y>"
    assert "<Graph" in repr(ds.Session(affine()))


@pytest.mark.parametrize(
    ("ask", "code", "remedy"),
    [
        (lambda m: m.signatures["serving_defualt"], "unknown-signature", "did you mean serving_d"),
        (lambda m: m.variables["v"], "unknown-object", "model.summary() tells what is there"),
        (lambda m: m.functions["f"], "unknown-object", "model.summary() tells what is there"),
        (lambda m: m.signatures[3], "unknown-signature", "model.summary() tells what is there"),
    ],
)
def test_a_name_that_is_not_there_says_what_is(
    saved: Path, ask: Callable[[ds.Model], Any], code: str, remedy: str
) -> None:
    model = ds.load(saved)
    with pytest.raises(ds.BadRequest) as error:
        ask(model)
    assert (error.value.code, error.value.remedy[:22]) == (code, remedy[:22])
    assert isinstance(error.value, KeyError)
    assert str(error.value) == error.value.render()
    assert model.signatures.get("nothing") is None
    assert "nothing" not in model.variables


def test_a_signature_knows_its_inputs_and_outputs(saved: Path) -> None:
    signature = ds.load(saved).signatures["serving_default"]
    assert (signature.inputs["x"].shape, list(signature.outputs)) == ((-1, 3), ["y"])


HOSTILE = "a\x1b[31m\u202e<script>alert(1)</script>&\"'"


def hostile() -> Graph:
    graph = Graph()
    x = placeholder(graph, HOSTILE, (-1,))
    graph.add("Relu", "y" + HOSTILE, [x], attrs={"T": FLOAT32})
    return graph


def test_names_are_harmless_wherever_they_are_shown(tmp_path: Path) -> None:
    model = ds.load(write(hostile(), tmp_path / "m.pb"))
    lines: list[str] = []
    model.summary(lines.append)
    html = model.graph._repr_html_() + model._repr_html_()
    shown = [*lines, repr(model), *map(repr, model.signatures.values()), html]
    assert all(text.isprintable() for text in shown)
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#x27;") >= 3


def test_a_notebook_shows_ops_inputs_and_signatures(frozen: str) -> None:
    model = ds.load(frozen)
    assert "Graph: 6 nodes, 0 functions" in model.graph._repr_html_()
    assert ">float32 [?, 3]<" in model.graph._repr_html_()
    assert ">default</td>" in model._repr_html_()


# ---- closing -----------------------------------------------------------------------------------


def uses(model: ds.Model) -> dict[str, Callable[[], Any]]:
    call = model.session.make_callable("y:0", ["x:0"])
    call(X)
    return {
        "call": lambda: model(X),
        "signature": lambda: model.default_signature()(X),
        "run": lambda: model.run("y:0", {"x:0": X}),
        "callable": lambda: call(X),
        "graph": lambda: model.graph,
        "variables": lambda: model.variables,
        "summary": model.summary,
        "pickle": lambda: pickle.dumps(model),
        "plan": lambda: model.session.plan(["y:0"], ["x:0"]),
        "describe": lambda: model.session.describe(["y:0"], ["x:0"]),
        "placement": lambda: model.session.placement(["y:0"], ["x:0"]),
        "enter and run": lambda: model.session.run("y:0", {"x:0": X}),
        "save": lambda: ds.save(model, "nowhere"),
        "save_checkpoint": lambda: ds.save_checkpoint(model, "nowhere"),
    }


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_a_closed_model_refuses_every_use(saved: Path, executor: Any) -> None:
    with ds.load(saved, config=ds.SessionConfig(executor=executor)) as model:
        asked = uses(model)
        assert model(X)["y"].shape == (1, 2)
    model.close()
    for name, use in asked.items():
        with pytest.raises(ds.BadRequest) as error:
            use()
        assert error.value.code == "model-closed", name
    assert "remedy: load the model again" in str(error.value)
    assert repr(model.session) == "<Session: closed>"


@pytest.fixture
def quick_collector() -> Iterator[None]:
    """What other tests have made is not looked at: to close a model collects garbage."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("quick_collector")
def test_a_closed_model_holds_nothing(saved: Path) -> None:
    for _ in range(30):  # the thread that ran it may be slower than the model's end
        model = ds.load(saved)
        model(X)
        held = [weakref.ref(v) for v in model.variables.values()] + [weakref.ref(model.graph)]
        model.close()
        assert [ref() for ref in held] == [None] * 3


def waiting() -> Graph:
    """``y = x + counter`` after a wait in Python; the counter is read at the end."""
    graph = Graph()
    x = placeholder(graph, "x", ())
    attrs = {"dtype": FLOAT32, "shape": (), "shared_name": "v", "container": ""}
    v = graph.add("VarHandleOp", "v", attrs=attrs)
    graph.add("AssignVariableOp", "set", [v, x], attrs={"dtype": FLOAT32})
    token = {"token": "comfort", "Tin": [FLOAT32], "Tout": [FLOAT32]}
    waited = graph.add("EagerPyFunc", "wait", [x], attrs=token)
    read = graph.add("ReadVariableOp", "read", [v], controls=[waited], attrs={"dtype": FLOAT32})
    graph.add("AddV2", "y", [waited, read], attrs={"T": FLOAT32})
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_a_run_under_way_ends_as_it_would(executor: Any) -> None:
    begun, closed = threading.Event(), threading.Event()

    def wait(x: Any) -> Any:
        begun.set()
        assert closed.wait(30)
        return x

    ds.register_py_func("comfort", wait)
    session = ds.Session(
        waiting(), ds.SessionConfig(executor=executor, access=ds.Access(python=True))
    )
    session.run("set", {"x:0": np.float32(5)})
    found: list[Any] = []
    run = threading.Thread(target=lambda: found.append(session.run("y:0", {"x:0": np.float32(2)})))
    run.start()
    assert begun.wait(30)
    session.close()
    closed.set()
    run.join(30)
    assert found == [7.0]
    with pytest.raises(ds.BadRequest, match="model-closed"):
        session.run("y:0", {"x:0": np.float32(2)})


def test_closing_beside_many_runs_and_first_runs(frozen: str) -> None:
    for _ in range(10):
        model = ds.load(frozen)
        wrong: list[BaseException] = []

        def work(model: ds.Model = model, wrong: list[BaseException] = wrong) -> None:
            try:
                while True:
                    np.testing.assert_array_equal(model(X)["y"], Y)
            except ds.BadRequest as error:
                if error.code != "model-closed":
                    wrong.append(error)
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        model.close()
        for thread in threads:
            thread.join(30)
        assert not wrong
        assert not len(model.session._prepared)
        assert not model.session._prepared.quick


# ---- copies by path ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [lambda m: pickle.loads(pickle.dumps(m)), copy.copy, copy.deepcopy],
    ids=["pickle", "copy", "deepcopy"],
)
def test_a_copy_is_loaded_from_the_path(saved: Path, again: Callable[[ds.Model], ds.Model]) -> None:
    config = ds.SessionConfig(seed=7, deadline=50.0)
    model = ds.load(saved, tags=["serve"], config=config, needed=["serving_default"], threads=1)
    twin = again(model)
    np.testing.assert_array_equal(twin(X)["y"], model(X)["y"])
    assert twin.session is not model.session
    assert twin.session.config == model.session.config
    model.close()
    np.testing.assert_array_equal(twin(X)["y"], X @ WEIGHTS)


def test_a_signature_is_pickled_with_its_model(saved: Path) -> None:
    call = pickle.loads(pickle.dumps(ds.load(saved).signatures["serving_default"]))
    np.testing.assert_array_equal(call(X)["y"], X @ WEIGHTS)


def test_a_pickle_works_from_another_folder(
    tmp_path: Path, frozen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(ds.load("m.pb"))
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(pickle.loads(data)(X)["y"], Y)


def test_a_model_without_a_path_says_why_it_cannot_be_pickled(frozen: str) -> None:
    with pytest.raises(ds.BadRequest) as error:
        pickle.dumps(ds.Model(load_model(frozen)))
    assert error.value.code == "cannot-pickle"
    assert "remedy: write it with drystone.save(model, PATH)" in str(error.value)


def call(model: ds.Model, x: Any) -> Any:
    return model(x)["y"]


def test_models_go_to_spawned_processes(frozen: str) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(call, (ds.load(frozen), X))
    np.testing.assert_array_equal(found, Y)


# ---- threads and precision ---------------------------------------------------------------------


def test_threads_stand_above_the_config(frozen: str) -> None:
    config = ds.SessionConfig(intra_op_threads=1, seed=3)
    made = ds.load(frozen, config=config, threads=2).session.config
    assert (made.intra_op_threads, made.inter_op_threads, made.seed) == (2, 2, 3)


def test_float32_keeps_the_types_of_the_graph(frozen: str) -> None:
    assert ds.load(frozen, precision="float32").session.config.optimizer == "default"


def test_a_precision_is_brought_about_by_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def lower(config: Any, precision: str) -> Any:
        asked.append((config, precision))
        return "off"

    module = Module("narrow", (), lambda _library, _symbol: None, stages={"precision": lower})
    monkeypatch.setattr("drystone_base.modules.stage", lambda _: [module.stages["precision"]])
    made = tuned(ds.SessionConfig(seed=1), precision="float16")
    assert made is not None
    assert (made.optimizer, made.seed) == ("off", 1)
    assert asked == [("default", "float16")]


@pytest.mark.parametrize(
    ("config", "precision", "found"),
    [
        (None, "int4", "'int4'"),
        (None, 16, "16"),
        (ds.SessionConfig(optimizer="off"), "bfloat16", 'SessionConfig(optimizer="off")'),
        (None, "bfloat16", "no installed package that changes types"),
    ],
)
def test_a_precision_that_cannot_be(
    config: Any, precision: Any, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drystone_base.modules.stage", lambda _: [])
    with pytest.raises(ds.BadRequest) as error:
        tuned(config, precision=precision)
    assert (error.value.code, error.value.found) == ("bad-precision", found)
    assert error.value.needed == "float32, bfloat16, float16"
