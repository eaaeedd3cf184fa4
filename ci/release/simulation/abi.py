"""Plugins for one plugin ABI on hosts of another: each pair, from installed wheels of two dates.

The contract's older wheel has the frozen headers, by which the older plugin is compiled. The native
part of both hosts is the same build; small hosts in C that know the older contract alone are in
plugin-abi/tests/test_old_and_new.py.
"""

from __future__ import annotations

import json
import subprocess
import sysconfig
import zipfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from ci.release.archive import record
from ci.release.simulation.environment import Environment, Failure
from ci.release.simulation.reversion import reversion
from ci.release.simulation.timeline import ABI, BASE
from ci.scripts.project import ROOT

__all__ = ["FROZEN", "pairs", "plugin_wheel", "put_hosts"]

FROZEN = ROOT / "plugin-abi" / "frozen"
SOURCE = ROOT / "plugin-abi" / "tests" / "plugins" / "loader_variants.c"
PLUGIN = "cobble-stones"
DATES = {"1.0": "2032-01-05", "1.1": "2032-02-05"}
"""When a host of that ABI is the newest; a release is made four days before."""
REMARK = "built for the newer plugin ABI 1.1; this host has 1.0"


def put_hosts(wheels: Path, folder: Path) -> dict[str, str]:
    """Put contract and host of both dates into a folder; when each file was uploaded."""
    uploads = {}
    for abi, date in DATES.items():
        for name in (ABI, BASE):
            (built,) = wheels.glob(f"{name.replace('-', '_')}-[0-9]*.whl")
            edits = _older(built, abi) if name == ABI else {}
            needs = {ABI: f"=={abi}.0"} if name == BASE else {}
            made = reversion(built, f"{abi}.0", folder, requires=needs, edits=edits)
            uploads[made.name] = f"{date[:-1]}1T00:00:00Z"
    return uploads


def _older(wheel: Path, abi: str) -> dict[str, tuple[str, str]]:
    """What is different in the contract's wheel of an older ABI."""
    frozen = FROZEN / f"v{abi.replace('.', '_')}"
    if not frozen.is_dir():
        return {}
    edits = {"drystone_abi/headers.py": ('ABI_VERSION = "1.1"', f'ABI_VERSION = "{abi}"')}
    with zipfile.ZipFile(wheel) as archive:
        for header in sorted((frozen / "drystone").rglob("*.h")):
            path = f"drystone_abi/include/{header.relative_to(frozen)}"
            edits[path] = (archive.read(path).decode(), header.read_text(encoding="utf-8"))
    return edits


def plugin_wheel(there: Environment, abi: str, folder: Path) -> Path:
    """A wheel with a plugin, compiled by the headers that are installed there."""
    include = there.run("python", "-m", "drystone_abi", "--include").stdout.strip()
    library = folder / f"libcobble_{abi.replace('.', '_')}.so"
    flags = ["-shared", "-fPIC", "-fvisibility=hidden", f"-I{include}", f'-DOP="Cobble{abi[-1]}"']
    command = [*(sysconfig.get_config_var("CC") or "cc").split()[:1], *flags, str(SOURCE)]
    subprocess.run([*command, "-o", str(library)], check=True)
    info = f"cobble_stones-{abi}.0.dist-info"
    contents = {
        f"drystone-plugins/{library.name}": library.read_bytes(),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {PLUGIN}\nVersion: {abi}.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
    }
    contents[f"{info}/RECORD"] = record(contents, f"{info}/RECORD")
    made = folder / f"cobble_stones-{abi}.0-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, content in contents.items():
            archive.writestr(path, content)
    return made


def pairs(address: str, work: Path) -> Iterator[str]:
    """Each plugin on each host: it loads, and its op is there."""
    hosts = {abi: Environment.make(work / f"host-{abi}") for abi in DATES}
    made = {}
    for abi, there in hosts.items():
        done = there.uv(BASE, index=f"{address}/until/{DATES[abi]}/simple/")
        if done.returncode or there.versions() != {BASE: f"{abi}.0", ABI: f"{abi}.0"}:
            raise Failure(f"{DATES[abi]}: {there.versions()}, {done.stderr}")
        made[abi] = plugin_wheel(there, abi, work)
    for built, of in product(made, hosts):
        yield _pair(hosts[of], made[built], built, of)
    for there in hosts.values():
        there.run_models()


def _pair(there: Environment, wheel: Path, built: str, of: str) -> str:
    """What a host says of a plugin that is installed into it alone."""
    there.uv("--force-reinstall", "--no-deps", str(wheel))
    listed = there.run(
        "env", "DRYSTONE_PLUGIN_POLICY=allow_unverified", "drystone", "plugins", "list", "--json"
    )
    (plugin,) = json.loads(listed.stdout)["plugins"]
    wanted = {"ops": [f"Cobble{built[-1]}"]}
    if (plugin["state"], plugin["registered"]) != ("loaded", wanted):
        raise Failure(f"plugin for ABI {built} on a host of {of}: {plugin}")
    if (REMARK in plugin["warnings"]) != (built > of):
        raise Failure(f"plugin for ABI {built} on a host of {of} says {plugin['warnings']}")
    remark = f", with the remark that it is {REMARK}" if built > of else ""
    return f"a plugin for ABI {built} on the host of {DATES[of]} ({of}): loaded{remark}"
