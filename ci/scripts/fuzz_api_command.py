"""The command line with hostile words, standard input and environment."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ci.scripts.fuzz_api_values import shown
from ci.scripts.fuzz_api_waiting import Silence
from ci.scripts.project import ROOT

__all__ = ["command_findings", "judge"]

_PATIENCE: Final = 60
_KNOWN_CODES: Final = frozenset({0, 1, 2, 3, 4, 5, 6, 130, 141})
_COMMANDS: Final = (
    "run", "inspect", "explain", "diff", "bench", "doctor", "passes", "plugins", "optimize",
    "bisect", "partition", "no-such-command", "", "--", "-",
)  # fmt: skip
_WORDS: Final = (
    "good.pb", "good.pb", "good.pb", "junk.pb", "text.pbtxt", "empty", "a folder", "fifo", "loop",
    "missing", "model.json", "saved_model.pb", ".", "", "-", "--", "\udcff", "\x1b[31m", "a\nb",
    "a" * 5000, "no://such/place", "--json", "--verbose", "--help", "--seed", "--shape", "x=3",
    "x=99999999999999", "x=-1", "x=", "=", "--inputs", "junk.npz", "--outputs", "out.npz",
    "--fetch", "y:0", "y:7", "^y", "--signature", "nobody", "--repeat", "0", "-1", "3", "1e9",
    "nan", "--tag", "--checkpoint", "--graph", "g.svg", "g.html", "g.png", "--allow-read",
    "--device", "--optimizer", "--pass", "list", "explain", "check", "sign", "keygen", "trust",
    "--no-such-option",
)  # fmt: skip
_VARIABLES: Final = (
    "DRYSTONE_EXECUTOR", "DRYSTONE_NUM_THREADS", "DRYSTONE_PLUGIN_POLICY", "DRYSTONE_PLAN_CACHE",
    "DRYSTONE_PLAN_CACHE_BYTES", "DRYSTONE_PLUGIN_ISOLATION", "DRYSTONE_SUBGRAPH_BACKEND",
    "DRYSTONE_VERIFY_PASSES", "DRYSTONE_DEVELOPER_MODE", "DRYSTONE_DUMP_PASSES",
    "DRYSTONE_EXECUTR", "DRYSTONE_FILES_TIMEOUT", "DRYSTONE_FILESYSTEMS", "DRYSTONE_CPU_LEVEL",
    "COLUMNS", "LANG", "HOME", "XDG_CACHE_HOME", "TERM", "DRYSTONE_TRUST_STORE",
)  # fmt: skip
_SETTINGS: Final = (
    "", "0", "1", "-1", "gpu", "nan", "1e99", "99999999999999999999", "\udcff", "a" * 3000, "a=b,c",
    "ascii", "latin-1", "no-such", "/dev/null/x", "off", "native", " ", "\x1b[31m",
)  # fmt: skip
_STDIN: Final = (b"", b"\x00\xff", b"{", b"y\n" * 10, b"[" * 100_000)


def judge(code: int, out: bytes, err: bytes) -> str:
    """ "" for an end that is in order, else what was wrong with it."""
    text = err.decode("utf-8", "replace")
    told = re.search(r"^error: .* \[[a-z-]+\]$", text, re.MULTILINE)  # with --verbose after it
    if "Traceback (most recent call last)" in text and told is None:
        last = text.strip().splitlines()[-1]
        place = re.findall(r'File "[^"]*/(drystone[^"]*)", line (\d+)', text)
        return f"{shown(last)} at {':'.join(place[-1]) if place else 'the start'}"
    if "[internal]" in text:
        return f"[internal]: {shown(text)}"
    if code not in _KNOWN_CODES:
        return f"exit code {code}: {shown(text)}"
    if re.search(rb"\x1b\[31m", out + err):
        return "an escape sequence of the request is printed"
    return ""


def command_findings(folder: Path, seconds: float, seed: int) -> Iterator[dict[str, Any] | None]:
    """A finding or None for each command that was run, until the time is over."""
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        chance = random.Random(f"command {seed}/{number}")
        yield _one(folder, chance, number)
        number += 1


def _one(folder: Path, chance: random.Random, number: int) -> dict[str, Any] | None:
    words = [chance.choice(_COMMANDS), *chance.choices(_WORDS, k=chance.randrange(6))]
    words = [word for word in words if "\x00" not in word]
    more = {
        name: chance.choice(_SETTINGS)
        for name in chance.sample(_VARIABLES, chance.choice((0, 0, 1, 2)))
    }
    mine = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "PYTHONPATH": str(ROOT)}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_")}
    command = [sys.executable, "-m", "drystone_base", *words]
    wrong = _wrong(command, folder, environment | mine | more, chance.choice(_STDIN))
    if not wrong:
        return None
    said = f"{shown(words)} with {shown(more)}"
    return {"at": number, "name": f"drystone {words[0]}", "wrong": wrong, "arguments": said}


def _wrong(command: list[str], folder: Path, environment: dict[str, str], data: bytes) -> str:
    """What was wrong with the end of a command, or that there was none."""
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    ) as child:  # fmt: skip
        silence = Silence(child.pid)
        given: bytes | None = data
        while True:
            try:
                out, err = child.communicate(given, timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                given = None  # it has been begun
                if not silence.is_hang(_PATIENCE):
                    continue
                os.killpg(child.pid, signal.SIGKILL)
                return f"no answer in {_PATIENCE} s"
            return judge(child.returncode, out, err)
