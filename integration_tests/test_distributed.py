"""Two workers and a client on wheels: a model with loops in two parts, and training by two."""

from __future__ import annotations

from pathlib import Path

from integration_tests.support import InstalledEnv

ROOT = Path(__file__).resolve().parents[1]


def test_two_workers_and_a_client(installed_env: InstalledEnv) -> None:
    command = (installed_env.python, "-m", "ci.scripts.distributed", "--quick")
    printed = installed_env.run(*command, cwd=ROOT, timeout=200).stdout
    assert "the bits of one process, over 2 tasks" in printed
    assert "distributed: ok" in printed
