"""A user with nothing but an index: install, run with native kernels, extras, uninstall, doctor."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci.release.index import serving
from integration_tests.conftest import every_wheel
from integration_tests.support import DATA, InstalledEnv, install, make_environment, remove


@pytest.fixture(scope="module")
def index(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an index with the wheels under test; libraries come from the usual one."""
    (folder,) = {wheel.parent for wheel in every_wheel(request)}
    with serving(folder) as address:
        yield f"{address}/simple/"


def doctor(env: InstalledEnv) -> dict[str, object]:
    report: dict[str, object] = json.loads(env.run_drystone("doctor", "--json", ok=False))
    return report


def test_from_an_empty_environment_and_back(tmp_path: Path, index: str) -> None:
    env = make_environment(tmp_path / "env")
    install(env, "--refresh", "--extra-index-url", index, "drystone")
    described = json.loads(env.run_drystone("explain", DATA / "facemesh", "--json"))
    kernels = [i for block in described["blocks"] for i in block["instructions"]]
    assert any("library" in one for one in kernels), "no plugin's kernel runs this model"
    ran = env.run(env.drystone, "run", DATA / "facemesh")
    assert "drystone-cpu" not in ran.stderr
    packages = doctor(env)["packages"]
    assert isinstance(packages, dict)
    assert {"drystone", "drystone-base", "drystone-cpu"} <= set(packages)
    assert "drystone-fs-s3" not in packages

    install(env, "--extra-index-url", index, "drystone[s3]")
    schemes = "import json, drystone as ds; print(json.dumps(ds.io.schemes()))"
    assert "s3" in str(env.evaluate(schemes))

    remove(env, "drystone-cpu", "drystone-fs-s3", "drystone-subgraph")
    report = doctor(env)
    assert isinstance(report["ops"], dict)
    assert report["ops"]["to_install"] == "drystone-cpu"
    refused = env.run(env.drystone, "partition", DATA / "facemesh", ok=False)
    assert "remedy: pip install drystone-subgraph" in refused.stderr
    assert "pip install drystone-cpu" in env.run(env.drystone, "run", DATA / "facemesh").stderr

    ours = [name for name in packages if name.startswith("drystone")]
    remove(env, *(name for name in ours if name not in ("drystone-cpu", "drystone-subgraph")))
    assert not list(env.root.rglob("site-packages/drystone*"))


def test_the_set_is_a_tool(tmp_path: Path, index: str) -> None:
    """`uv tool install drystone` has the command, which it looks for in that package alone."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    settings = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    command = [uv, "tool", "install", "-q", "--python", sys.executable]
    subprocess.run(
        [*command, "--refresh", "--index", index, "drystone"],
        env={**os.environ, **settings}, check=True,
    )  # fmt: skip
    done = subprocess.run(
        [tmp_path / "bin" / "drystone", "run", DATA / "facemesh"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
