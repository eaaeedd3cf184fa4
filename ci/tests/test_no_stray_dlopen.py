"""The check that libraries are opened in two places only, on planted violations."""

from __future__ import annotations

from pathlib import Path

from ci.checks import no_stray_dlopen
from ci.tests.conftest import put

BASE = "packages/base"


def test_comments_texts_and_the_process_itself_are_fine(tree: Path) -> None:
    put(
        tree,
        f"{BASE}/host/src/a.cc",
        '// dlopen(x)\nconst char* s = "dlopen(y)";\n/* dlopen(z) */\n',
    )
    put(tree, f"{BASE}/src/drystone_base/a.py", "import ctypes\nall = ctypes.CDLL(None)\n")
    assert no_stray_dlopen.find(tree) == []


def test_calls_elsewhere_are_found(tree: Path) -> None:
    put(tree, f"{BASE}/host/src/b.cc", "/* one\ntwo */\nvoid* f() { return dlopen (0, 1); }\n")
    put(tree, f"{BASE}/host/src/library/open.cc", "void* f() { return dlopen(0, 1); }\n")
    put(tree, f"{BASE}/src/drystone_base/b.py", "import ctypes\nx = ctypes.CDLL('libm.so')\n")
    assert no_stray_dlopen.find(tree) == [
        f"{BASE}/host/src/b.cc:3: dlopen opens a library; go through open.h",
        f"{BASE}/src/drystone_base/b.py:2: CDLL opens a library; go through open.h",
    ]
