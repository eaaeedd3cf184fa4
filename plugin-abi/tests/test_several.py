"""Plugins in the style of TensorFlow's, put to work: a whole filesystem, and a library of several.

Rows E2, E4, E5 and E12. S2-several: one shared object holds plugins for several modules.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compiling import PLUGINS

import drystone_abi

STYLE = PLUGINS / "tf_style"

USE = """
import json, sys
from drystone_base.host import filesystem as fs
from drystone_base.plugins import load_library

plugin = load_library(sys.argv[1], policy="allow_unverified")
at = "oak://wood/leaf"
fs.write_bytes(at, b"first")
fs.copy(at, "oak://wood/other")
fs.rename("oak://wood/other", "oak://wood/third")
missing = fs.exist([at, "oak://wood/other"])
print(json.dumps({
    "state": plugin.state,
    "registered": {kind: sorted(names) for kind, names in plugin.registered.items() if names},
    "read": fs.read_bytes(at).decode(),
    "region": fs.read_memory("oak://wood/third").decode(),
    "size": fs.file_size(at),
    "range": fs.read_range(at, 3, 99).decode(),
    "missing": missing,
}))
"""


def used(library: Path, folder: Path) -> Any:
    """What a process of its own found: what is registered there is registered nowhere else."""
    settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    settings |= {"XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = [sys.executable, "-c", USE, str(library)]
    done = subprocess.run(command, capture_output=True, text=True, env=settings, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def held(answer: Any) -> None:
    """What holds of the files, whatever else is in the library."""
    assert answer["state"] == "loaded"
    assert (answer["read"], answer["region"], answer["range"]) == ("first", "first", "st")
    assert answer["size"] == 5
    assert answer["missing"] == ["OK", "NOT_FOUND"]
    assert answer["registered"]["schemes"] == ["oak"]


def test_a_filesystem_written_for_tensorflow_serves_its_scheme(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    """Its source names TensorFlow's headers, macros and functions, and nothing of ours."""
    source = STYLE / "filesystem_tree.cc"
    assert "drystone" not in source.read_text(encoding="utf-8")
    flags = [*drystone_abi.get_compile_flags(), *drystone_abi.get_link_flags()]
    answer = used(compile_library(source, flags=flags), tmp_path)
    held(answer)
    assert set(answer["registered"]) == {"schemes"}


def test_one_library_serves_several_modules(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    """A filesystem, kernels with their op, and a graph optimizer: each entry symbol is called."""
    sources = [STYLE / name for name in ("filesystem_tree.cc", "kernels.cc", "optimizer.c")]
    flags = [*drystone_abi.get_compile_flags(), *drystone_abi.get_link_flags(), "-Wno-error"]
    answer = used(compile_library(*sources, flags=flags), tmp_path)
    held(answer)
    assert set(answer["registered"]) == {"schemes", "ops", "kernels", "optimizers"}
    assert answer["registered"]["optimizers"] == ["CPU"]


SAME = """
import io, json, sys, warnings
from contextlib import redirect_stdout
from drystone_base.cli._app import app
from drystone_base.plugins import load_library, report

warnings.simplefilter("ignore")
first = load_library(sys.argv[1], policy="allow_unverified")
second = load_library(sys.argv[2], policy="allow_unverified")
texts = {}
for name in (["plugins", "list"], *(["plugins", "explain", n] for n in (second.name, "ZooGood"))):
    with redirect_stdout(io.StringIO()) as out:
        app([*name, "--json"], standalone_mode=False)
    texts[name[-1]] = json.loads(out.getvalue())
answer = {"texts": texts, "names": [first.name, second.name], "remarks": second.warnings()}
answer["registered"] = [first.registered["ops"], second.registered["ops"]]
answer["kernels"] = [first.registered["kernels"], second.registered["kernels"]]
print(json.dumps(answer))
"""


def test_ops_and_kernels_of_two_plugins_are_told_apart(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    """Two plugins register the same ops and kernels: who owns what is told by file."""
    made = compile_library("hostile_kernels.c", flags=["-DEND=0", "-pthread"])
    files = [tmp_path / "liboak.so", tmp_path / "libelm.so"]
    for file in files:
        file.write_bytes(made.read_bytes())
    settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    settings |= {"XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    settings["DRYSTONE_PLUGINS_DISABLE"] = "cpu"
    command = [sys.executable, "-c", SAME, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, env=settings, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["registered"][0] == answer["registered"][1], "one definition may be of several"
    assert "ZooGood" in answer["kernels"][0]
    assert answer["kernels"][1] == []
    (remark,) = [text for text in answer["remarks"] if "kernel 'ZooGood'" in text]
    assert f"kernel 'ZooGood' of {files[1]} for op ZooGood on device CPU, priority 0 is" in remark
    assert f"registered already: kernel 'ZooGood' of {files[0]}; give one of them" in remark
    explained = answer["texts"]["ZooGood"]
    assert [row["library"] for row in explained["kernels"]] == [str(files[0])]
    assert f"ops: ZooGood is provided by oak ({files[0]})" in explained["text"]
    assert f"ops: ZooGood is provided by elm ({files[1]})" in explained["text"]
    assert f"kernels: ZooGood is provided by oak ({files[0]})" in explained["text"]
    states = {row["path"]: row["registered"] for row in answer["texts"]["list"]["plugins"]}
    assert "ZooGood" in states[str(files[0])]["kernels"]
    assert "ZooGood" not in states[str(files[1])].get("kernels", [])


def test_another_definition_of_an_op_is_refused_with_both_files(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    first = compile_library("hostile_kernels.c", flags=["-DEND=0", "-pthread"])
    second = compile_library("loader_variants.c", flags=['-DOP="ZooGood"'])
    program = (
        "import sys\nfrom drystone_base.plugins import load_library\n"
        "load_library(sys.argv[1], policy='allow_unverified')\n"
        "try:\n    load_library(sys.argv[2], policy='allow_unverified')\n"
        "except Exception as error:\n    print(error.code, error)\n"
    )
    settings = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, first, second],
        capture_output=True, text=True, env=settings, timeout=120,
    )  # fmt: skip
    assert done.stdout.startswith("plugin-registered-nothing"), done.stdout + done.stderr
    assert (
        f"op ZooGood is registered by {second}, but has another definition already" in done.stdout
    )
    assert f"of {first}; an op must have one definition" in done.stdout
