"""Settings of Keras's tests in the scratch folder of ``ci.scripts.keras_suite``.

What became of a test is written down when it ends, so that a run that is cut off goes on where it
stopped.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("triton") is not None:  # torch loads it later: that ends the process
    importlib.import_module("triton")  # where TensorFlow was loaded before it

if os.environ["KERAS_BACKEND"] == "drystone":
    import keras_drystone  # noqa: F401  # before keras

from keras.src import backend, ops
from keras.src.backend import common
from keras.src.random import random

# The tests of 3.15 find functions in keras.src.backend that later ones keep in its parts.
for _part in (getattr(backend, "ops", common), common):
    for _name in dir(_part):
        if not _name.startswith("_") and not hasattr(backend, _name):
            setattr(backend, _name, getattr(_part, _name))

# They find random functions in keras.src.ops, where later ones have none.
if importlib.util.find_spec("keras.src.ops.random") is None:
    sys.modules["keras.src.ops.random"] = random
    ops.random = random

_ROWS = tomllib.loads(Path(os.environ["KERAS_SUITE_LEFT_OUT"]).read_text("utf-8"))["left_out"]
_LEFT_OUT = [(re.compile(p), row["reason"]) for row in _ROWS for p in row["match"]]
_RECORD = Path(os.environ["KERAS_SUITE_RECORD"])
_TOP = "keras/src/"
_ONLY = os.environ.get("KERAS_SUITE_ONLY")
_WANTED = frozenset(Path(_ONLY).read_text("utf-8").split("\n")) if _ONLY else None


def skip_if_backend(given_backend: str, reason: str) -> Any:
    """What Keras's own settings offer to its tests."""
    return pytest.mark.skipif(backend.backend() == given_backend, reason=reason)


def _recorded() -> set[str]:
    if not _RECORD.exists():
        return set()
    rows = [json.loads(line) for line in _RECORD.read_text("utf-8").splitlines()]
    return {row["test"] for row in rows if row["outcome"] != "waiting"}


def _record(test: str, outcome: str, why: str = "", seconds: float = 0.0) -> None:
    row = {"test": test, "outcome": outcome, "why": why[:400], "seconds": round(seconds, 2)}
    with _RECORD.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _named(nodeid: str) -> str:
    return nodeid.removeprefix(_TOP)


def _left_out(test: str) -> str | None:
    return next((reason for pattern, reason in _LEFT_OUT if pattern.search(test)), None)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out whole files, whose imports fail here."""
    path = collection_path.as_posix().partition(f"/{_TOP}")[2]
    reason = _left_out(path) if path.endswith("_test.py") else None
    if reason is None:
        return None
    if path not in _recorded():
        _record(path, "left out", reason)
    return True


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Leave out tests, those that were run before, and those that are not asked for.

    The rest waits: a run that is cut off shows what it did not come to.
    """
    done, kept = _recorded(), []
    for item in items:
        test = _named(item.nodeid)
        reason = _left_out(test)
        if test in done or (_WANTED is not None and test not in _WANTED):
            continue
        if reason is not None:
            _record(test, "left out", reason)
        else:
            kept.append(item)
    items[:] = kept
    for item in kept:
        _record(_named(item.nodeid), "waiting")


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be imported is one failure."""
    if report.failed and _named(report.nodeid) not in _recorded():
        _record(_named(report.nodeid), "failed", _last_line(str(report.longrepr)))


def pytest_runtest_logstart(nodeid: str) -> None:
    """A test that begins; if the process ends in it, this stays the last word on it."""
    _record(_named(nodeid), "begun")


def pytest_runtest_logreport(report: Any) -> None:
    """What became of a test."""
    test = _named(report.nodeid)
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        why = crash.message if crash is not None else _last_line(str(report.longrepr))
        _record(test, "failed", why, report.duration)
    elif report.skipped:
        _record(test, "skipped", _last_line(str(report.longrepr)))
    elif report.when == "call":
        _record(test, "passed", seconds=report.duration)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("E").strip() if lines else ""
