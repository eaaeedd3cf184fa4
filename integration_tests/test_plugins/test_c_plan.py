"""A C program without Python runs a real model: its plan, and the kernels of drystone-cpu."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from integration_tests.support import InstalledEnv

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "plugin-abi" / "examples" / "run_plan_c"
DATA = ROOT / "integration_tests" / "data"


@pytest.fixture(scope="module")
def program(env_with_cpu: InstalledEnv, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built against what is installed."""
    target = tmp_path_factory.mktemp("run_plan")
    python = f"-DPython_EXECUTABLE={env_with_cpu.python}"
    env_with_cpu.run("cmake", "-S", EXAMPLE, "-B", target, python, "-DCMAKE_BUILD_TYPE=Release")
    env_with_cpu.run("cmake", "--build", target)
    return target / "run_plan"


def plugin(env: InstalledEnv) -> Path:
    """The installed drystone-cpu."""
    code = "import drystone_cpu, pathlib; print(pathlib.Path(drystone_cpu.__file__).parents[1])"
    site = env.run(env.python, "-c", code).stdout.strip()
    return Path(site) / "drystone-plugins" / "libdrystone_cpu.so"


@pytest.mark.parametrize("name", ["blazeface-front", "facemesh"])
def test_a_model_runs_from_c(
    name: str, program: Path, env_with_cpu: InstalledEnv, tmp_path: Path
) -> None:
    case = json.loads((DATA / name / "cases.json").read_text())["cases"][0]
    plan = tmp_path / "model.plan"
    fetches = [part for fetch in case["fetches"] for part in ("--fetch", fetch)]
    model, inputs = DATA / name / "model.pb", DATA / name / case["inputs"]
    command = env_with_cpu.scripts / "drystone"
    env_with_cpu.run(command, "explain", model, "--inputs", inputs, *fetches, "--plan", plan)
    with np.load(inputs) as held:
        (image,) = (held[key] for key in held.files)
    (tmp_path / "in.raw").write_bytes(np.ascontiguousarray(image, np.float32).tobytes())
    sizes = [str(size) for size in image.shape]
    done = subprocess.run(
        [program, plugin(env_with_cpu), plan, tmp_path / "in.raw", tmp_path / "out", *sizes],
        capture_output=True, text=True, timeout=120, check=False, env={"LD_DEBUG": "files"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert "libpython" not in done.stderr
    with np.load(DATA / name / case["outputs"]) as wanted:
        for k, line in enumerate(done.stdout.splitlines()):
            fetch, *dims = line.split()
            want = wanted[fetch if ":" in fetch else f"{fetch}:0"]
            found = np.fromfile(tmp_path / f"out.{k}.raw", np.float32).reshape(list(map(int, dims)))
            difference = np.abs(found - want) / (np.abs(want) + want.std())
            assert difference.max() < 1e-4, fetch
    assert len(done.stdout.splitlines()) == len(case["fetches"])
