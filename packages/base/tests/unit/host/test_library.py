"""Libraries opened by the host: bound to it, once, and never with code of a damaged file."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from plugin_files import VARIANTS, Compile, records_flag, rewritten

from drystone_base.core.errors import HostError
from drystone_base.host._lib import declare
from drystone_base.host.buffer import BufferStruct
from drystone_base.host.library import aliases, known_entries, open_library
from drystone_base.host.status import Status

load = declare("TF_LoadLibrary", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
load_any = declare(
    "TF_LoadPluggableDeviceLibrary", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)
op_list = declare("TF_GetOpList", BufferStruct, ctypes.c_void_p)
delete = declare("TF_DeleteLibraryHandle", None, ctypes.c_void_p)


def loaded(path: Path, function: object = load) -> int:
    with Status("loading") as status:
        handle = function(os.fsencode(path), status.pointer)  # type: ignore[operator]
    assert isinstance(handle, int)
    return handle


def in_child(program: str, *arguments: object) -> str:
    """Run a program in a fresh process and give what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_bare_symbols_bind_to_the_host(compile_library: Compile) -> None:
    library = open_library(compile_library(VARIANTS, flags=['-DOP="BindsBare"']))
    assert library.entries() == ["TF_InitKernel"]
    library.initialise("TF_InitKernel")
    facts = library.describe()
    assert facts["ops"] == ["BindsBare"]
    assert facts["errors"] == []
    (entry,) = facts["entries"]
    assert (entry["module"], entry["state"], entry["code"]) == ("kernels", "ok", "OK")


def test_entry_functions_run_once(compile_library: Compile) -> None:
    """S2-init: the entry function registers what the library offers."""
    library = open_library(compile_library(VARIANTS, flags=['-DOP="RunsOnce"']))
    library.initialise("TF_InitKernel")
    library.initialise("TF_InitKernel")
    assert library.describe()["ops"] == ["RunsOnce"]
    assert library.describe()["errors"] == []


def test_one_file_is_one_library_under_all_names(compile_library: Compile, tmp_path: Path) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="OneFile"'])
    link, hard = tmp_path / "link.so", tmp_path / "hard.so"
    link.symlink_to(file)
    os.link(file, hard)
    first = open_library(file)
    assert open_library(link).handle == first.handle
    assert open_library(hard).handle == first.handle
    assert open_library(os.path.relpath(file)).handle == first.handle
    assert open_library(link).path == str(file)


def test_same_code_in_two_files_is_two_libraries(compile_library: Compile, tmp_path: Path) -> None:
    """Rows E7, E9. S2-link-anything: two libraries may define the same names."""
    file = compile_library(VARIANTS, flags=['-DOP="TwoFiles"'])
    copy = rewritten(file, tmp_path / "copy.so", lambda _: None)
    assert open_library(file).handle != open_library(copy).handle


def test_only_own_symbols_are_found(compile_library: Compile) -> None:
    library = open_library(compile_library(VARIANTS, flags=["-DEXTRA_EXPORT", '-DOP="Own"']))
    assert library.symbol("extra_export")
    assert library.symbol("TF_NewStatus") is None
    assert library.symbol("nothing") is None


def test_symbols_stay_private(compile_library: Compile) -> None:
    open_library(compile_library(VARIANTS, flags=["-DEXTRA_EXPORT", '-DOP="Private"']))
    assert not hasattr(ctypes.CDLL(None), "extra_export")
    assert not hasattr(ctypes.CDLL(None), "TF_NewStatus")


def test_known_entries_name_their_modules() -> None:
    assert known_entries() == {
        "SE_InitPlugin": "device",
        "TF_InitPlugin": "filesystem",
        "TF_InitKernel": "kernels",
        "DS_OrderOptimizer": "graph-optimizer",
        "TF_InitGraph": "graph-optimizer",
        "TF_InitGraphPlugin": "graph-optimizer",
        "DS_InitPasses": "graph-passes",
        "TF_InitProfiler": "profiler",
    }


@pytest.mark.parametrize(
    ("path", "text"),
    [("", "path must not be empty"), ("/nowhere/x.so", "/nowhere/x.so: No such file or directory")],
)
def test_no_file(path: str, text: str) -> None:
    with pytest.raises(HostError, match=text):
        open_library(path)


def test_a_folder_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "x.so").mkdir()
    with pytest.raises(HostError, match=r"x\.so: not a regular file") as caught:
        open_library(tmp_path / "x.so")
    assert caught.value.status == "NOT_FOUND"


def test_damaged_files_never_reach_the_linker(compile_library: Compile, tmp_path: Path) -> None:
    file = compile_library(VARIANTS)
    size = file.stat().st_size

    def cut(data: bytearray) -> None:
        del data[size // 3 :]

    def other_machine(data: bytearray) -> None:
        data[18:20] = (243).to_bytes(2, "little")

    def program(data: bytearray) -> None:
        data[16:18] = (2).to_bytes(2, "little")

    def many(data: bytearray) -> None:
        data[56:58] = b"\xff\xff"

    cases = [
        (cut, "it is truncated"),
        (other_machine, "it is for another processor"),
        (program, "it is no shared object"),
        (many, "its table of segments lies outside the file"),
        (lambda data: data.clear(), "the file is too short"),
        (lambda data: data.__setitem__(0, 1), "it is no ELF file"),
    ]
    for number, (change, text) in enumerate(cases):
        bad = rewritten(file, tmp_path / f"bad{number}.so", change)
        with pytest.raises(HostError) as caught:
            open_library(bad)
        assert f"is no library for this machine: {text}" in caught.value.found
        assert caught.value.status == "INVALID_ARGUMENT"


def test_every_argument_may_be_missing() -> None:
    opened = declare("DS_OpenLibrary", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    init = declare("DS_InitLibrary", None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    count = declare(
        "DS_LibraryEntries", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int
    )
    symbol = declare("DS_LibrarySymbol", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
    assert opened(None, None) is None
    assert opened(b"/x", None) is None
    init(None, None, None)
    assert count(None, None, 3) == 0
    assert symbol(None, None) is None
    assert load(None, None) is None
    assert op_list(None).length == 0
    delete(None)
    with Status("nothing") as status:
        init(None, b"TF_InitKernel", status.pointer)
        assert status.message == "library must not be NULL"
        Status.set(status.pointer, "OK", "")


NO_LUCK = '-DAFTER_INIT=TF_SetStatus(status, TF_UNAVAILABLE, "no luck")'
REFUSING = {
    "SE_InitPlugin": ("device_variants.c", NO_LUCK, "no luck"),
    "TF_InitGraph": ("optimizer_variants.c", NO_LUCK, "no luck"),
    "TF_InitProfiler": ("profiler_variants.c", NO_LUCK, "no luck"),
    "DS_InitPasses": ("passes_variants.c", '-DREFUSE="no luck"', "no luck"),
    "TF_InitKernel": ("kernels_throws.cc", "-DWHERE=1", "thrown by the plugin"),
    "TF_InitPlugin": (
        "filesystem_throwing.cc",
        "-DTHROW_IN_ENTRY",
        "exception: thrown by TF_InitPlugin",
    ),
}
OTHER = {
    "SE_InitPlugin": ("device_variants.c", "-DAFTER_INIT=params->major_version = 7"),
    "TF_InitGraph": ("optimizer_variants.c", "-DAFTER_INIT=params->major_version = 7"),
    "TF_InitProfiler": ("profiler_variants.c", "-DAFTER_INIT=params->major_version = 7"),
    "DS_InitPasses": ("passes_variants.c", "-DMAJOR=7"),
}


def refused(compile_library: Compile, symbol: str, source: str, flag: str) -> HostError:
    library = open_library(compile_library(source, flags=[flag]))
    with pytest.raises(HostError) as caught:
        library.initialise(symbol)
    return caught.value


@pytest.mark.parametrize("symbol", REFUSING)
def test_a_failed_entry_is_named_once(symbol: str, compile_library: Compile) -> None:
    source, flag, said = REFUSING[symbol]
    found = refused(compile_library, symbol, source, flag).found
    assert found.startswith(f"{symbol}: ")
    assert found.endswith(said)
    assert found.removesuffix(said).count(symbol) == 1


@pytest.mark.parametrize("symbol", OTHER)
def test_an_entry_of_another_version_is_named_once(symbol: str, compile_library: Compile) -> None:
    found = refused(compile_library, symbol, *OTHER[symbol]).found
    assert re.match(rf"{symbol}: [a-z ]+ interface version 7\.0\.\d of the plugin", found)
    assert found.count(symbol) == 1


def test_what_an_entry_asks_for_first_is_named_in_it(compile_library: Compile) -> None:
    """The order of an optimizer is asked for before the optimizer."""
    flag = (
        "-DBEFORE_OPTIMIZE=TF_CAPI_EXPORT void DS_OrderOptimizer(DS_OptimizerOrder* order,"
        'TF_Status* status) { (void)order; TF_SetStatus(status, TF_UNAVAILABLE, "no luck"); }'
    )
    found = refused(compile_library, "TF_InitGraph", "optimizer_variants.c", flag).found
    assert found == "TF_InitGraph: DS_OrderOptimizer: no luck"


def test_unknown_entries_are_refused(compile_library: Compile) -> None:
    library = open_library(compile_library(VARIANTS, flags=['-DOP="Unknown"']))
    with pytest.raises(HostError, match="TF_Whatever is no entry symbol that this host knows"):
        library.initialise("TF_Whatever")
    with pytest.raises(HostError, match="does not export TF_InitGraph"):
        library.initialise("TF_InitGraph")


def test_tensorflows_own_loaders(compile_library: Compile) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="ByLoadLibrary"'])
    handle = loaded(file)
    listed = op_list(handle)
    data = ctypes.string_at(listed.data, listed.length)
    assert b"ByLoadLibrary" in data
    assert data.count(b"ByLoadLibrary") == 1
    again = loaded(file)
    assert ctypes.string_at(op_list(again).data, op_list(again).length) == data
    delete(again)
    delete(loaded(file, load_any))
    delete(handle)


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ("__aarch64__=1", "is built for another platform: unknown, aarch64, unknown-endian; this"),
        (
            "__BYTE_ORDER__=4321",
            "is built for another platform: unknown, unknown, big-endian; this",
        ),
        ("__AVX5124FMAPS__=1", r"it lacks avx512_4fmaps \(__AVX5124FMAPS__\)"),
        ("DRYSTONE_ABI_VERSION=7.0", "is built for plugin ABI 7.0, this host has "),
    ],
)
def test_platform_strings_are_checked_first(
    compile_library: Compile, record: str, text: str
) -> None:
    file = compile_library(VARIANTS, flags=[records_flag(record), "-DCRASH"])
    with pytest.raises(HostError, match=text) as caught:
        loaded(file)
    assert caught.value.status == "FAILED_PRECONDITION"


@pytest.mark.parametrize("function", [load, open_library])
def test_a_file_that_changes_while_it_is_opened(
    compile_library: Compile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, function: Any
) -> None:
    made = compile_library(VARIANTS, flags=['-DTOUCH="TOUCHED_FILE"', '-DOP="Touching"'])
    file = tmp_path / f"{getattr(function, '__name__', 'touching')}.so"
    file.write_bytes(made.read_bytes())
    monkeypatch.setenv("TOUCHED_FILE", str(file))
    with pytest.raises(HostError, match="was changed while it was opened; its const") as caught:
        open_library(file) if function is open_library else loaded(file)
    assert caught.value.status == "ABORTED"


def test_a_missing_tensorflow_library_is_answered(compile_library: Compile, tmp_path: Path) -> None:
    name = "libtensorflow_framework.so.2"
    empty = compile_library("loader_empty.c", flags=[f"-Wl,-soname,{name}"])
    file = compile_library(
        VARIANTS, flags=['-DOP="NeedsTensorFlow"', "-Wl,--no-as-needed", str(empty)]
    )
    program = (
        "import sys, json\n"
        "from drystone_base.host.library import aliases, open_library\n"
        "before = aliases()\n"
        "library = open_library(sys.argv[1])\n"
        "library.initialise('TF_InitKernel')\n"
        "print(json.dumps([before, aliases(), library.describe()['ops']]))\n"
    )
    assert json.loads(in_child(program, file)) == [[], [name], ["NeedsTensorFlow"]]


def test_other_missing_libraries_are_an_error(compile_library: Compile) -> None:
    empty = compile_library("loader_empty.c", flags=["-Wl,-soname,libmissing_wall.so"])
    file = compile_library(VARIANTS, flags=["-Wl,--no-as-needed", str(empty)])
    with pytest.raises(HostError, match=r"libmissing_wall\.so: cannot open shared object file"):
        open_library(file)
    assert "libmissing_wall.so" not in aliases()


def test_the_stack_stays_unexecutable(compile_library: Compile) -> None:
    open_library(compile_library(VARIANTS, flags=['-DOP="Stack"']))
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    stack = [line for line in maps if line.endswith("[stack]")]
    assert stack
    assert all("x" not in line.split()[1] for line in stack)


def test_a_hundred_plugins_in_one_process(compile_library: Compile, tmp_path: Path) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="Hundred"'])
    handles = {
        open_library(rewritten(file, tmp_path / f"p{k}.so", lambda _: None)).handle
        for k in range(100)
    }
    assert len(handles) == 100


def test_closed_descriptors_do_no_harm(compile_library: Compile, tmp_path: Path) -> None:
    """A program that closes every descriptor, as daemons do, can still load further plugins."""
    file = compile_library(VARIANTS, flags=['-DOP="Closed"'])
    copies = [rewritten(file, tmp_path / f"c{k}.so", lambda _: None) for k in range(3)]
    program = (
        "import os, sys\n"
        "from drystone_base.host.library import open_library\n"
        "handles = set()\n"
        "for path in sys.argv[1:]:\n"
        "    handles.add(open_library(path).handle)\n"
        "    os.closerange(3, 1000)\n"
        "print(len(handles))\n"
    )
    assert in_child(program, *copies).strip() == "3"
