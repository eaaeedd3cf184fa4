"""``drystone`` where users and systems are unkind: odd requests, odd outputs, odd streams."""

import importlib.metadata
import io
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tiny_models import affine, write

from drystone_base.cli import _health, _plugins, _streams
from drystone_base.cli._app import app
from drystone_base.cli._output import print_table
from drystone_base.cli._values import read_npz
from drystone_base.core.errors import BadRequest
from drystone_base.files import writing as _writing
from drystone_base.files.writing import replace_file
from drystone_base.plugins import Plugin

X = np.array([[1.0, -2.0, 3.0]], np.float32)


def drystone(*arguments: str) -> Result:
    runner = CliRunner()
    return runner.invoke(app, list(arguments), prog_name="drystone", catch_exceptions=False)


def process(*arguments: str, **around: str) -> subprocess.CompletedProcess[bytes]:
    """``drystone`` in a shell: ``before`` and ``after`` stand around the command."""
    program = " ".join([sys.executable, "-m", "drystone_base", *arguments])
    text = f"{around.get('before', '')} {program} {around.get('after', '')}"
    return subprocess.run(["bash", "-c", text], capture_output=True, check=False)


@pytest.fixture
def model(tmp_path: Path) -> str:
    np.savez(tmp_path / "in.npz", x=X)
    return write(affine(), tmp_path / "m.pb")


@pytest.mark.parametrize(
    ("arguments", "what", "needed"),
    [
        (("run", "--json"), "Missing argument 'MODEL'.", "run [OPTIONS] MODEL"),
        (
            ("run", "m.pb", "--json", "--repeat", "0"),
            "Invalid value for '--repeat': 0 is not in the range x>=1.",
            "run [OPTIONS] MODEL",
        ),
        (("run", "m.pb", "--jsn", "--json"), "No such option", "run [OPTIONS] MODEL"),
        (
            ("plugins", "check", "--json"),
            "Missing argument 'FILE'.",
            "plugins check [OPTIONS] FILE",
        ),
        (("runn", "--json"), "No such command 'runn'.", "[OPTIONS] COMMAND [ARGS]..."),
    ],
)
def test_a_wrong_command_line_is_told_like_any_failure(
    arguments: tuple[str, ...], what: str, needed: str
) -> None:
    done = drystone(*arguments)
    report = json.loads(done.stdout)
    assert report["exit"] == done.exit_code == 2
    assert report["error"]["code"] == "bad-request"
    assert what in report["error"]["what"]
    assert report["error"]["found"] == " ".join(["drystone", *arguments])
    assert report["error"]["needed"] == f"drystone {needed}"
    assert report["error"]["remedy"].endswith(" --help")
    plain = drystone(*(a for a in arguments if a != "--json"))
    assert plain.stdout == ""
    assert plain.stderr.startswith(f"error: {what}")
    assert "[bad-request]\n  check: " in plain.stderr


def test_a_group_alone_shows_its_help() -> None:
    done = drystone("plugins")
    assert "Commands:" in done.output
    assert "error" not in done.output


def test_a_negative_seed_is_a_wrong_request(model: str) -> None:
    done = drystone("run", model, "--seed", "-1")
    assert (done.exit_code, "-1 is not in the range x>=0" in done.stderr) == (2, True)


def test_inputs_that_lack_a_feed_are_a_wrong_request(model: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "none.npz")
    done = drystone("run", model, "--inputs", str(tmp_path / "none.npz"))
    assert (done.exit_code, "[placeholder-not-fed]" in done.stderr) == (2, True)


def test_a_file_of_inputs_that_is_not_there_is_a_wrong_request(model: str, tmp_path: Path) -> None:
    done = drystone("run", model, "--inputs", str(tmp_path / "inn.npz"))
    assert (done.exit_code, "did you mean in.npz" in done.stderr) == (2, True)


def test_a_bare_array_is_told_from_a_damaged_archive(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(BadRequest, match=r"found: one array without a name") as caught:
        read_npz(tmp_path / "x.npy")
    assert caught.value.inner is None


def test_a_near_name_is_offered_once(model: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", xx=X)
    done = drystone("run", model, "--inputs", str(tmp_path / "in.npz"))
    assert "remedy: did you mean x?\n" in done.stderr


def test_which_of_two_models_is_broken_is_said(model: str, tmp_path: Path) -> None:
    cut = tmp_path / "cut.pb"
    cut.write_bytes(Path(model).read_bytes()[:-3])
    done = drystone("diff", model, str(cut))
    assert (done.exit_code, f"{cut} cannot be read [bad-graphdef]" in done.stderr) == (3, True)


def test_events_that_cannot_be_written(model: str, tmp_path: Path) -> None:
    done = drystone("run", model, "--events", str(tmp_path / "m.pb" / "logs"))
    assert (done.exit_code, "cannot be written [cannot-write]" in done.stderr) == (2, True)


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    replace_file(pipe, [b"a", b"b"])
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(30)
    assert read == [b"ab"]


def test_a_pipe_that_nobody_reads_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_writing, "_PATIENCE", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadRequest, match="cannot-write") as caught:
        replace_file(tmp_path / "pipe", [b"a"])
    assert "No such device or address" in caught.value.found


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    replace_file(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == b"new"
    assert [p.name for p in (tmp_path / "there").iterdir()] == ["file"]


def test_a_reader_that_stops_is_no_difference(model: str) -> None:
    for command in ("inspect", "run"):
        done = process(command, model, after="| true; echo ${PIPESTATUS[0]}")
        assert (done.stdout, done.stderr) == (b"141\n", b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("option", ["", "--json", "--help"])
def test_a_full_output_is_told(model: str, option: str) -> None:
    done = process("inspect", model, option, after="> /dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: the output cannot be written")
    assert b"Traceback" not in done.stderr


def test_a_closed_output_is_no_failure(model: str) -> None:
    done = process("inspect", model, after=">&-")
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_an_encoding_lacks_is_spelt_or_escaped(model: str) -> None:
    done = process("bench", model, "--profile", before="PYTHONIOENCODING=ascii")
    assert done.returncode == 0, done.stderr
    assert b" us " in done.stdout
    assert b" ###" in done.stdout
    stream = io.TextIOWrapper(io.BytesIO(), "latin-1", "strict")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        _streams.make_printable()
        print("é█…€", flush=True)
    assert stream.buffer.getvalue() == b"\xe9#.\\u20ac\n"  # type: ignore[attr-defined]


def test_json_stays_json_in_any_encoding(tmp_path: Path) -> None:
    done = process("inspect", str(tmp_path / "é.pb"), "--json", before="PYTHONIOENCODING=latin-1")
    assert json.loads(done.stdout)["error"]["needed"] == "é.pb"


def test_extras_that_are_left_out_are_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ["numpy>=2.0", 'pillow>=11; extra == "images"']
    have = {"numpy": "2.1", "pillow": "not installed"}
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: needs)
    monkeypatch.setattr(_health, "_version", have.__getitem__)
    assert _health._check_requirements()["ok"]
    have["pillow"] = "10.4"
    assert _health._check_requirements()["found"] == "pillow 10.4, needs 11"
    have.update(pillow="12.0", numpy="not installed")
    assert _health._check_requirements()["found"] == "numpy not installed, needs 2.0"


def test_a_folder_is_no_plugin(tmp_path: Path) -> None:
    done = drystone("plugins", "check", str(tmp_path))
    assert (done.exit_code, "is a directory" in done.stderr) == (2, True)


def test_keys_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "keys")
    done = drystone("plugins", "keygen", "--no-password", "--folder", folder)
    assert (done.exit_code, "me.key" in done.stderr, "[cannot-write]" in done.stderr) == (
        2, False, True,
    )  # fmt: skip


def test_a_plugin_with_a_note_of_no_reason_has_no_empty_brackets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = Plugin("p", "/p.so", "here")
    plugin.state = "loaded"
    plugin.registered["kernels"] = ["A", "B"]
    monkeypatch.setattr(Plugin, "warnings", lambda _: ["it is part of p"])
    assert _plugins.row(plugin)[3] == "2 kernels"


@pytest.fixture
def forbidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A path behind a folder that may not be entered, for root, too."""
    folder = tmp_path / "forbidden"
    stat_of, open_of, access_of = os.stat, io.open, os.access

    def refused(path: object) -> bool:
        return isinstance(path, str | os.PathLike) and str(path).startswith(str(folder))

    def stat(path: str, *args: object, **named: object) -> os.stat_result:
        if refused(path):
            raise PermissionError(13, "Permission denied", str(path))
        return stat_of(path, *args, **named)  # type: ignore[arg-type]

    def opened(path: str, *args: object, **named: object) -> object:
        if refused(path):
            raise PermissionError(13, "Permission denied", str(path))
        return open_of(path, *args, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(io, "open", opened)
    monkeypatch.setattr(os, "access", lambda p, *of, **n: not refused(p) and access_of(p, *of, **n))
    return str(folder / "file.npz")


def test_what_may_not_be_read_is_told_by_what_reads_it(model: str, forbidden: str) -> None:
    done = drystone("run", forbidden)
    assert (done.exit_code, "cannot be read [file-unreadable]" in done.stderr) == (3, True)
    done = drystone("run", model, "--inputs", forbidden)
    assert (done.exit_code, "found: a file that cannot be read" in done.stderr) == (2, True)
    done = drystone("run", model, "--outputs", forbidden)
    assert (done.exit_code, "forbidden' may not be read" in done.stderr) == (2, True)
    done = drystone("diff", model, forbidden)
    assert (done.exit_code, "cannot be read [file-unreadable]" in done.stderr) == (3, True)


def test_a_model_without_permission_is_no_wrong_command_line(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_args, **_named: False)
    assert drystone("run", model).exit_code == 0


def test_a_table_in_a_narrow_terminal_shows_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "12")
    print_table("", [f"column{k}" for k in range(7)], [[f"{k}" for k in range(7)]])
    assert all(f"{k}" in stream.getvalue() for k in range(7))
