"""Hostile calls of every public function: fuzz_api.py [--seconds 600] [--seed 0] [--only REGEX]

Also the command line with hostile words, streams and environment. A finding is anything but a
result or a `DrystoneError`; `TypeError` for a wrong number of arguments or an unknown keyword is
Python's own. Calls run in child processes, which are started again after a crash or a hang.
`--json FILE` takes the findings, `--log FILE` what was done.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from ci.scripts.fuzz_api_command import command_findings
from ci.scripts.fuzz_api_waiting import Silence
from ci.scripts.project import ROOT

__all__ = ["Findings", "Lines", "call", "main"]

_PATIENCE: Final = 20.0
_START: Final = 120.0


@dataclass
class Findings:
    """What was wrong, each kind once, with how often it was seen."""

    log: IO[str] | None = None
    kinds: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    calls: int = 0
    restarts: int = 0
    names: Counter[str] = field(default_factory=Counter)

    def add(self, found: dict[str, Any]) -> None:
        """One finding; its kind is the name and where it came from, or how it was wrong."""
        wrong = str(found["wrong"])
        place = wrong.rpartition(" at ")[2] if " at " in wrong else wrong[:60]
        key = (place if place != "the call" else str(found["name"]), wrong.partition(":")[0])
        known = self.kinds.setdefault(key, {**found, "times": 0})
        known["times"] += 1
        if known["times"] == 1:
            self.say(f"{found['name']}({found['arguments']})\n    {wrong}  [{found['at']}]")

    def say(self, text: str) -> None:
        """A line for the terminal, and for the log."""
        print(text, flush=True)
        if self.log is not None:
            print(text, file=self.log, flush=True)


class Lines:
    """Lines of a child as they come: what was read ahead is looked at before waiting for more."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._rest = stream, b""

    def next(self, patience: float) -> str | None:
        """The next line, "" at the end of all, or None when none came in that many seconds."""
        while b"\n" not in self._rest:
            if not select.select([self._stream], [], [], patience)[0]:
                return None
            piece = os.read(self._stream.fileno(), 1 << 16)
            if not piece:
                return ""
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace") + "\n"


def _environment(folder: Path) -> dict[str, str]:
    """The child's: nothing of it is outside the scratch folder."""
    mine = {n: str(folder) for n in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR")}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_")}
    return kept | mine | {"PYTHONPATH": str(ROOT), "DRYSTONE_PLUGIN_PROBE_SECONDS": "5"}


def call(findings: Findings, folder: Path, seconds: float, seed: int, only: str) -> None:
    """Call functions until the time is over."""
    end, first = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        last, why = _one_child(findings, folder, end, seed, first, only)
        if why == "usage":
            raise SystemExit(2)
        if why:
            findings.restarts += 1
            findings.add(last | {"wrong": why, "arguments": "see --seed and the number"})
        first = int(last["at"]) + 1


def _one_child(
    findings: Findings, folder: Path, end: float, seed: int, first: int, only: str
) -> tuple[dict[str, Any], str]:
    """The last call that was begun, and why the child ended ("" for the end of the time)."""
    words = ["--seed", str(seed), "--first", str(first), "--only", only, "--folder", str(folder)]
    command = [sys.executable, "-m", "ci.scripts.fuzz_api_child", *words]
    last: dict[str, Any] = {"at": first, "name": "the start"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, bufsize=0, env=_environment(folder), cwd=ROOT,
        start_new_session=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        lines, patience, silence = Lines(child.stdout), _START, Silence(child.pid)
        try:
            while time.monotonic() < end:
                line = lines.next(patience)
                if line is None and not silence.is_hang(patience):
                    continue
                if line is None:
                    child.send_signal(signal.SIGABRT)  # faulthandler tells where it was
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        child.wait(5)
                    return last, f"no answer in {patience:.0f} s"
                if not line:
                    code = child.wait()
                    ends = {2: "usage", 3: ""}
                    return last, ends.get(code, f"the process ended with {code}")
                last, patience = _take(findings, line, last), _PATIENCE
                silence = Silence(child.pid)
            return last, ""
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def _take(findings: Findings, line: str, last: dict[str, Any]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError:  # something printed past the streams that were redirected
        return last
    if "wrong" in found:
        findings.add(found)
        return last
    findings.calls += 1
    findings.names[found["name"]] += 1
    return found


def main(arguments: list[str] | None = None) -> int:
    """Call, and tell what was found; 1 for any finding."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a regular expression of names; `cli` as well")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as around:
        log = around.enter_context(options.log.open("w")) if options.log else None
        findings = Findings(log)
        folder = Path(around.enter_context(tempfile.TemporaryDirectory(prefix="fuzz-api-")))
        share = 0.0 if options.only == "cli" else 0.75 if not options.only else 1.0
        call(findings, folder, options.seconds * share, options.seed, options.only)
        for found in command_findings(folder, options.seconds * (1 - share), options.seed):
            findings.calls += 1
            if found is not None:
                findings.add(found)
        findings.say(
            f"{findings.calls} calls of {len(findings.names)} names, seed {options.seed}; "
            f"{findings.restarts} children ended early; {len(findings.kinds)} kinds of findings"
        )
    if options.json:
        options.json.write_text(json.dumps(list(findings.kinds.values()), indent=1) + "\n")
    return int(bool(findings.kinds))


if __name__ == "__main__":
    sys.exit(main())
