"""Runs a suite's cases one after the other, and keeps what each gave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.nightly import results
from ci.nightly.suite import Case, LeftOut, Place, Wrong, suite
from ci.scripts.project import ROOT

__all__ = ["run_case", "run_suite"]

OK, FAILED, LEFT_OUT = "ok", "failed", "left out"


def run_suite(
    name: str, place: Place, *, only: Sequence[str] = (), resume: bool = False, minutes: float = 10
) -> int:
    """Run the cases; 0 where none failed, 1 else, 130 after Ctrl-C: what was done is kept.

    Raises KeyError for a case that the suite has not.
    """
    cases = {case.name: case for case in suite(name).cases(place)}
    wanted = [cases[one] for one in only] or list(cases.values())
    runs = results.load(place.results, name)
    run = results.open_run(runs, {"asked": list(only)}, resume=resume)
    todo = [case for case in wanted if case.name not in run["cases"]]
    end = time.monotonic() + 60 * minutes
    print(f"{suite(name).TITLE}: {len(todo)} of {len(wanted)} cases to run", flush=True)
    try:
        for number, case in enumerate(todo, len(wanted) - len(todo) + 1):
            if time.monotonic() > end:
                print(f"{minutes:g} minutes are over; --resume goes on", flush=True)
                break
            left = min(case.limit, max(1.0, end - time.monotonic()))
            run["cases"][case.name] = outcome = _in_child(name, case, place, left)
            results.save(place.results, name, runs)
            print(f"{number:>3}/{len(wanted)}  {_line(case.name, outcome)}", flush=True)
    except KeyboardInterrupt:
        results.save(place.results, name, runs)
        print("\ninterrupted; what was done is kept, and --resume goes on with the rest")
        return 130
    run["complete"] = all(case.name in run["cases"] for case in wanted)
    results.save(place.results, name, runs)
    return _close(run, len(wanted))


def _in_child(name: str, case: Case, place: Place, limit: float) -> dict[str, Any]:
    """Run a case by itself: one that ends its process, or never ends, is a failure like others."""
    folder = place.work / "cases" / case.name.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    answer = folder / "outcome.json"
    answer.unlink(missing_ok=True)
    words = [sys.executable, "-m", "ci.nightly", name, "--case", case.name, "--answer", str(answer)]
    words += ["--work", str(place.work), "--results", str(place.results)]
    words += ["--released", str(place.released)]
    words += ["--wheels", str(place.wheels)] if place.wheels else []
    start = time.monotonic()
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        child = subprocess.Popen(
            words, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            status: int | None = child.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end(child)
    seconds = round(time.monotonic() - start, 2)
    if answer.exists():
        found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return found | {"seconds": seconds}
    why = f"not done after {limit:.0f} s" if status is None else f"its process ended with {status}"
    return {"state": FAILED, "message": f"{why}: {_tail(folder / 'log.txt')}", "seconds": seconds}


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a case's process and all that it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    child.wait()


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return " | ".join(lines[-5:])[-600:] or "it printed nothing"


def run_case(name: str, wanted: str, place: Place, answer: Path) -> int:
    """In the case's own process: run it, and write what it gave."""
    case = next(one for one in suite(name).cases(place) if one.name == wanted)
    found: dict[str, Any]
    try:
        found = {"state": OK, "figures": dict(case.run(place))}
    except LeftOut as reason:
        found = {"state": LEFT_OUT, "message": str(reason)}
    except Wrong as error:
        found = {"state": FAILED, "message": str(error)}
    except Exception as error:
        traceback.print_exc()
        found = {"state": FAILED, "message": f"{type(error).__name__}: {error}"[:1000]}
    answer.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(found["state"] == FAILED)


def _line(name: str, outcome: dict[str, Any]) -> str:
    told = ", ".join(
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in outcome.get("figures", {}).items()
    )
    said = told or outcome.get("message", "")
    return f"{name:<34} {outcome['state']:<8} {outcome['seconds']:6.1f} s  {said}"


def _close(run: results.Run, wanted: int) -> int:
    states = [outcome["state"] for outcome in run["cases"].values()]
    seconds = sum(outcome["seconds"] for outcome in run["cases"].values())
    counts = ", ".join(f"{states.count(state)} {state}" for state in (OK, FAILED, LEFT_OUT))
    left = wanted - len(states)
    print(f"{counts}{f', {left} not run' if left > 0 else ''}; {seconds:.0f} s", flush=True)
    return int(FAILED in states or left > 0)
