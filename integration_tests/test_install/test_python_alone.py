"""drystone-base as Python alone: models run anywhere, and what is native says what is missing."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from integration_tests.support import DATA, InstalledEnv, install, make_environment

ROOT = Path(__file__).resolve().parents[2]
MODELS = ("facemesh", "gen-controlflow-v1")
ERROR = """
import json, sys
import drystone_base as ds
from drystone_base.core.errors import DrystoneError

try:
    {0}
except DrystoneError as error:
    print(json.dumps([error.code, error.check, error.remedy]))
"""
RUN = """from drystone_base.cli._health_runs import loop_graph
    ds.Session(loop_graph(3), ds.SessionConfig(executor="native")).run("result")"""
OPEN = """from drystone_base.host.library import open_library
    open_library(sys.executable)"""


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path]) -> InstalledEnv:
    """That wheel, the contract's, and nothing else of ours."""
    folder = tmp_path_factory.mktemp("python_alone")
    command = ["uv", "build", "-q", "--no-sources", "--wheel", "-o", str(folder), "packages/base"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "DRYSTONE_PURE": "1"}, check=True)
    (made,) = folder.glob("*.whl")
    assert made.name.endswith("-py3-none-any.whl")
    (contract,) = (wheel for wheel in wheels if wheel.name.startswith("drystone_plugin_abi-"))
    environment = make_environment(folder / "env")
    install(environment, made, contract)
    assert not list(environment.root.rglob("drystone*/**/*.so"))
    return environment


@pytest.mark.parametrize("name", MODELS)
def test_models_give_what_was_recorded(env: InstalledEnv, tmp_path: Path, name: str) -> None:
    folder = DATA / name
    facts: dict[str, Any] = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    case, out = facts["cases"][0], tmp_path / "out.npz"
    fetches = [part for tensor in case["fetches"] for part in ("--fetch", tensor)]
    given = ("--inputs", folder / case["inputs"], "--outputs", out)
    env.run_drystone("run", folder / facts["model"], *given, *fetches)
    tolerance = str(facts["tolerance"])
    env.run_drystone("diff", folder / case["outputs"], out, "--tolerance", tolerance)


@pytest.mark.parametrize("call", [RUN, OPEN], ids=["run", "open"])
def test_what_is_native_says_what_is_missing(env: InstalledEnv, call: str) -> None:
    code, check, remedy = env.evaluate(ERROR.format(call))
    assert code == "host-library-missing"
    assert check == "plugins and the native executor need the host library of drystone-base"
    assert "Linux on x86-64" in remedy
    assert "executor='reference'" in remedy


def test_doctor_finds_nothing_wrong(env: InstalledEnv) -> None:
    printed = env.run_drystone("doctor")
    assert "this wheel of drystone-base is Python alone" in " ".join(printed.split())
    assert "WRONG" not in printed
