"""Examples, templates and test plugins with every compiler there is: `python -m ci.scripts.compilers`.

Each C source is compiled as C11, each C++ source as C++17 and C++20, optimized, with -Wall -Wextra
-Werror, and linked into a library, but not by Zig: its first link makes a C++ library of the sources
that it brings, a minute of processor time. The compilers are those of PATH under the names gcc, g++, clang
and clang++, with or without -NUMBER, and the one of the package ziglang. --also NAME=CC,CXX adds
one, for instance of a container. Prints a line per compiler and what it said; those that the
project must know (gcc 12 and 14, clang) and that are not there are named as skipped. Exit status 1
where something does not compile.
"""  # noqa: E501 - the first line names the command

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ci.scripts.project import ROOT
from drystone_abi.new import KINDS, render

__all__ = ["Compiler", "Job", "compilers", "jobs", "main"]

ABI = ROOT / "plugin-abi"
INCLUDES = (ABI / "include", ROOT / "packages" / "base" / "host" / "include")
WANTED = ("gcc 12", "gcc 14", "clang")
STANDARDS = {".c": ("-std=c11",), ".cc": ("-std=c++17", "-std=c++20")}
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-fPIC")
MACROS: dict[str, tuple[str, ...]] = {
    "filesystem_full.c": ('-DSCHEME="any"',),
    "filesystem_registration.c": ('-DSCHEME="any"',),
    "host_state.c": ("-DWHEN=kOpened",),
    "hostile_doors.c": ("-DEND=0",),
    "kernels_throws.cc": ("-DWHERE=1",),
    "many_registrations.c": ("-DKIND=1", "-DCOUNT=2", '-DNAME="Many%d"'),
    "optimizer_rfc.c": ("-DJUNK=0",),
}
"""What tests define for a source that cannot do without."""
_NAMED = re.compile(r"(gcc|clang)(-[0-9]+)?")
_BAD = re.compile(r"#(?:el)?if.*\bBAD\b|\bBAD [=<>]+ k|switch \(BAD\)")
_KINDS = re.compile(r"^\s+k[A-Z]\w*", re.MULTILINE)


@dataclass(frozen=True)
class Compiler:
    """A pair of commands, for C and for C++, and what they say they are."""

    name: str
    commands: dict[str, tuple[str, ...]]
    links: bool = True


@dataclass(frozen=True)
class Job:
    """Sources of one language that make a library, a standard, and macros."""

    name: str
    sources: tuple[Path, ...]
    standard: str
    macros: tuple[str, ...] = ()

    @property
    def language(self) -> str:
        """``.c`` or ``.cc``."""
        return self.sources[0].suffix


def compilers(also: Sequence[str] = ()) -> Iterator[Compiler]:
    """Every compiler of PATH once, that of ziglang, and the given ones."""
    seen: set[str] = set()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for file in sorted(Path(folder).glob("*")) if os.path.isdir(folder) else []:
            match = _NAMED.fullmatch(file.name)
            twin = match and shutil.which(
                {"gcc": "g++", "clang": "clang++"}[match[1]] + (match[2] or "")
            )
            if match and twin:
                yield from _once(_described({".c": (str(file),), ".cc": (twin,)}), seen)
    if importlib.util.find_spec("ziglang"):
        zig = (sys.executable, "-m", "ziglang")
        yield Compiler("zig (clang)", {".c": (*zig, "cc"), ".cc": (*zig, "c++")}, links=False)
    for text in also:
        name, _, pair = text.partition("=")
        first, second = pair.split(",")
        yield Compiler(name, {".c": (first,), ".cc": (second,)})


def _once(found: Compiler, seen: set[str]) -> Iterator[Compiler]:
    if found.name not in seen:
        seen.add(found.name)
        yield found


def _described(commands: dict[str, tuple[str, ...]]) -> Compiler:
    """With the name and version that the command says."""
    words = [*commands[".c"], "--version"]
    said = subprocess.run(words, capture_output=True, text=True).stdout.partition("\n")[0]
    version = re.search(r"\b(\d+)\.\d+", said)
    kind = "clang" if "clang" in said.lower() else "gcc"
    return Compiler(f"{kind} {version[1] if version else '?'}", commands)


def jobs(folder: Path) -> Iterator[Job]:
    """All that is compiled; projects of the templates are made below ``folder``."""
    for example in sorted((ABI / "examples").iterdir()):
        yield from _of_folder(f"example {example.name}", example)
    for kind in KINDS:
        render("my-first", kind, folder / kind)
        yield from _of_folder(f"template {kind}", folder / kind)
    plugins = ABI / "tests" / "plugins"
    for source in sorted([*plugins.rglob("*.c"), *plugins.rglob("*.cc")]):
        for macros in _variants(source):
            name = f"plugin {source.relative_to(plugins)} {' '.join(macros)}".strip()
            yield from _in_standards(name, (source,), macros)


def _of_folder(name: str, folder: Path) -> Iterator[Job]:
    """The sources of each language in a folder, but Zig's."""
    for suffix in STANDARDS:
        sources = tuple(sorted(folder.glob(f"*{suffix}")))
        if sources:
            yield from _in_standards(name, sources, ())


def _in_standards(name: str, sources: tuple[Path, ...], macros: tuple[str, ...]) -> Iterator[Job]:
    for standard in STANDARDS[sources[0].suffix]:
        yield Job(name, sources, standard, macros)


def _variants(source: Path) -> Iterator[tuple[str, ...]]:
    """What must be defined: one value of BAD for each kind that a source of bad plugins has."""
    text = source.read_text("utf-8")
    needs: tuple[str, ...] = MACROS.get(source.name, ())
    needs += ('-DDEVICE="ZOO"',) if re.search(r"\bDEVICE;", text) else ()
    if not _BAD.search(text):
        yield needs
        return
    kinds = text[text.index("enum") :].partition("}")[0]
    for number in range(1, len(_KINDS.findall(kinds)) + 1):
        yield (f"-DBAD={number}", *needs)


def compile_one(compiler: Compiler, job: Job, out: Path) -> str:
    """What the compiler said; "" where it was content."""
    words = [*compiler.commands[job.language], job.standard, *FLAGS, *job.macros]
    words += [f"-I{folder}" for folder in INCLUDES]
    ends = [[*map(str, job.sources), "-shared", "-o", str(out), "-lm", "-lpthread"]]
    if not compiler.links:
        ends = [["-c", str(source), "-o", str(out)] for source in job.sources]
    for end in ends:
        done = subprocess.run([*words, *end], capture_output=True, text=True)
        out.unlink(missing_ok=True)
        if done.returncode:
            lines = [
                line for line in done.stderr.splitlines() if "error" in line or "warning" in line
            ]
            return f"{job.name} ({job.standard}): {' | '.join(lines[:3]) or done.stderr[:300]}"
    return ""


def _run(compiler: Compiler, wanted: Sequence[Job], folder: Path) -> list[str]:
    """What it said of all of them."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outs = [folder / f"{k}.so" for k in range(len(wanted))]
        return [text for text in pool.map(lambda a: compile_one(compiler, *a),
                                          zip(wanted, outs, strict=True)) if text]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile everything with everything; 0 where no compiler complains."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--also", action="append", default=[], metavar="NAME=CC,CXX")
    parser.add_argument("--compiler", metavar="REGEX", help="names of compilers, such as 'gcc 14'")
    parser.add_argument("--only", metavar="REGEX", help="names of what is compiled")
    options = parser.parse_args(arguments)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="drystone-compilers-") as name:
        folder = Path(name)
        wanted = [job for job in jobs(folder) if re.search(options.only or "", job.name)]
        found = [c for c in compilers(options.also) if re.search(options.compiler or "", c.name)]
        for compiler in found:
            said = _run(compiler, wanted, folder)
            bad += len(said)
            print(
                f"{compiler.name}: {len(wanted) - len(said)} of {len(wanted)} compile", flush=True
            )
            for text in said:
                print(f"  {text}", flush=True)
    for needed in WANTED:
        if not any(compiler.name.startswith(needed) for compiler in found):
            print(f"{needed}: skipped, it is not installed (PATH, or --also NAME=CC,CXX)")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
