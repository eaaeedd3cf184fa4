"""Plugins in an installed environment: found in every folder, checked, listed, never in the way."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration_tests.support import InstalledEnv

SOURCES = Path(__file__).resolve().parents[2] / "plugin-abi" / "tests" / "plugins"
PROGRAM = """
import json, sys, warnings
import drystone as ds
early = sorted(name for name in sys.modules if name.endswith("plugins._manager"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    ds.Session(ds.Graph())
plugins = [(p.name, p.state, p.reason) for p in ds.plugins.report().plugins]
print(json.dumps([early, plugins, [str(item.message) for item in caught]]))
"""


@pytest.fixture
def folder(env: InstalledEnv) -> Iterator[Path]:
    """The plugin folder of the environment, which is empty before and gone afterwards."""
    site = next(env.root.glob("lib/python*/site-packages")) / "drystone-plugins"
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir()
    yield site
    shutil.rmtree(site, ignore_errors=True)


def build(env: InstalledEnv, target: Path, *flags: str) -> Path:
    """A plugin with one op, made with the installed headers."""
    include = env.evaluate(
        "import json, drystone_abi; print(json.dumps(str(drystone_abi.get_include())))"
    )
    compiler = os.environ.get("CC", "cc").split()
    source = SOURCES / "loader_variants.c"
    common = ["-shared", "-fPIC", "-fvisibility=hidden", f"-I{include}"]
    env.run(*compiler, *common, *flags, source, "-o", target)
    return target


def settings(tmp_path: Path, **variables: str) -> list[str]:
    """Words for `env`: nothing of the user's, and these variables."""
    own = {"XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    return ["env", *(f"{name}={value}" for name, value in (own | variables).items())]


def session(env: InstalledEnv, words: list[str]) -> Any:
    """What a first session finds: modules loaded too early, plugins, warnings."""
    done = env.run(*words, env.python, "-c", PROGRAM)
    return json.loads(done.stdout.splitlines()[-1])


def test_a_session_without_plugins_loads_no_loader(
    env: InstalledEnv, folder: Path, tmp_path: Path
) -> None:
    folder.rmdir()
    assert session(env, settings(tmp_path)) == [[], [], []]


def test_good_and_broken_plugins(env: InstalledEnv, folder: Path, tmp_path: Path) -> None:
    """Row B2."""
    build(env, folder / "libgood.so", '-DOP="Good"')
    build(env, folder / "libcrash.so", "-DCRASH")
    (folder / "libtext.so").write_text("hello", encoding="utf-8")
    (folder / "libmirror.so").symlink_to(folder / "libgood.so")
    early, plugins, warned = session(env, settings(tmp_path, DRYSTONE_DEVELOPER_MODE="1"))
    assert early == []
    assert plugins == [
        ["crash", "failed", "plugin-probe-crashed"],
        ["good", "loaded", ""],
        ["text", "failed", "plugin-no-platform-strings"],
    ]
    assert len(warned) == 3
    assert "libgood.so) is not verified: it has no signature; loaded by developer mode" in warned[0]
    assert "signal 6 (SIGABRT)" in warned[1]


def test_unsigned_plugins_and_the_command(env: InstalledEnv, folder: Path, tmp_path: Path) -> None:
    build(env, folder / "libgood.so", '-DOP="Good"')
    words = settings(tmp_path)
    assert session(env, words)[1] == [["good", "failed", "plugin-unsigned"]]
    listed = env.run(*words, env.drystone, "plugins", "list", "--json", ok=False)
    assert listed.returncode == 6
    assert json.loads(listed.stdout)["plugins"][0]["reason"] == "plugin-unsigned"
    keys = ("--name", "me", "--folder", tmp_path, "--no-password")
    env.run(*words, env.drystone, "plugins", "keygen", *keys)
    sign = ("sign", folder / "libgood.so", "--key", tmp_path / "me.key")
    env.run(*words, env.drystone, "plugins", *sign)
    env.run(*words, env.drystone, "plugins", "trust", tmp_path / "me.pub")
    assert session(env, words)[1] == [["good", "loaded", ""]]
    strict = settings(tmp_path, DRYSTONE_PLUGIN_POLICY="strict")
    assert session(env, strict)[1] == [["good", "loaded", ""]]
    text = env.run(*strict, env.drystone, "plugins", "explain", "Good").stdout
    assert "ops: Good is provided by good" in text


def test_two_folders_and_the_disable_list(env: InstalledEnv, folder: Path, tmp_path: Path) -> None:
    second = tmp_path / "more" / "site-packages" / "drystone-plugins"
    second.mkdir(parents=True)
    build(env, folder / "libfirst.so", '-DOP="First"')
    build(env, second / "libsecond.so.1", '-DOP="Second"')
    os.link(folder / "libfirst.so", second / "libalias.so")
    words = settings(tmp_path, DRYSTONE_DEVELOPER_MODE="1", PYTHONPATH=str(second.parent))
    assert session(env, words)[1] == [["alias", "loaded", ""], ["second", "loaded", ""]]
    off = [*words, "DRYSTONE_PLUGINS_DISABLE=second,libalias.so"]
    assert session(env, off)[1] == [
        ["alias", "skipped", "plugin-disabled"],
        ["second", "skipped", "plugin-disabled"],
    ]


def test_an_op_of_a_broken_plugin_has_its_reason(
    env: InstalledEnv, folder: Path, tmp_path: Path
) -> None:
    build(env, folder / "liblost.so", '-DOP="OnceThere"', "-DNO_STRINGS")
    program = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "import json, drystone as ds\n"
        "graph = ds.Graph(); graph.add('OnceThere', 'x')\n"
        "try: ds.Session(graph).run('x')\n"
        "except ds.DrystoneError as error: print(json.dumps([error.code, str(error)]))\n"
    )
    done = env.run(*settings(tmp_path, DRYSTONE_DEVELOPER_MODE="1"), env.python, "-c", program)
    code, text = json.loads(done.stdout.splitlines()[-1])
    assert code == "op-unknown"
    assert "plugin lost is not loaded: no platform strings in the file" in text
    assert "[plugin-no-platform-strings]" in text
