"""What sessions of noxfile.py install and run, as arguments."""

from __future__ import annotations

from os import pathsep
from typing import Final

from ci.scripts.project import packages

__all__ = ["SIMULATED", "TREE", "WITH_CPU", "requirements", "third_party"]

SIMULATED: Final = (
    "plugin-abi", "base", "cpu", "filesystem", "optimizer", "subgraph", "metapackage",
)  # fmt: skip
"""Packages whose releases are simulated: no other wheel is built for that."""
TREE: Final = {"PYTHONPATH": pathsep.join(("packages/base/src", "plugin-abi/src"))}
"""For checks that compare what is in the tree with what drystone_base says."""
WITH_CPU: Final = (
    "packages/cpu/tests/golden",
    *(
        f"packages/base/tests/golden/test_{name}.py"
        for name in (
            "models", "pipelines", "scenarios_recorded", "training",
        )
    ),
    "packages/subgraph/tests/golden",
    *(
        "packages/base/tests/unit/{}/test_{}.py".format(*name.split("/"))
        for name in (
            "api/session_seed", "api/session_threads", "core/failures", "executor/cancellation",
            "executor/constants", "executor/errors_in_functions", "executor/executor",
            "executor/executors_agree", "executor/loops_of_frames",
        )
    ),
)  # fmt: skip
"""Tests that are run with drystone-cpu, after all others without it."""


def requirements(*names: str) -> list[str]:
    """Installer arguments for files in ci/config/requirements."""
    return [part for name in names for part in ("-r", f"ci/config/requirements/{name}.txt")]


def third_party() -> list[str]:
    """What our packages need from others, with the bounds of their pyproject.toml.

    Without what those need that are built apart: that is what is large.
    """
    ours = [package for package in packages().values() if not package.apart]
    needed = {text for package in ours for text in package.project["dependencies"]}
    return sorted(text for text in needed if not text.startswith("drystone"))
