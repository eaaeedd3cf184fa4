"""Whatever drystone ships with a library of plugins, under the strictest policy.

S2-signed: the list is made of ci/packages.toml and of what the wheels brought.
"""

from __future__ import annotations

import json
from pathlib import Path

from ci.scripts.project import packages
from integration_tests.support import DATA, InstalledEnv

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = {one for one in packages().values() if one.native and one.key != "base"}


def test_every_package_with_a_library_is_vouched_for(env_with_cpu: InstalledEnv) -> None:
    known = env_with_cpu.evaluate(
        "import json\nfrom drystone_base.plugins.first_party import DISTRIBUTIONS\n"
        "print(json.dumps(DISTRIBUTIONS))"
    )
    assert sorted(known) == sorted(one.distribution for one in LIBRARIES)


def test_all_that_is_shipped_runs(env_with_cpu: InstalledEnv, tmp_path: Path) -> None:
    """With no keys but the test's, and each warning an error.

    What is built apart runs the same program in its own session.
    """
    own = {"XDG_CONFIG_HOME": tmp_path / "config", "XDG_CACHE_HOME": tmp_path / "cache"}
    words = [f"{name}={value}" for name, value in own.items()]
    strict = ["env", "-u", "DRYSTONE_DEVELOPER_MODE", *words, "DRYSTONE_PLUGIN_POLICY=strict"]
    program = (env_with_cpu.python, "-m", "ci.scripts.strict_sessions", DATA / "blazeface-front")
    done = env_with_cpu.run(*strict, *program, cwd=ROOT, timeout=200)
    found = json.loads(done.stdout.splitlines()[-1])
    assert set(found["libraries"]) == {one.distribution for one in LIBRARIES if not one.apart}
    ran = {name for name, run in found["runs"].items() if isinstance(run, float)}
    assert ran >= {"session", "backend cpu", "transport shm", "transport unix", "posix", "ram"}
