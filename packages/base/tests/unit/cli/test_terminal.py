"""Commands at a terminal: what they say while they work, and Ctrl-C."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny_models import affine, write

TERMINAL = {"TERM": "xterm", "COLUMNS": "99", "DRYSTONE_EXECUTOR": "native"}


def started(*arguments: str) -> tuple[subprocess.Popen[bytes], int]:
    """A command whose standard error is a terminal, and that terminal's other end."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "drystone_base", *arguments],
        stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, **TERMINAL},
    )  # fmt: skip
    os.close(theirs)
    return process, ours


def read(terminal: int, until: str = "", seconds: float = 60) -> str:
    """What the terminal shows until it has a text, or until nobody writes to it."""
    shown, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and not (until and until.encode() in shown):
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
    return shown.decode(errors="replace")


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        (("run",), ["loading", "running"]),
        (("bench", "--repeat", "3", "--profile"), ["first time", "warming", "timing", "once more"]),
        (("explain", "--nodes"), ["loading", "making the plan", "running"]),
        (("inspect",), ["reading"]),
    ],
    ids=["run", "bench", "explain", "inspect"],
)
def test_long_work_says_what_it_is(
    tmp_path: Path, command: tuple[str, ...], texts: list[str]
) -> None:
    process, terminal = started(command[0], write(affine(), tmp_path / "m.pb"), *command[1:])
    shown = read(terminal)
    out, _ = process.communicate(timeout=60)
    os.close(terminal)
    assert process.returncode == 0, shown
    for text in texts:
        assert text in shown
        assert text not in out.decode() or text == "running"


def test_both_models_of_a_diff_are_run(tmp_path: Path) -> None:
    models = [write(affine(k), tmp_path / f"{k}.pb") for k in (2.0, 2.0)]
    process, terminal = started("diff", *models)
    shown = read(terminal)
    process.communicate(timeout=60)
    os.close(terminal)
    assert process.returncode == 0, shown
    assert "comparing the graphs" in shown
    assert "running both" in shown


def test_ctrl_c_ends_a_command_with_130(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    process, terminal = started("bench", model, "--repeat", "100000000")
    assert "timing" in read(terminal, until="timing")
    process.send_signal(signal.SIGINT)
    rest = read(terminal)
    out, _ = process.communicate(timeout=60)
    os.close(terminal)
    assert process.returncode == 130
    assert "interrupted" in rest
    assert "Traceback" not in rest
    assert b"median" not in out
