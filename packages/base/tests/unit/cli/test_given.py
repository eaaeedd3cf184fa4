"""Values given on the command line: JSON, base64, files of arrays, and files of any bytes."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tiny_models import affine, echo, write

from drystone_base.cli._app import app
from drystone_base.cli._given import parse_input, parse_inputs, read_inputs
from drystone_base.cli._values import read_npz
from drystone_base.core.errors import BadRequest

ANY_BYTES = bytes(range(256)) + b"\0\0"


def drystone(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False, **options)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("x=[1, 2.5]", "x", [1, 2.5]),
        ("x:0=3", "x:0", 3),
        ('x="a=b"', "x", "a=b"),
        ('x=[{"b64": "YQA="}, "t"]', "x", [b"a\0", "t"]),
        ("x=[]", "x", []),
        ("flag=true", "flag", True),
    ],
)
def test_json(text: str, name: str, value: Any) -> None:
    assert parse_input(text) == (name, value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x", "no name, =, value"),
        ("=1", "no name, =, value"),
        ("x=hello", r"for text: 'x=\"hello\"'; for a file's bytes: x=@FILE"),
        ("x=photo.jpg", "x=@FILE"),
        ('x={"b64": "?"}', "not base64"),
        ('x={"a": 1}', "an object in a value must be"),
        ('x={"b64": "YQ==", "b64": "YQ=="}', "a key stands twice"),
        ("x=" + "[" * 100_000, "cannot be read"),
    ],
)
def test_texts_that_mean_nothing(text: str, found: str) -> None:
    with pytest.raises(BadRequest, match=found) as error:
        parse_input(text)
    assert error.value.code == "bad-input-value"


def test_a_name_is_given_once() -> None:
    assert parse_inputs(["x=1", "y=2"]) == {"x": 1, "y": 2}
    with pytest.raises(BadRequest, match="a second value for 'x'"):
        parse_inputs(["x=1", "x=2"])


def test_files(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "one.npz", other=array)
    np.savez(tmp_path / "two.npz", x=array, y=array + 1)
    (tmp_path / "a.json").write_text('[{"b64": "AAE="}]')
    (tmp_path / "raw.npy").write_bytes(ANY_BYTES)
    for file in ("a.npy", "one.npz", "two.npz"):
        np.testing.assert_array_equal(parse_input(f"x={tmp_path / file}")[1], array)
    assert parse_input(f"x={tmp_path / 'a.json'}")[1] == [b"\0\x01"]
    assert parse_input(f"x=@{tmp_path / 'raw.npy'}")[1] == ANY_BYTES
    with pytest.raises(BadRequest, match="one array, or 'z'"):
        parse_input(f"z={tmp_path / 'two.npz'}")


@pytest.mark.parametrize("name", ["none.npy", "none.json", "@none.bin"])
def test_files_that_are_not_there(tmp_path: Path, name: str) -> None:
    at, mark = name.lstrip("@"), "@" if name.startswith("@") else ""
    with pytest.raises(BadRequest, match="file-not-found"):
        parse_input(f"x={mark}{tmp_path / at}")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.array([b"a", {}], object))
    with pytest.raises(BadRequest, match=r"--input NAME=@FILE, or as \{\"b64\"") as error:
        parse_input(f"x={path}")
    assert error.value.code == "bad-array-file"


@pytest.mark.parametrize("content", ["[1]", "{", '{"x": {"a": 1}}', '"\\ud800'])
def test_json_files_of_no_values(tmp_path: Path, content: str) -> None:
    path = tmp_path / "in.json"
    path.write_text(content)
    with pytest.raises(BadRequest, match="bad-array-file"):
        read_inputs(path)


def test_any_bytes_go_in_and_come_out(tmp_path: Path) -> None:
    model, out = write(echo(), tmp_path / "m.pb"), tmp_path / "out.npz"
    (tmp_path / "b.bin").write_bytes(ANY_BYTES)
    given = ("--input", f"text=@{tmp_path / 'b.bin'}")
    done = drystone("run", model, *given, "--outputs", str(out))
    assert done.exit_code == 0, done.output
    assert read_npz(out)["same"].tolist() == [ANY_BYTES]  # a batch of one
    done = drystone("run", model, "--input", 'text=[["a"]]', "--outputs", str(out))
    assert (done.exit_code, "must have the placeholder's shape" in done.stderr) == (2, True)
    given = ("--input", 'text=["a", {"b64": "AP8A"}]')
    done = drystone("run", model, *given, "--outputs", str(out))
    assert done.exit_code == 0, done.output
    assert read_npz(out)["same"].tolist() == [b"a", b"\0\xff\0"]


def test_the_standard_input_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    class Streams:
        buffer = io.BytesIO(ANY_BYTES)

    monkeypatch.setattr("drystone_base.cli._given.sys.stdin", Streams)
    assert parse_input("x=@-") == ("x", ANY_BYTES)
    with pytest.raises(BadRequest, match="the standard input, a second time"):
        parse_inputs(["x=@-", "y=@-"])


@pytest.mark.parametrize("command", ["run", "bench", "explain"])
def test_commands_take_values(tmp_path: Path, command: str) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = drystone(command, model, "--input", "x=[[1, -2, 3]]", "--json")
    assert done.exit_code == 0, done.output
    (tmp_path / "in.json").write_text(json.dumps({"x": [[1, -2, 3]]}))
    done = drystone(command, model, "--inputs", str(tmp_path / "in.json"), "--json")
    assert done.exit_code == 0, done.output
    done = drystone(command, model, "--input", "z=1")
    assert (done.exit_code, "did you mean" in done.stderr or "'z'" in done.stderr) == (2, True)


def test_one_name_in_both(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    np.savez(tmp_path / "in.npz", x=np.ones((1, 3), np.float32))
    done = drystone("run", model, "--inputs", str(tmp_path / "in.npz"), "--input", "x=1")
    assert (done.exit_code, "'x' is in --inputs, too" in done.stderr) == (2, True)


def test_a_value_of_the_wrong_kind_is_refused(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = drystone("run", model, "--input", 'x=[["1", "2", "3"]]')
    assert (done.exit_code, "must have the tensor's dtype" in done.stderr) == (2, True)
