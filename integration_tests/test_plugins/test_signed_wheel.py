"""From `new` to a signed wheel that the strictest policy loads; and what drystone ships, under it.

S2-signed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration_tests.conftest import every_wheel
from integration_tests.support import InstalledEnv, install, make_environment
from integration_tests.test_plugins.building import build_output, uninstall

STATES = """
import json, warnings; warnings.simplefilter('error')
import drystone as ds
from drystone_filesystem import gfile
for name in ('posix://' + FOLDER + '/a', 'ram://box/a', 'memory://box/a'):
    with gfile.GFile(name, 'w') as file: file.write('kept')
    assert gfile.GFile(name).read() == 'kept'
graph = ds.Graph(); graph.add('NoOp', 'x'); ds.Session(graph).run('x')
print(json.dumps([[p.name, p.state] for p in ds.plugins.report().plugins]))
"""


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> InstalledEnv:
    """What `pip install drystone` brings, and what signing needs."""
    environment = make_environment(tmp_path_factory.mktemp("signed") / "env")
    install(environment, *every_wheel(request), "pynacl>=1.5")
    return environment


@pytest.fixture
def strict(tmp_path: Path) -> list[str]:
    """Words for `env`: the strictest policy, and no keys but those of the test."""
    own = {"XDG_CONFIG_HOME": tmp_path / "config", "XDG_CACHE_HOME": tmp_path / "cache"}
    words = [f"{name}={value}" for name, value in own.items()]
    return ["env", "-u", "DRYSTONE_DEVELOPER_MODE", *words, "DRYSTONE_PLUGIN_POLICY=strict"]


def states(env: InstalledEnv, strict: list[str], folder: Path, *, ok: bool = True) -> str:
    """What a session of the default install prints: its plugins, or the error."""
    program = STATES.replace("FOLDER", repr(str(folder)))
    done = env.run(*strict, env.python, "-c", program, ok=ok)
    return done.stdout.strip().splitlines()[-1] if ok else done.stderr


def test_strict_takes_the_default_install(
    env: InstalledEnv, strict: list[str], tmp_path: Path
) -> None:
    """Who asks for strictness gets fast kernels, and every filesystem that comes along."""
    assert json.loads(states(env, strict, tmp_path)) == [["cpu", "loaded"]]


@pytest.mark.nightly
def test_a_new_project_is_checked_signed_and_loaded(
    env: InstalledEnv, strict: list[str], wheels: list[Path], tmp_path: Path
) -> None:
    env.run(env.python, "-m", "drystone_abi", "new", "my-first", "optimizer", cwd=tmp_path)
    status, printed = build_output(tmp_path / "my-first", wheels, tmp_path, env)
    assert status == 0, printed
    assert "every check passed" in printed, printed
    (wheel,) = tmp_path.glob("*.whl")
    keys = ("--name", "acme", "--folder", tmp_path, "--no-password")
    env.run(*strict, env.drystone, "plugins", "keygen", *keys)
    env.run(*strict, env.drystone, "plugins", "sign", wheel, "--key", tmp_path / "acme.key")
    install(env, "--no-deps", wheel)
    try:
        refused = states(env, strict, tmp_path, ok=False)
        assert "plugin-untrusted-key" in refused
        env.run(*strict, env.drystone, "plugins", "trust", tmp_path / "acme.pub")
        found = json.loads(states(env, strict, tmp_path))
        assert found == [["cpu", "loaded"], ["my_first", "loaded"]]
        (library,) = env.root.rglob("drystone-plugins/libmy_first.so")
        env.run(*strict, env.drystone, "plugins", "verify", library)
    finally:
        uninstall(env, wheel)


@pytest.mark.nightly
def test_a_build_fails_where_the_check_does(
    env: InstalledEnv, wheels: list[Path], tmp_path: Path
) -> None:
    """The author hears of it while building, not from a user."""
    env.run(env.python, "-m", "drystone_abi", "new", "my-first", "optimizer", cwd=tmp_path)
    source = tmp_path / "my-first" / "my_first.cc"
    early = "namespace { struct Early { Early() { __builtin_trap(); } } early; }\n"
    source.write_text(source.read_text("utf-8") + early, "utf-8")
    status, printed = build_output(tmp_path / "my-first", wheels, tmp_path, env)
    assert status != 0
    assert "plugin-probe-crashed" in printed
    assert not list(tmp_path.glob("*.whl"))
