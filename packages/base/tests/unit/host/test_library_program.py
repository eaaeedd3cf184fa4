"""Libraries loaded from C++, under sanitizers."""

from __future__ import annotations

from pathlib import Path

import host_programs
from plugin_files import VARIANTS, Compile


def test_libraries_under_sanitizers(compile_library: Compile, tmp_path: Path) -> None:
    good = compile_library(VARIANTS, flags=['-DOP="FromCpp"'])
    throws = compile_library("loader_throws.cc")
    printed = host_programs.run("library_test.cc", str(good), str(throws), str(tmp_path))
    assert printed.endswith("0 failures\n")
