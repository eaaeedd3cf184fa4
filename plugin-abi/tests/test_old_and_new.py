"""Plugins of any release on hosts of any other: a small host in C, built with frozen headers.

Today's host with plugins of other releases is in packages/base/tests/unit/host/test_releases.py.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import releases
from compiling import SANITIZE, compiler

from drystone_abi.platform_strings import parse_records, read_platform_strings

HOST = sorted((Path(__file__).parent / "old_host").glob("*.c"))
SAYS = {
    "device": "device FAKE 2\nprofiler FAKE\n",
    "style-device": "device STYLE 0\nprofiler STYLE\n",
    "kernels": "kernels 1 ops 1\n",
    "optimizer": "optimizer CPU remapping 1\n",
    "filesystem": "filesystem stone reads stone\n",
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``host("v1_0")``: the small host, built with the headers of a release and sanitizers."""
    folder = tmp_path_factory.mktemp("hosts")

    def build(release: str) -> Path:
        out = folder / release
        if not out.exists():
            command = [*compiler(".c"), "-std=c11", "-D_GNU_SOURCE", "-rdynamic", *SANITIZE]
            include = f"-I{releases.headers(release)}"
            sources = list(map(str, HOST))
            subprocess.run([*command, include, *sources, "-o", str(out), "-ldl"], check=True)
        return out

    return build


def run(host: Path, plugin: Path) -> subprocess.CompletedProcess[str]:
    environment = {"ASAN_OPTIONS": "detect_leaks=0", "PATH": ""}
    return subprocess.run([host, plugin], capture_output=True, text=True, env=environment)


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("kind", SAYS)
@pytest.mark.parametrize("of_plugin", releases.names())
@pytest.mark.parametrize("of_host", [name for name in releases.names() if name != "later"])
def test_every_pair_works(
    of_host: str, of_plugin: str, kind: str, host: Callable[[str], Path], tmp_path: Path
) -> None:
    """Row B22. S0-version: sizes let plugins and hosts of different releases work together."""
    plugin = releases.build_plugin(kind, of_plugin, tmp_path)
    done = run(host(of_host), plugin)
    assert done.stdout == SAYS[kind], done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["device", "optimizer"])
def test_plugins_of_today_work_on_a_later_host(
    kind: str, host: Callable[[str], Path], tmp_path: Path
) -> None:
    """S0-version: a plugin keeps working on later hosts."""
    done = run(host("later"), releases.build_plugin(kind, "today", tmp_path))
    assert (done.stdout, done.returncode) == (SAYS[kind], 0), done.stderr


def test_a_plugin_that_writes_past_its_room_is_caught(
    host: Callable[[str], Path], tmp_path: Path
) -> None:
    """The guards do their work: a later plugin that assigns whole structs."""
    source = tmp_path / "fake_device.h"
    text = (releases.EXAMPLE / "fake_device.h").read_text()
    source.write_text(text.replace("room < size ? room : size", "size"))
    copy = tmp_path / "fake_device.c"
    copy.write_text((releases.EXAMPLE / "fake_device.c").read_text())
    command = [*compiler(".c"), "-std=c11", "-shared", "-fPIC"]
    out = tmp_path / "careless.so"
    include = f"-I{releases.headers('later')}"
    subprocess.run([*command, include, str(copy), "-o", str(out)], check=True)
    done = run(host("today"), out)
    assert done.returncode == 3
    assert re.fullmatch(r"the plugin wrote outside the SP_\w+ of \d+ bytes\n", done.stdout)


def test_a_later_release_says_so_in_its_platform_strings(tmp_path: Path) -> None:
    records = read_platform_strings(releases.build_plugin("device", "later", tmp_path))
    assert parse_records(records)["DRYSTONE_ABI_VERSION"] == "1.999"
