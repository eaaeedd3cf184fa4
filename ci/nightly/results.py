"""What is kept of runs: a JSON file for each suite, which is written after each case."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.machine import describe
from ci.scripts.project import ROOT, git

__all__ = ["KEPT", "Run", "load", "open_run", "save"]

KEPT = 60
"""Runs of a suite that are kept; older ones go."""
Run = dict[str, Any]


def load(folder: Path, name: str) -> list[Run]:
    """The runs of a suite, oldest first."""
    file = _file(folder, name)
    if not file.exists():
        return []
    runs: list[Run] = json.loads(file.read_text(encoding="utf-8"))["runs"]
    return runs


def save(folder: Path, name: str, runs: list[Run]) -> None:
    """Write the runs; who reads meanwhile sees the file of before or of after."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = _file(folder, name).with_suffix(".part")
    text = json.dumps({"suite": name, "runs": runs[-KEPT:]}, indent=1, ensure_ascii=False)
    draft.write_text(text + "\n", encoding="utf-8")
    os.replace(draft, _file(folder, name))


def open_run(runs: list[Run], facts: Mapping[str, Any], *, resume: bool) -> Run:
    """The run to add to: the last one where that is to be resumed, else a new one.

    A run of another commit is not resumed: its cases say nothing of this one.
    """
    now = {"commit": _commit(), **facts}
    last = runs[-1] if runs else None
    if resume and last and not last["complete"] and last["commit"] == now["commit"]:
        return last
    started = datetime.now(UTC).isoformat(timespec="seconds")
    runs.append({"started": started, **now, "machine": describe(), "complete": False, "cases": {}})
    return runs[-1]


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name.rpartition('.')[2]}.json"


def _commit() -> str:
    found = (git(ROOT, "rev-parse", "--short=12", "HEAD") or "").strip()
    return found + ("+" if git(ROOT, "status", "--porcelain", "--untracked-files=no") else "")
