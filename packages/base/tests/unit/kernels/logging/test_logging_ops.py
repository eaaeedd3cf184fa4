"""Assert, Print, the clock and files: texts as TensorFlow 2.21 gives them."""

import io
import logging
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stateful import Bench, f32, shapes

from drystone_base.core.dtypes import FLOAT32

B = Bench()


@pytest.mark.parametrize(
    ("data", "limit", "text"),
    [
        (np.arange(10), 3, "[0 1 2...]"),
        (np.arange(10), -1, "[0 1 2 3 4 5 6 7 8 9]"),
        (np.arange(6).reshape(2, 3), 3, "[[0 1 2]...]"),
        (np.arange(6).reshape(2, 3), 1, "[[0...]...]"),
        (np.arange(8).reshape(2, 2, 2), 3, "[[[0 1][2...]]...]"),
        (np.arange(8).reshape(2, 2, 2), 20, "[[[0 1][2 3]][[4 5][6 7]]]"),
        (np.array([True, False]), 3, "[1 0]"),
        (f32([1 / 3, 1e10]), 3, "[0.333333343 1e+10]"),
        (np.zeros((0, 2)), 3, "[]"),
        (np.complex64(1), 3, "[?]"),
        (["x y", "z"], 1, "[x y...]"),
        ('a"b', 3, '[a\\"b]'),
    ],
)
def test_assert_prints_its_data(data: Any, limit: int, text: str) -> None:
    B.all("Assert", np.array(True), data, summarize=limit)
    with pytest.raises(Exception, match="assertion failed") as caught:
        B.all("Assert", np.array(False), data, summarize=limit)
    assert f"assertion failed: {text}\n" in str(caught.value)


def test_assert_takes_a_scalar_condition() -> None:
    B.fails("INVALID_ARGUMENT", "scalar", "Assert", np.array([True]), "x")
    B.fails("INVALID_ARGUMENT", r"failed: \[msg\] \[1\]", "Assert", np.array(False), "msg", f32(1))


def test_print_stops_after_first_n(capsys: pytest.CaptureFixture[str]) -> None:
    b = Bench()
    for _ in range(3):
        assert b("Print", f32(5), f32([1, 2]), "x", message="m: ", first_n=2) == 5
    assert capsys.readouterr().err == "m: [1 2][x]\n" * 2


def test_print_v2(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    B.all("PrintV2", "to err")
    B.all("PrintV2", "to out", output_stream="stdout", end="!")
    said = capsys.readouterr()
    assert (said.err, said.out) == ("to err\n", "to out!")
    with caplog.at_level(logging.INFO, "drystone.graph"):
        B.all("PrintV2", "logged", output_stream="log(info)")
    assert caplog.messages == ["logged"]
    path = tmp_path / "log.txt"
    for _ in range(2):
        B.all("PrintV2", "line", output_stream=f"file://{path}")
    assert path.read_text() == "line\nline\n"
    B.fails("INVALID_ARGUMENT", "stream", "PrintV2", "x", output_stream="printer")


class Terminal(io.StringIO):
    """What a person looks at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("is_terminal", [True, False])
def test_prints_do_nothing_to_a_terminal(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A pipe gets what the model says, as in TensorFlow."""
    text, seen = "\x1b[31mred\r\u202e\ttwo\nlines", "\\x1b[31mred\\r\\u202e\ttwo\nlines"
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    B.all("PrintV2", text, end="\x07\n")
    B.all("Print", np.float32(1), np.float32(2), message="\x1b]0;title\x07")
    expected = f"{seen}\\x07\n\\x1b]0;title\\x07[2]\n"
    raw = f"{text}\x07\n\x1b]0;title\x07[2]\n"
    assert stream.getvalue() == (expected if is_terminal else raw)
    with caplog.at_level(logging.INFO, "drystone.graph"):
        B.all("PrintV2", text, output_stream="log(info)")
    assert caplog.messages == [seen]


def test_timestamp_is_now() -> None:
    before = time.time()
    assert before <= B("Timestamp") <= time.time()


def test_files_round_trip(tmp_path: Path) -> None:
    for name in ("b", "a", "c.txt"):
        B.all("WriteFile", str(tmp_path / "new" / name), np.array(b"\0" + name.encode(), object))
    assert B("ReadFile", str(tmp_path / "new" / "a")).item() == b"\0a"
    found = B("MatchingFiles", [str(tmp_path / "new" / "?"), str(tmp_path / "new" / "a")])
    assert [os.path.basename(f) for f in found.tolist()] == [b"a", b"b"]
    assert B("MatchingFiles", str(tmp_path / "none*")).shape == (0,)
    B.fails("NOT_FOUND", "readable", "ReadFile", str(tmp_path / "none"))
    B.fails("FAILED_PRECONDITION", "writable", "WriteFile", str(tmp_path / "new"), "x")


def test_shapes() -> None:
    assert shapes("Assert", [(), (3,)], T=[FLOAT32])[0] == []
    assert shapes("Print", [(2,), ()], [None, None])[0] == [(2,)]
    assert shapes("Timestamp", [])[0] == [()]
    assert shapes("MatchingFiles", [()])[0] == [(-1,)]


def test_inference_reads_no_files() -> None:
    for op in ("ReadFile", "MatchingFiles", "DecodeCompressed"):
        _, call = shapes(op, [np.array(b"name", object)])
        assert call.output_values == [None]
