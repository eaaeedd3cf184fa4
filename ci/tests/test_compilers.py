"""What is compiled with every compiler: all of it, each in its standards; a complaint is shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ci.scripts import compilers as script
from ci.scripts.compilers import ABI, Compiler, Job, compile_one, jobs
from drystone_abi.new import KINDS


def test_every_source_is_compiled_in_each_standard(tmp_path: Path) -> None:
    found = list(jobs(tmp_path))
    sources = {source for job in found for source in job.sources}
    folders = (ABI / "examples", ABI / "tests" / "plugins")
    every = {path for folder in folders for end in ("c", "cc") for path in folder.rglob(f"*.{end}")}
    assert every <= sources
    assert {job.standard for job in found if job.language == ".cc"} == {"-std=c++17", "-std=c++20"}
    assert {job.standard for job in found if job.language == ".c"} == {"-std=c11"}
    made = {job.name.removeprefix("template ") for job in found if job.name.startswith("template")}
    assert made == {kind for kind in KINDS if kind != "python-optimizer"}


def test_each_kind_of_a_bad_plugin_is_compiled(tmp_path: Path) -> None:
    zoo = {job.macros for job in jobs(tmp_path) if job.name.startswith("plugin zoo.cc")}
    numbers = sorted(int(macros[0].removeprefix("-DBAD=")) for macros in zoo)
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 18
    assert all(macros[1] == '-DDEVICE="ZOO"' for macros in zoo)


def test_strings_that_grow_compile_without_warnings(tmp_path: Path) -> None:
    """gcc 12 took a string that has grown for a small one, which has no room for that."""
    source = tmp_path / "sizes.c"
    source.write_text(
        '#include "drystone/tstring.h"\n'
        "void f(TF_TString* out) {\n"
        '  TF_TString_Copy(out, "short", 5);\n'
        '  TF_TString_AppendN(out, "a longer text than fits into 22 bytes", 37);\n}\n',
        "utf-8",
    )
    command = os.environ.get("CC", "cc").split()
    job = Job("sizes", (source,), "-std=c11")
    assert compile_one(Compiler("any", {".c": tuple(command)}), job, tmp_path / "o") == ""


def test_a_warning_is_a_complaint(tmp_path: Path) -> None:
    command = os.environ.get("CC", "cc").split()
    source = tmp_path / "bad.c"
    source.write_text("int f(int unused) { return 0; }\n", "utf-8")
    said = compile_one(
        Compiler("any", {".c": tuple(command)}), Job("bad", (source,), "-std=c11"), tmp_path / "o"
    )
    assert said.startswith("bad (-std=c11): ")
    assert "unused" in said


def test_a_compiler_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "compilers", lambda _: iter([Compiler("clang 99", {})]))
    assert script.main(["--only", "no such thing"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "clang 99: 0 of 0 compile"
    assert [line.partition(":")[0] for line in lines[1:]] == ["gcc 12", "gcc 14"]
    assert all("skipped, it is not installed" in line for line in lines[1:])
