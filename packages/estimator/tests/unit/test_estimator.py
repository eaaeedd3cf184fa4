"""Estimators: training, checkpoints, resuming, evaluation, prediction, export, bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
import drystone_estimator as est
from drystone_base.core.errors import DrystoneError
from drystone_base.tracing import operations as ops

any_ops: Any = ops
F32 = np.float32
WEIGHTS = np.array([[1.0], [-2.0], [0.5]], F32)


def data(start: int = 0) -> Iterator[Any]:
    """Endless batches of a linear function, the same from each step on."""
    while True:
        rng = np.random.default_rng(start)
        x = rng.normal(size=(16, 3)).astype(F32)
        yield {"x": x}, x @ WEIGHTS
        start += 1


def held_out() -> list[Any]:
    rng = np.random.default_rng(10**6)
    x = rng.normal(size=(50, 3)).astype(F32)
    return [({"x": x[:32]}, (x @ WEIGHTS)[:32]), ({"x": x[32:]}, (x @ WEIGHTS)[32:])]


def model_fn(features: Any, labels: Any, mode: est.ModeKeys, params: Any) -> est.EstimatorSpec:
    w = ds.Variable(np.zeros((3, 1), F32), "w")
    found = features["x"] @ w
    if mode is est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"y": found, "twice": 2 * found})
    each = ((found - labels) ** 2).sum(1)
    loss = each.mean()
    if mode is est.ModeKeys.TRAIN:
        params["update"]().minimize(loss)
    metrics = {"error": each, "largest": each.max()}
    return est.EstimatorSpec(mode, loss=loss, metrics=metrics, summaries={"norm": (w * w).sum()})


def estimator(folder: Path, **config: Any) -> est.Estimator:
    settings = est.RunConfig(**{"save_checkpoints_steps": 10, **config})
    params = {"update": lambda: est.Adam(0.1)}
    return est.Estimator(model_fn, folder, config=settings, params=params)


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Numbers of all event files, by tag."""
    found: dict[str, list[tuple[int, float]]] = {}
    for path in sorted(folder.glob("events.out.tfevents.*")):
        for event in _events(path.read_bytes()):
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def _events(data: bytes) -> Iterator[Any]:
    from drystone_abi.protos import Event

    while data:
        size = int.from_bytes(data[:8], "little")
        yield Event.FromString(data[12 : 12 + size])
        data = data[16 + size :]


def test_it_learns_evaluates_and_predicts(tmp_path: Path) -> None:
    model = estimator(tmp_path, save_summary_steps=50)
    assert model.train(data, max_steps=300) is model
    found = model.evaluate(held_out, name="held")
    assert found["global_step"] == 300
    assert found["loss"] < 1e-4
    inputs = held_out()
    shown = list(model.predict(lambda: inputs))
    assert len(shown) == 50
    assert sorted(shown[0]) == ["twice", "y"]
    wanted = np.concatenate([labels for _, labels in inputs])
    np.testing.assert_allclose(np.stack([one["y"] for one in shown]), wanted, atol=0.02)
    written = scalars(tmp_path)
    assert [step for step, _ in written["loss"]] == [1, 51, 101, 151, 201, 251]
    assert {"norm", "error", "global_step/sec"} <= set(written)
    ((step, loss),) = scalars(tmp_path / "eval_held")["loss"]
    assert step == 300
    assert loss == pytest.approx(found["loss"])


def test_means_are_over_examples_whatever_the_batches(tmp_path: Path) -> None:
    model = estimator(tmp_path).train(data, steps=5)
    whole = [tuple(_joined(parts) for parts in zip(*held_out(), strict=True))]
    a, b = model.evaluate(held_out), model.evaluate(lambda: whole)
    assert a["loss"] == pytest.approx(b["loss"], rel=1e-5)
    assert a["error"] == pytest.approx(b["error"], rel=1e-5)


def _joined(parts: Any) -> Any:
    if isinstance(parts[0], dict):
        return {"x": np.concatenate([p["x"] for p in parts])}
    return np.concatenate(parts)


@pytest.mark.parametrize("update", [lambda: est.Adam(0.05), lambda: est.Momentum(0.01, 0.9)])
def test_a_training_that_goes_on_is_the_one_that_never_stopped(tmp_path: Path, update: Any) -> None:
    def trained(folder: Path, *ends: int) -> Any:
        for end in ends:
            model = est.Estimator(
                model_fn, folder, params={"update": update},
                config=est.RunConfig(save_checkpoints_steps=7, save_summary_steps=1),
            )  # fmt: skip
            model.train(data, max_steps=end)
        return scalars(folder)["loss"]

    whole = trained(tmp_path / "a", 30)
    assert trained(tmp_path / "b", 11, 12, 30) == whole
    assert len(whole) == 30


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import test_estimator as t
t.estimator(t.Path({folder!r}), save_checkpoints_steps=3, save_summary_steps=1).train(
    lambda start: t.slow(start), max_steps=60)
"""


def slow(start: int) -> Iterator[Any]:
    for batch in data(start):
        print("batch", flush=True)
        yield batch


def test_after_a_kill_the_losses_are_the_same(tmp_path: Path) -> None:
    whole = estimator(tmp_path / "whole", save_checkpoints_steps=3, save_summary_steps=1)
    whole.train(data, max_steps=60)
    wanted = dict(scalars(tmp_path / "whole")["loss"])
    folder = tmp_path / "killed"
    code = SCRIPT.format(here=str(Path(__file__).parent), folder=str(folder))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        for _ in range(20):
            assert child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
    model = estimator(folder, save_checkpoints_steps=3, save_summary_steps=1)
    prefix = model.latest_checkpoint()
    assert prefix is not None
    at = int(prefix.name.rpartition("-")[2])
    assert 0 < at < 60
    assert at % 3 == 0
    model.train(data, max_steps=60)
    found = scalars(folder)["loss"]
    assert {step for step, _ in found} >= set(range(at + 1, 61))
    assert all(wanted[step] == loss for step, loss in found)
    a, b = whole.evaluate(held_out), model.evaluate(held_out)
    assert a == b


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path) -> None:
    model = estimator(tmp_path, save_checkpoints_steps=2, keep_checkpoint_max=3)
    model.train(data, steps=11)
    kept = sorted(path.stem for path in tmp_path.glob("*.index"))
    assert kept == ["model.ckpt-10", "model.ckpt-11", "model.ckpt-8"]
    assert len(list(tmp_path.glob("*.data-*"))) == 3
    assert model.evaluate(held_out, checkpoint=tmp_path / "model.ckpt-8")["global_step"] == 8


def test_checkpoints_by_time(tmp_path: Path) -> None:
    model = estimator(tmp_path, save_checkpoints_steps=None, save_checkpoints_secs=0.0)
    model.train(data, steps=3)
    assert sorted(p.stem[-1] for p in tmp_path.glob("*.index")) == ["0", "1", "2", "3"]


def test_an_input_without_an_argument_begins_again_and_its_end_ends(tmp_path: Path) -> None:
    model = estimator(tmp_path)
    for _ in range(2):
        model.train(held_out)
    assert model.evaluate(held_out)["global_step"] == 4
    model.train(held_out, max_steps=4)
    assert model.evaluate(held_out)["global_step"] == 4


def test_early_stopping_and_evaluations_survive_a_stop(tmp_path: Path) -> None:
    def rounds(folder: Path, steps: int) -> list[dict[str, float]]:
        stopping = est.EarlyStopping("loss", patience=2, min_delta=0.01)
        return est.train_and_evaluate(
            estimator(folder), est.TrainSpec(data, steps, stopping), est.EvalSpec(held_out)
        )

    whole = rounds(tmp_path / "a", 1000)
    steps = [one["global_step"] for one in whole]
    assert steps == [float(k) for k in range(10, int(steps[-1]) + 1, 10)]
    assert steps[-1] < 300
    rounds(tmp_path / "b", 30)
    kept = json.loads((tmp_path / "b" / "evaluations.json").read_text())
    (tmp_path / "b" / "evaluations.json").write_text(json.dumps(kept[:-1]))
    assert rounds(tmp_path / "b", 1000) == whole
    assert rounds(tmp_path / "b", 1000) == whole  # it has ended


def test_stopping_by_a_metric_that_grows() -> None:
    stopping = est.EarlyStopping("accuracy", 2, larger_is_better=True)
    rows = [{"accuracy": value} for value in (0.5, 0.7, 0.7, 0.6)]
    assert not stopping.says_stop(rows[:3])
    assert stopping.says_stop(rows)


def test_what_is_exported_is_loaded_and_takes_any_batch(tmp_path: Path) -> None:
    model = estimator(tmp_path / "run").train(data, steps=20)
    first = model.export_saved_model(tmp_path / "out", {"x": ds.Spec([None, 3])})
    second = model.export_saved_model(tmp_path / "out", {"x": ds.Spec([None, 3])})
    assert int(second.name) > int(first.name)
    x = np.ones((5, 3), F32)
    (wanted,) = {float(one["y"][0]) for one in model.predict(lambda: [{"x": x}])}
    found = ds.load(second)(x=x)
    assert sorted(found) == ["twice", "y"]
    np.testing.assert_allclose(found["y"], np.full((5, 1), wanted), rtol=1e-6)


def test_features_may_be_one_array_and_gradients_of_rows_add_up(tmp_path: Path) -> None:
    def embed(features: Any, labels: Any, mode: est.ModeKeys) -> est.EstimatorSpec:
        table = ds.Variable(np.zeros((4, 2), F32), "table")
        rows = any_ops.resource_gather(table, features, dtype="float32")
        if mode is est.ModeKeys.PREDICT:
            return est.EstimatorSpec(mode, predictions=rows)
        loss = ((rows - labels) ** 2).sum()
        if mode is est.ModeKeys.TRAIN:
            est.Momentum(0.1).minimize(loss)
        return est.EstimatorSpec(mode, loss=loss)

    ids, wanted = np.array([1, 1, 3], np.int32), np.ones((3, 2), F32)
    model = est.Estimator(embed, tmp_path).train(lambda: [(ids, wanted)])
    shown: Any = list(model.predict(lambda: [np.arange(4, dtype=np.int32)]))
    np.testing.assert_allclose(np.stack(shown), [[0.0] * 2, [0.4] * 2, [0.0] * 2, [0.2] * 2], 1e-6)
    path = model.export_saved_model(tmp_path / "out", ds.Spec([None], "int32"))
    assert ds.load(path)(features=ids)["output"].shape == (3, 2)


def test_the_step_is_there_for_schedules(tmp_path: Path) -> None:
    def scheduled(features: Any, labels: Any, mode: est.ModeKeys) -> est.EstimatorSpec:
        w = ds.Variable(0.0, "w")
        loss = w * features.sum() * 0.0 + w
        if mode is est.ModeKeys.TRAIN:
            est.Momentum(1.0 / (1 + est.global_step().astype("float32"))).minimize(loss)
        return est.EstimatorSpec(mode, loss=loss)

    model = est.Estimator(scheduled, tmp_path).train(lambda: [np.ones(1, F32)] * 3)
    assert model.evaluate(lambda: [np.ones(1, F32)])["loss"] == pytest.approx(-(1 + 1 / 2 + 1 / 3))


# ---- bad input -------------------------------------------------------------------------------


def test_a_loss_that_is_not_finite_ends_before_its_checkpoint(tmp_path: Path) -> None:
    def bad(start: int) -> Iterator[Any]:
        for step, (x, y) in enumerate(data(start), start):
            yield x, y if step < 12 else y * np.nan

    with pytest.raises(DrystoneError) as caught:
        estimator(tmp_path / "a").train(bad, max_steps=30)
    assert (caught.value.code, str(caught.value.what)) == (
        "loss-not-finite", "the loss of step 13 is nan",
    )  # fmt: skip
    assert str(estimator(tmp_path / "a").latest_checkpoint()).endswith("model.ckpt-10")
    with pytest.raises(DrystoneError) as named:
        estimator(tmp_path / "b", check_numerics=True).train(bad, max_steps=30)
    assert "output 0 of node" in str(named.value)
    assert "(Placeholder)" in str(named.value)


def _wrong_spec(mode: est.ModeKeys) -> dict[str, Any]:
    return {
        "nothing": lambda _: None,
        "mode": lambda features: est.EstimatorSpec(est.ModeKeys.PREDICT, predictions=features),
        "loss": lambda _: est.EstimatorSpec(mode),
        "shape": lambda features: est.EstimatorSpec(mode, loss=features),
    }


@pytest.mark.parametrize("which", ["nothing", "mode", "loss", "shape"])
def test_model_functions_that_give_no_model(tmp_path: Path, which: str) -> None:
    wrong = _wrong_spec(est.ModeKeys.TRAIN)[which]
    with pytest.raises(ds.BadRequest) as caught:
        est.Estimator(wrong, tmp_path).train(lambda: [np.ones((2, 2), F32)])
    assert caught.value.code == "bad-estimator-spec"
    assert not list(tmp_path.glob("*.index"))


def test_what_cannot_be_trained_is_refused(tmp_path: Path) -> None:
    def still(features: Any, mode: est.ModeKeys) -> est.EstimatorSpec:
        return est.EstimatorSpec(mode, loss=features.sum())

    def apart(features: Any, mode: est.ModeKeys) -> est.EstimatorSpec:
        ds.Variable(0.0, "unused")
        loss = features.sum()
        est.Adam().minimize(loss)
        return est.EstimatorSpec(mode, loss=loss)

    for function, code in ((still, "nothing-trained"), (apart, "not-differentiable")):
        with pytest.raises(ds.BadRequest) as caught:
            est.Estimator(function, tmp_path).train(lambda: [np.ones(2, F32)])
        assert caught.value.code == code


@pytest.mark.parametrize(
    "given",
    [
        lambda: iter([]),
        list,
        lambda: None,
        lambda: np.ones(3),
        lambda: [({"x": object()}, np.ones((1, 1)))],
        lambda: [*held_out(), ({"z": np.ones((1, 3), F32)}, np.ones((1, 1), F32))],
    ],
)
def test_batches_that_are_none(tmp_path: Path, given: Any) -> None:
    with pytest.raises(ds.BadRequest) as caught:
        estimator(tmp_path).train(given)
    assert caught.value.code == "bad-batch"


def test_before_training_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    model = estimator(tmp_path)
    for ask in (
        lambda: model.evaluate(held_out),
        lambda: list(model.predict(held_out)),
        lambda: model.export_saved_model(tmp_path / "o", {"x": ds.Spec([None, 3])}),
    ):
        with pytest.raises(ds.BadRequest) as caught:
            ask()
        assert caught.value.code == "no-checkpoint"


def test_settings_that_mean_nothing(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "save_checkpoints_steps": 0,
        "save_checkpoints_secs": float("nan"),
        "keep_checkpoint_max": -1,
        "save_summary_steps": 0,
        "check_numerics": "yes",
    }
    for name, value in settings.items():
        with pytest.raises(ds.BadRequest):
            est.RunConfig(**{name: value})
    estimator(tmp_path).train(data, steps=10)
    spec = est.TrainSpec(data, 20, est.EarlyStopping("f1"))
    with pytest.raises(ds.BadRequest) as caught:
        est.train_and_evaluate(estimator(tmp_path), spec, est.EvalSpec(held_out))
    assert caught.value.code == "no-metric"
    (tmp_path / "evaluations.json").write_text("[1")
    with pytest.raises(ds.BadModelFile) as broken:
        est.train_and_evaluate(estimator(tmp_path), spec, est.EvalSpec(held_out))
    assert broken.value.code == "bad-evaluations"
    with pytest.raises(ds.BadRequest):
        est.global_step()
