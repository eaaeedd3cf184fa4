"""Filesystems of plugins in processes of their own: calls, failures, crashes, open files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[4] / "plugin-abi" / "examples" / "filesystem_c"

_START = """
import json, sys, warnings
from pathlib import Path
from drystone_base.core.errors import DrystoneError
from drystone_base.host import filesystem as fs
from drystone_base.host.open_files import Readable, Writable
from drystone_base.plugins import load_library

plugin = load_library(sys.argv[1], policy="allow_unverified")
answer = {
    "isolated": plugin.is_isolated, "opened": sys.argv[1] in Path("/proc/self/maps").read_text(),
    "registered": plugin.registered, "warnings": plugin.warnings(),
}

def told(function, *arguments):
    try:
        return function(*arguments)
    except DrystoneError as error:
        return {"status": error.status, "text": str(error)}
"""


@pytest.fixture
def child(tmp_path: Path) -> Any:
    """``child(program, library)``: what a program answers that isolates what nobody has signed."""

    def run(program: str, library: Path, **settings: str) -> Any:
        env = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
        env |= {"XDG_CACHE_HOME": str(tmp_path), "DRYSTONE_PLUGIN_ISOLATION": "unsigned"}
        done = subprocess.run(
            [sys.executable, "-c", _START + program, str(library)],
            capture_output=True,
            text=True,
            timeout=120,
            env=env | settings,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


_FILES = """
root = "ramdemo://box"
fs.create_directory(root + "/a/b", parents=True)
fs.write_bytes(root + "/a/b/one", b"0123456789")
answer["length"] = fs.append_bytes(root + "/a/b/one", b"ab")
with Writable(root + "/a/large") as file:
    for k in range(3):
        file.append(bytes([k]) * (5 << 20))
answer["large"] = fs.stat(root + "/a/large").length
answer["part"] = list(fs.read_range(root + "/a/large", (10 << 20) - 1, 2))
pieces = [bytes([k]) * (5 << 20) for k in range(3)]
answer["whole"] = fs.read_bytes(root + "/a/large") == b"".join(pieces)
answer["text"] = fs.read_bytes(root + "/a/b/one").decode()
with Readable(root + "/a/b/one") as file:
    room = bytearray(4)
    answer["end"] = [file.read_into(10, memoryview(room)), room[:2].decode()]
answer["names"] = fs.list_directory(root + "/a")
fs.rename(root + "/a/b/one", root + "/a/b/two")
fs.copy(root + "/a/b/two", root + "/a/b/three")
answer["below"] = fs.glob(root + "/a/b/*")
answer["exists"] = [fs.exists(root + "/a/b/one"), fs.exists(root + "/a/b/two")]
answer["directory"] = fs.is_directory(root + "/a/b")
answer["missing"] = told(fs.read_bytes, root + "/none")
answer["taken"] = told(fs.create_directory, root + "/a/b")
fs.delete(root + "/a/b/two")
answer["left"] = fs.delete_tree(root + "/a")
answer["gone"] = fs.exists(root + "/a")
print(json.dumps(answer))
"""


def test_files_of_an_isolated_plugin(child: Any, compile_library: Callable[..., Path]) -> None:
    sources = [EXAMPLE / name for name in ("ramdemo.c", "files.c", "store.c")]
    answer = child(_FILES, compile_library(*sources, flags=["-pthread"]))
    assert (answer["isolated"], answer["opened"]) == (True, False)
    assert answer["registered"] == {"schemes": ["ramdemo"]}
    assert (answer["length"], answer["text"]) == (12, "0123456789ab")
    assert (answer["large"], answer["part"], answer["whole"]) == (15 << 20, [1, 2], True)
    assert answer["end"] == [2, "ab"]
    assert answer["names"] == ["b", "large"]
    assert answer["below"] == ["ramdemo://box/a/b/three", "ramdemo://box/a/b/two"]
    assert answer["exists"] == [False, True]
    assert answer["directory"] is True
    assert answer["missing"]["status"] == "NOT_FOUND"
    assert answer["taken"]["status"] == "ALREADY_EXISTS"
    assert (answer["left"][:2], answer["gone"]) == ([0, 0], False)


_CRASHES = """
answer["length"] = fs.stat("crashing://h/file").length
answer["crash"] = told(fs.stat, "crashing://h/file")
answer["goes on"] = fs.stat("crashing://h/file").length
file = Writable("crashing://h/file")
file.append(b"0")
told(fs.stat, "crashing://h/file")
answer["open"] = told(file.append, b"1")
print(json.dumps(answer))
"""


def test_a_crash_is_an_error_that_names_plugin_and_call(
    child: Any, compile_library: Callable[..., Path]
) -> None:
    flags = ['-DSCHEME="crashing"', "-DON_STAT=static int n; if (++n == 2) *(volatile int*)8 = 1;"]
    library = compile_library("filesystem_full.c", flags=flags)
    answer = child(_CRASHES, library)
    assert answer["isolated"] is True
    assert answer["crash"]["status"] == "ABORTED"
    for part in (
        f"({library}) crashed in its own process while stat of its filesystem, for ",
        "ended by SIGSEGV",
        f"SIGSEGV while stat of plugin {library} ran",
        "[isolated-plugin-crashed]",
    ):
        assert part in answer["crash"]["text"]
    assert (answer["length"], answer["goes on"]) == (10, 10)
    assert answer["open"]["status"] == "ABORTED"
    assert "has ended since the file was opened" in answer["open"]["text"]
