"""Programs that use the host library from C++, built with sanitizers together with its sources.

Where the variable HOST_OBJECTS names the folder of a quick build of the host, as in `nox -s tests`,
its objects are linked instead: nothing is compiled twice, and `nox -s sanitize` looks for bad
memory.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from compiling import INCLUDE, SANITIZE, compile_program, compiler, made_once

__all__ = ["CHECKS", "build", "build_fuzzer", "run"]

HOST = Path(__file__).resolve().parents[1] / "host"
SOURCES = HOST / "src"
PREFIX = (
    *("algorithm", "array", "atomic", "chrono", "condition_variable", "cstdint", "cstring"),
    *("functional", "map", "memory", "mutex", "optional", "set", "stdexcept", "string"),
    *("string_view", "thread", "unordered_map", "utility", "vector"),
)
"""Standard headers that most sources include; compiled once, they take a fifth off the build."""
OBJECTS = os.environ.get("HOST_OBJECTS", "")
_SANITIZERS = {
    "": ("-fsanitize=address", "-g1"), "address": SANITIZE, "thread": ("-fsanitize=thread", "-g1"),
}  # fmt: skip
CHECKS = () if OBJECTS else _SANITIZERS[os.environ.get("HOST_SANITIZERS", "")]
"""What is looked for: bad memory; by `nox -s sanitize` also undefined behaviour, and data races.

With all checks the sources take half as long again to compile.
"""


def _key(flags: str) -> str:
    """A name for one state of the sources; a test that changes needs no other archive."""
    state = hashlib.sha256(flags.encode())
    headers = [*(HOST / "include").rglob("*.h"), *INCLUDE.rglob("*.h*")]
    for file in sorted([*SOURCES.rglob("*.cc"), *SOURCES.rglob("*.h"), *headers]):
        state.update(file.read_bytes())
    return state.hexdigest()[:16]


def _makefile(folder: Path, flags: str) -> str:
    command = f"{' '.join(compiler('.cc'))} {flags}"
    prefix = folder / "prefix.h"
    objects, rules = [], [f"{prefix}.gch: {prefix}\n\t{command} -x c++-header $< -o $@"]
    for source in sorted(SOURCES.rglob("*.cc")):
        target = folder / "-".join(source.relative_to(SOURCES).with_suffix(".o").parts)
        objects.append(str(target))
        rules.append(f"{target}: {source} {prefix}.gch\n\t{command} -include {prefix} -c $< -o $@")
    archive = folder / "host.a"
    rules.insert(0, f"{archive}: {' '.join(objects)}\n\trm -f $@; ar rcs $@ $^")
    return "\n".join(rules) + "\n"


@cache
def _archive(checks: tuple[str, ...], *extra: str) -> Path:
    """A static archive of the host library's sources, with sanitizers; test processes share it."""
    # Without optimization the sources compile in half the time, and the tests run as long.
    flags = f"-std=c++20 -g1 -O0 -Wall -Wextra -fPIC {' '.join((*checks, *extra))} -I{SOURCES}"
    flags += f" -I{HOST / 'include'} -I{INCLUDE} -DDRYSTONE_HOST_VERSION='\"test\"'"
    folder = Path(tempfile.gettempdir()) / f"drystone-host-{os.getuid()}-{_key(flags)}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        makefile = folder / "Makefile"
        if not makefile.exists():  # what is written again is newer than all that was made of it
            (folder / "prefix.h").write_text("".join(f"#include <{name}>\n" for name in PREFIX))
            makefile.write_text(_makefile(folder, flags))
        command = ["make", "-s", "-j2", "-f", str(makefile)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return folder / "host.a"


@cache
def _built() -> Path:
    """A static archive of the objects of a host library that was built already."""
    folders = Path(OBJECTS) / "CMakeFiles" / "drystone_host.dir" / "Unity"  # one of each folder
    objects = sorted(map(str, folders.glob("*.o")))

    def make(archive: Path) -> None:
        subprocess.run(["ar", "qcs", str(archive), *objects], check=True)

    return made_once("host.a", make)


def build(source: Path, *extra: str) -> Path:
    """A program of one source file of packages/base/host/tests and the host's sources."""
    archive = _built() if OBJECTS else _archive(CHECKS)
    flags = [
        *CHECKS,
        f"-I{SOURCES}",
        f"-I{HOST / 'include'}",
        "-rdynamic",
        "-Wno-unused-parameter",
    ]
    whole = ["-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"]
    return compile_program(source, flags=[*flags, *extra, "-lpthread", "-ldl", *whole])


def build_fuzzer(source: Path, driver: Path, *include: Path) -> Path:
    """A sanitized fuzzer of one target, with coverage feedback from it and from the host.

    The target finds headers in the folders `include`, too.
    """
    coverage = "-fsanitize-coverage=trace-pc"
    archive = _archive(SANITIZE, coverage)
    options = [*SANITIZE, "-O1", f"-I{SOURCES}", f"-I{HOST / 'include'}", "-c"]
    further = [f"-I{folder}" for folder in include]
    target = compile_program(source, flags=[*options, *further, coverage])
    main = compile_program(driver, flags=[*options, "-O2"])
    program = main.with_name(f"{target.name}-{main.name}")
    whole = ["-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"]
    objects = ["-xnone", str(target), str(main), *whole]
    command = [*compiler(".cc"), *SANITIZE, "-rdynamic", *objects, "-lpthread", "-ldl"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def run(name: str, *arguments: str) -> str:
    """Build and run a program; what it printed. Fails the test on a sanitizer's finding."""
    program = build(HOST / "tests" / name)
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
