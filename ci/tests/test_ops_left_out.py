"""The page ops-left-out.md names every CPU op of TensorFlow's that does not run, with a reason."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ci.scripts import ops_left_out
from ci.scripts.project import ROOT


def test_every_op_that_does_not_run_has_a_reason() -> None:
    assert ops_left_out.ungrouped() == []


NAMED = """
from ci.scripts import ops_left_out
page = ops_left_out.PAGE.read_text(encoding="utf-8")
left = ops_left_out.left_out()
assert all(f"`{op}`" in page for op in left)
runs = set(ops_left_out.cpu_ops()[1]) - set(left)
assert "MatMul" in runs
assert not [op for op in runs if f"`{op}`" in page]
assert not ops_left_out.outdated(), "run python -m ci.scripts.ops_left_out"
"""


def test_the_page_is_up_to_date_and_names_what_does_not_run_alone() -> None:
    """In a process of its own: other tests bring packages with kernels, which it is not about."""
    command = [sys.executable, "-c", NAMED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_op_without_a_reason_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ops_left_out.groups()
    monkeypatch.setattr(ops_left_out, "groups", lambda: known[1:])
    assert set(ops_left_out.ungrouped()) >= {"_MklConv2D"}
    monkeypatch.setattr(ops_left_out, "can_run", lambda op: op != "MatMul")
    assert ops_left_out.left_out() == ["MatMul"]
    assert ops_left_out.outdated()
