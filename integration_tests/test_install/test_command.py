"""The installed `drystone` command answers, for itself and for each of its subcommands."""

from __future__ import annotations

import pytest

from integration_tests.support import InstalledEnv

pytestmark = pytest.mark.cases_in_gate(3)

SUBCOMMANDS = [
    "bench", "bisect", "diff", "doctor", "explain", "inspect", "optimize", "partition", "passes",
    "plugins", "run",
]  # fmt: skip


def test_help_lists_every_subcommand(installed_env: InstalledEnv) -> None:
    text = installed_env.run_drystone("--help")
    assert [name for name in SUBCOMMANDS if name not in text] == []


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_subcommand_help_has_an_example(installed_env: InstalledEnv, name: str) -> None:
    text = installed_env.run_drystone(name, "--help")
    assert f"drystone {name} " in text


def test_version(installed_env: InstalledEnv) -> None:
    expected = installed_env.evaluate(
        "import json, drystone; print(json.dumps(drystone.__version__))"
    )
    assert expected in installed_env.run_drystone("--version")


def test_unknown_subcommand_fails_with_usage(installed_env: InstalledEnv) -> None:
    done = installed_env.run(installed_env.drystone, "frobnicate", ok=False)
    assert done.returncode == 2
    assert "frobnicate" in done.stderr
