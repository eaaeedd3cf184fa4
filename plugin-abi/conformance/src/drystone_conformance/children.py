"""Suites in processes of their own: a plugin that ends its process costs one test.

The process that was asked for a plugin's tests never opens the library. It starts one for each
suite, reads what that tells (``progress``), and where it has died says of which test, in which
call, and by what; the tests that come after it run in another process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drystone_conformance.progress import Progress, read_progress

__all__ = ["Outcome", "run_apart", "run_suites", "suite_name"]

LIBRARY = "test_library.py"
_NOTHING_TO_DO = 5
_BY_ITSELF = frozenset(range(_NOTHING_TO_DO + 1))
_STEP = 0.1
_LEAST_TO_START = 300.0
_MOST_DEATHS = 10
_MOST_PRINTED = 1000


@dataclass
class Outcome:
    """What came of all suites: a row per test, what the library offers, and how many deaths."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    deaths: int = 0
    refused: int = 0
    """pytest's status where it would not run at all: a wrong option, Ctrl-C."""

    @property
    def failed(self) -> int:
        """How many tests failed."""
        return sum(row["outcome"] == "failed" for row in self.rows)


@dataclass(frozen=True)
class _Ended:
    """How a process ended, what it told, and the last that it printed."""

    code: int | None
    told: Progress
    printed: str


def suite_name(file: str) -> str:
    """The name of a suite from that of its file, or of a test in it."""
    return Path(file.split("::")[0]).stem.removeprefix("test_")


def run_suites(
    arguments: Sequence[str],
    suites: Sequence[Path],
    seconds: float,
    say: Callable[[str], None],
    most_failures: int = 0,
) -> Outcome:
    """Run each suite, the library's first, with pytest's ``arguments``; without suites, once.

    A test may take ``seconds``. Suites of modules that the library does not offer are left out.
    """
    found = Outcome()
    first = [file for file in suites if file.name == LIBRARY]
    rest = [file for file in suites if file.name != LIBRARY]
    for file in [*first, *rest] if suites else [None]:
        if file is not None and file.name != LIBRARY and not _offered(file, found):
            continue
        if file is not None:
            say(f"== {suite_name(file.name)}")
        words = [*arguments, *([str(file)] if file else [])]
        _run_suite(found, words, seconds, say, most_failures or sys.maxsize)
        if found.refused or 0 < most_failures <= found.failed:
            break
    return found


def run_apart(module: str, arguments: Sequence[str], seconds: float) -> int:
    """Run the ``main`` of a module in a process of its own; its status, 1 where the plugin ends it.

    What it asked of the plugin then is printed to standard error.
    """
    program = (
        f"import sys; from drystone_conformance import progress, {module}; "
        f"progress.write_to(sys.argv[1]); code = {module}.main(sys.argv[2:]); "
        "progress.tell('end', True); sys.exit(code)"
    )
    with tempfile.TemporaryDirectory(prefix="drystone-conformance-") as name:
        file = Path(name, "progress")
        process = subprocess.Popen([sys.executable, "-c", program, str(file), *arguments])
        code = _wait(process, file, seconds)
        told = read_progress(file)
    if code in _BY_ITSELF and (told.ended or not told.doing):
        return code or 0
    print(f"{_ending(code, seconds)}{_during(told)}", file=sys.stderr)
    return 1


def _offered(file: Path, found: Outcome) -> bool:
    """Whether the library has what the suite tests; ``filesystem_faults`` is of filesystem."""
    offers: dict[str, bool] = found.facts.get("offers", {})
    return any(has and suite_name(file.name).startswith(module) for module, has in offers.items())


def _run_suite(
    found: Outcome,
    arguments: Sequence[str],
    seconds: float,
    say: Callable[[str], None],
    most_failures: int,
) -> None:
    """Run one suite to its end, though its process dies now and then."""
    done: list[str] = []
    for deaths in range(1, _MOST_DEATHS + 1):
        headed = ["--no-header"] if found.facts else []
        ended = _start([*headed, *arguments], done, seconds)
        told = ended.told
        found.rows += told.rows
        found.facts = found.facts or told.facts
        if ended.code in _BY_ITSELF and (told.ended or not (told.begun or told.doing)):
            found.refused = 0 if ended.code in (0, 1, _NOTHING_TO_DO) else ended.code or 0
            return
        found.deaths += 1
        found.rows.append(_death(ended, seconds))
        if deaths == _MOST_DEATHS:
            found.rows[-1]["reason"] += f"; after {deaths} deaths the suite's others are not run"
        say(f"\n{found.rows[-1]['reason']}")
        if not told.test or found.failed >= most_failures:
            return
        done += told.begun


def _death(ended: _Ended, seconds: float) -> dict[str, Any]:
    """The row of the test during which the process ended."""
    told, test = ended.told, ended.told.test
    at = test or (told.begun[-1] if told.begun else "")
    which = f"test {test.split('::')[-1]}" if test else "after its last test"
    where = f"suite {suite_name(at)}, {which}: " if at else ""
    text = f"{where}{_ending(ended.code, seconds)}"
    text += _during(told)
    text += f"; the last that it printed: {ended.printed}" if ended.printed else ""
    short = at.split("suites/")[-1] or "loading"
    return {"test": short, "outcome": "failed", "reason": text, "died": True, "seconds": 0.0}


def _during(told: Progress) -> str:
    return f" while {told.doing}" if told.doing else ""


def _ending(code: int | None, seconds: float) -> str:
    if code is None:
        return f"the plugin did not come back within {seconds:g} s"
    if code < 0:
        try:
            return f"the plugin died by {signal.Signals(-code).name}"
        except ValueError:
            return f"the plugin died by signal {-code}"
    return f"the plugin ended the process with status {code}"


def _start(arguments: Sequence[str], done: Sequence[str], seconds: float) -> _Ended:
    with tempfile.TemporaryDirectory(prefix="drystone-conformance-") as name:
        folder = Path(name)
        (folder / "done").write_text("\n".join(done), encoding="utf-8")
        # What native code prints must get out even where the process dies: no capture of files.
        command = [sys.executable, "-m", "pytest", "--capture=sys", *arguments]
        command += ["--plugin-child", name]
        with (folder / "errors").open("wb") as errors:
            process = subprocess.Popen(command, stderr=errors)
            code = _wait(process, folder / "progress", seconds)
        told = read_progress(folder / "progress")
        printed = (folder / "errors").read_text(encoding="utf-8", errors="replace")
        if told.ended or not told.begun:
            sys.stderr.write(printed)
        return _Ended(code, told, _shown(printed))


def _wait(process: subprocess.Popen[bytes], progress: Path, seconds: float) -> int | None:
    """The exit status; None where a test told nothing for so long that the process was ended.

    To start may take longer: the library is loaded then, after a trial of its own.
    """
    last, since, tests = -1, time.monotonic(), False
    try:
        while True:
            try:
                return process.wait(_STEP)
            except subprocess.TimeoutExpired:
                pass
            size = os.stat(progress).st_size if progress.exists() else 0
            if size != last:
                last, since = size, time.monotonic()
                tests = bool(read_progress(progress).test)
            elif time.monotonic() - since > (seconds if tests else max(seconds, _LEAST_TO_START)):
                return None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _shown(text: str) -> str:
    """The last lines, without what could not be printed."""
    kept = "".join(c if c.isprintable() or c == "\n" else "?" for c in text.strip())
    return kept[-_MOST_PRINTED:]
