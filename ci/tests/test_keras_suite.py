"""What becomes of records of Keras's own tests: counts, reasons, and a run that is cut off."""

from __future__ import annotations

import json
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from ci.scripts import keras_suite, keras_suite_page
from ci.scripts.keras_suite_page import Outcome, page, summary, table, unexplained

FOUND = {
    "ops": [
        Outcome("ops/a_test.py::A::test_one", "passed"),
        Outcome("ops/a_test.py::A::test_two1", "unfit", "no such function"),
        Outcome("ops/a_test.py::A::test_two2", "unfit", "no such function"),
        Outcome("ops/b_test.py::B::test_flash", "failed", "asks for it"),
        Outcome("ops/b_test.py::B::test_rest", "waiting"),
    ]
}


@pytest.fixture
def reasons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "reasons.toml"
    file.write_text('left_out = []\n[[failing]]\nreason = "no flash"\nmatch = ["B::test_flash$"]\n')
    monkeypatch.setattr(keras_suite_page, "REASONS", file)


@pytest.mark.usefixtures("reasons")
def test_counts_by_folder_and_tests_by_reason() -> None:
    made = summary(FOUND)
    assert "| `ops` | 1 | 1 | 50.0 % | 0 | 2 | 0 | 1 |" in table(made)
    assert made["failed"] == {"no flash": ["ops/b_test.py::B::test_flash"]}
    assert unexplained(FOUND) == []
    text = page(made)
    assert "**No flash** (1):" in text
    assert "`ops/a_test.py`: `test_two` (2)" in text


@pytest.mark.usefixtures("reasons")
def test_a_failure_without_a_reason_is_named() -> None:
    other = Outcome("ops/b_test.py::B::test_other", "failed", "it differs")
    assert unexplained({"ops": [*FOUND["ops"], other]}) == [other]
    assert "not explained yet" in summary({"ops": [other]})["failed"]


def test_a_failure_stays_and_a_test_that_ended_the_process_is_the_last_word(tmp_path: Path) -> None:
    record = tmp_path / "ops.jsonl"
    rows = [
        Outcome("a", "waiting"), Outcome("b", "waiting"), Outcome("c", "waiting"),
        Outcome("a", "begun"), Outcome("a", "failed", "call"), Outcome("a", "passed"),
        Outcome("b", "begun"),
    ]  # fmt: skip
    record.write_text("".join(json.dumps(row._asdict()) + "\n" for row in rows), "utf-8")
    found = {one.test: one.outcome for one in keras_suite.outcomes(record)}
    assert found == {"a": "failed", "b": "begun", "c": "waiting"}


@pytest.mark.parametrize("words", [["--resume", "ops"], ["ops", "--resume"]])
def test_options_may_stand_before_places(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(keras_suite, "fetched", lambda folder: folder)
    monkeypatch.setattr(keras_suite, "prepared", lambda _, scratch: scratch)
    monkeypatch.setattr(keras_suite, "run", lambda _, places, *__, **___: ran.extend(places))
    with pytest.raises(SystemExit, match="no test of ops ran"):  # as where Keras is not imported
        keras_suite.main([str(tmp_path), *words])
    assert ran == ["ops"]


def test_tests_that_list_backends_know_of_ours() -> None:
    text = (
        'if backend.backend() == "numpy":\n'
        "    from keras.src.backend.numpy.trainer import NumpyTrainer as Trainer\n"
        'else:\n    raise ImportError(f"Invalid backend: {backend.backend()}")\n'
    )
    made = keras_suite._with_ours(text)
    assert "import NumpyTrainer" not in made
    assert made.index("keras_drystone.src.trainer import Trainer") < made.index("Invalid backend")
    compile(made, "test", "exec")


def test_only_files_of_one_build_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    for name in ("keras/own.py", "keras/left_by_another.py", "keras_nightly-1.dist-info/RECORD"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text("keras/own.py,,\n", "utf-8")
    (site / "keras_nightly-1.dist-info/METADATA").write_text("Name: keras-nightly\n", "utf-8")
    found = Distribution.at(site / "keras_nightly-1.dist-info")
    monkeypatch.setattr(keras_suite, "_distribution", lambda: found)
    keras_suite._copy(tmp_path / "scratch")
    assert [file.name for file in (tmp_path / "scratch/keras").iterdir()] == ["own.py"]
