"""Each refusal of the loader, and who else makes it: the loader for programs in C, or why not.

The table below names every code that loading a plugin can end in. What concerns the file alone is
refused by both loaders; the others judge what a program in C does not have, such as a policy.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from plugin_files import VARIANTS, Compile, records_flag, rewritten

import drystone_base.plugins

IN_PYTHON = """
import json, os, sys, warnings
from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import load_library
warnings.simplefilter("ignore")
found = {}
for file in sys.argv[1:]:
    try:
        found[file] = ["", ",".join(load_library(file, policy="allow_unverified").registered)]
    except DrystoneError as error:
        found[file] = [error.code, str(error)]
print(json.dumps(found))
"""
IN_C = """
import ctypes, json, os, sys
from drystone_base.core.errors import HostError
from drystone_base.host._lib import declare
from drystone_base.host.status import Status
found = {}
for file in sys.argv[1:]:
    for name in ("TF_LoadPluggableDeviceLibrary", "TF_LoadLibrary"):
        load = declare(name, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        try:
            with Status("loading") as status:
                load(os.fsencode(file), status.pointer)
            found.setdefault(file, []).append("")
        except HostError as error:
            found.setdefault(file, []).append(str(error.found))
print(json.dumps(found))
"""

Make = Callable[[Compile, Path], Path]


def _variant(*flags: str) -> Make:
    return lambda compile_library, _: compile_library(VARIANTS, flags=[*flags])


def _changed(change: Callable[[bytearray], object]) -> Make:
    def make(compile_library: Compile, folder: Path) -> Path:
        return rewritten(compile_library(VARIANTS), folder / "changed.so", change)

    return make


def _needing(name: str) -> Make:
    def make(compile_library: Compile, _: Path) -> Path:
        empty = compile_library("loader_empty.c", flags=[f"-Wl,-soname,{name}"])
        return compile_library(VARIANTS, flags=["-Wl,--no-as-needed", str(empty)])

    return make


def _lacking(*macros: str) -> Make:
    def make(compile_library: Compile, _: Path) -> Path:
        return compile_library("lacking.cc", flags=["-DCALLS=2", *macros, "-Wl,-z,lazy"])

    return make


def _host_state(changes: str) -> Make:
    flags = ['-DDEVICE="BOTH"', "-DWHEN=kEntry", f"-DCHANGES=(void)change_all;{changes}"]
    return lambda compile_library, _: compile_library("host_state.c", flags=flags)


def _folder(_: Compile, folder: Path) -> Path:
    (folder / "folder.so").mkdir()
    return folder / "folder.so"


BOTH: Final[dict[str, tuple[str, Make, str, str]]] = {
    "a file that is too short": (
        "plugin-not-a-library",
        _changed(lambda d: d.clear()),
        "the file is empty",
        "too short",
    ),
    "no ELF file": (
        "plugin-not-a-library",
        _changed(lambda d: d.__setitem__(0, 1)),
        "no ELF",
        "no ELF file",
    ),
    "a truncated file": (
        "plugin-not-a-library",
        _changed(lambda d: d.__delitem__(slice(len(d) // 3, None))),
        "truncated?",
        "it is truncated",
    ),
    "no shared object": (
        "plugin-not-a-library",
        _changed(lambda d: d.__setitem__(slice(16, 18), b"\x02\x00")),
        "a program",
        "it is no shared object",
    ),
    "a table of segments outside the file": (
        "plugin-not-a-library",
        _changed(lambda d: d.__setitem__(slice(56, 58), b"\xff\xff")),
        "65535 segments",
        "its table of segments lies outside the file",
    ),
    "another machine": (
        "plugin-wrong-platform",
        _changed(lambda d: d.__setitem__(slice(18, 20), b"\xf3\x00")),
        "RISC-V",
        "it is for another processor",
    ),
    "another byte order": (
        "plugin-wrong-platform|plugin-not-a-library",
        _changed(lambda d: d.__setitem__(5, 2)),
        "big-endian|segments|bytes",
        "it is for another processor",
    ),
    "stacks that can be executed": (
        "plugin-unsafe-library",
        _variant("-Wl,-z,execstack", "-DCRASH"),
        "asks for stacks whose memory can be executed",
        "it asks for stacks whose memory can be executed",
    ),
    "a library in the working folder": (
        "plugin-unsafe-library",
        _needing("./libzoo.so"),
        "needs './libzoo.so', which is in the working folder",
        "it needs './libzoo.so', which is in the working folder",
    ),
    "libraries of the working folder": (
        "plugin-unsafe-library",
        _variant("-Wl,-rpath,$ORIGIN:", "-DCRASH"),
        "in '', which is in the working folder",
        "in '', which is in the working folder",
    ),
    "libraries of a folder in the working folder": (
        "plugin-unsafe-library",
        _variant("-Wl,--disable-new-dtags,-rpath,build/lib", "-DCRASH"),
        "in 'build/lib', which is in the working folder",
        "in 'build/lib', which is in the working folder",
    ),
    "platform strings of another system": (
        "plugin-wrong-platform",
        _variant(records_flag("__aarch64__=1"), "-DCRASH"),
        "aarch64",
        "is built for another platform",
    ),
    "platform strings of an unknown format": (
        "plugin-bad-platform-strings",
        _variant(records_flag().replace("=1.0", "=7.0"), "-DCRASH"),
        "=7.0",
        "has platform strings of an unknown format: 7.0",
    ),
    "a feature that the processor lacks": (
        "plugin-wrong-processor",
        _variant(records_flag("__AVX5124FMAPS__=1"), "-DCRASH"),
        "avx512_4fmaps (__AVX5124FMAPS__)",
        "it lacks avx512_4fmaps (__AVX5124FMAPS__)",
    ),
    "another plugin ABI": (
        "plugin-wrong-abi",
        _variant(records_flag("DRYSTONE_ABI_VERSION=7.0"), "-DCRASH"),
        "plugin ABI 7.0",
        "is built for plugin ABI 7.0",
    ),
    "a library that is not there": (
        "plugin-missing-library",
        _needing("libmissing_both.so"),
        "libmissing_both.so",
        "libmissing_both.so: cannot open shared object file",
    ),
    "undefined data": (
        "plugin-needs-cxx",
        _lacking("-DDATA"),
        "larger::number",
        "undefined symbol",
    ),
    "no entry symbol": (
        "plugin-no-entry",
        _variant("-DNO_ENTRY"),
        "no entry symbol",
        "has no entry symbol",
    ),
    "registrations that are refused": (
        "plugin-registered-nothing",
        _variant('-DOP="Twice Named"'),
        "Twice Named",
        "registered nothing: ",
    ),
    "an entry function that throws": (
        "plugin-init-failed",
        lambda compile_library, _: compile_library("loader_throws.cc"),
        "thrown on purpose",
        "thrown on purpose",
    ),
    "what cannot be put back": (
        "plugin-changed-host",
        _host_state("setsid();"),
        "the session",
        "cannot be put back: the session",
    ),
    "a file that changes meanwhile": (
        "plugin-changed",
        _variant('-DTOUCH="TOUCHED"'),
        "changed while",
        "was changed while",
    ),
    "a folder": ("plugin-not-found", _folder, "no such file", "not a regular file"),
}
"""What is wrong: the code, a file, Python's words, C's words."""

ELSEWHERE: Final = {
    "plugin-unreadable": "a file that is not there: test_no_file in host/test_library.py",
    "plugin-bound-elsewhere": "require_bound_to_host, which both loaders call; tf_parity tests it",
    "plugin-not-opened": "the dynamic linker's own words, in both",
    "plugin-unresolved-symbols": "the dynamic linker refuses the same, by the first of them",
    "plugin-not-available": "an entry function that answers TF_UNAVAILABLE: its status, in C",
    "plugin-partly-loaded": "a remark: DS_DescribeLibrary has its facts",
    "plugin-remarked": "a remark: DS_DescribeLibrary has its facts",
    "plugin-failed": "an error that is foreseen nowhere",
    "plugin-kernel-failed": "of a run",
    "plugin-stuck": "of a run",
}
"""Refusals of both that need more than a file, and what comes later."""

ONLY_PYTHON: Final = {
    "a program in C names the one file that it wants": {
        "plugin-disabled", "plugin-duplicate", "plugin-file-ignored", "plugin-entry-point",
    },
    "policies, signatures and manifests: docs/how-to/plugins.md says so": {
        "plugin-bad-manifest", "plugin-manifest-unsigned", "plugin-bad-signature",
        "plugin-unsigned", "plugin-untrusted-key", "plugin-key-revoked",
        "plugin-signature-expired", "plugin-signature-unchecked", "plugin-exports",
        "plugin-no-platform-strings", "plugin-abi-newer", "plugin-abi-unknown",
        "plugin-others-write", "plugin-undefined-functions", "plugin-checked",
    },
    "a trial needs a Python interpreter": {
        "plugin-probe-crashed", "plugin-probe-exited", "plugin-probe-hung",
        "plugin-probe-memory", "plugin-probe-not-started", "plugin-beside-tensorflow",
    },
    "processes of their own are Python's": {"plugin-not-isolated"},
}  # fmt: skip


def codes_of_the_loader() -> set[str]:
    """Every code in the sources of the package that loads plugins."""
    found = set[str]()
    for place in map(Path, drystone_base.plugins.__path__):
        for source in place.glob("*.py"):
            found |= set(re.findall(r'"(plugin-[a-z-]+)"', source.read_text("utf-8")))
    return found


def test_every_code_is_in_the_table() -> None:
    """A check that one loader gets must be given to the other, or stand here with a reason."""
    both = {code for case in BOTH.values() for code in case[0].split("|")}
    apart = set().union(*ONLY_PYTHON.values())
    assert not both & apart
    assert not both & set(ELSEWHERE)
    assert codes_of_the_loader() == both | apart | set(ELSEWHERE)


def _answers(program: str, files: list[Path], folder: Path) -> dict[str, list[str]]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    env |= {"XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    env |= {"DRYSTONE_PLUGIN_PROBE_SECONDS": "0", "DRYSTONE_PLUGINS_DISABLE": "cpu"}
    env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    for file in files:
        if "touch" in file.name:
            env["TOUCHED"] = str(file)
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, files)],
        capture_output=True, text=True, timeout=200, env=env, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_both_refuse(compile_library: Compile, tmp_path: Path) -> None:
    files = {}
    for number, (title, (_, make, _, _)) in enumerate(BOTH.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = make(compile_library, folder)
        name = folder / ("touched.so" if "meanwhile" in title else f"case{number}.so")
        if made.is_dir():
            name = made
        else:
            name.write_bytes(made.read_bytes())
        files[title] = name
    python = _answers(IN_PYTHON, list(files.values()), tmp_path)
    in_c = _answers(IN_C, list(files.values()), tmp_path)
    for title, (codes, _, words, c_words) in BOTH.items():
        file = str(files[title])
        code, text = python[file]
        assert code in codes.split("|"), (title, code, text)
        assert any(one in text for one in words.split("|")), (title, text)
        assert c_words in in_c[file][0], (title, in_c[file])
        if "meanwhile" not in title:  # its constructors run once in a process
            assert all(in_c[file]), (title, in_c[file])


def test_both_take_a_good_one(compile_library: Compile, tmp_path: Path) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="BothTakeIt"'])
    assert _answers(IN_PYTHON, [file], tmp_path)[str(file)][0] == ""
    assert _answers(IN_C, [file], tmp_path)[str(file)] == ["", ""]
