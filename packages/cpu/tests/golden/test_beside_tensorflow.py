"""Another library with our names in the process: TensorFlow's, oneDNN's, OpenMP's.

As after `import tensorflow`, or beside a plugin that opens its own oneDNN for the whole process.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import native_ops
import pytest

from drystone_abi.headers import get_include
from drystone_base.executor.selection import registered

HERE = Path(__file__).parent
CC = shutil.which("cc") or ""
RUN = """
import ctypes, sys
import numpy as np
before = len(sys.argv) > 2
if before:
    ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
import native_ops
from drystone_base.executor.selection import registered
native_ops.load()
print(sum("drystone_cpu" in r.library for rows in registered().values() for r in rows))
if not before:
    ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
x, w = np.ones((1, 64, 64, 32), np.float32), np.ones((3, 3, 32, 32), np.float32)
(found,) = native_ops.run_native("Conv2D", x, w, strides=[1, 1, 1, 1], padding="VALID")
np.testing.assert_allclose(found, 288)
"""


def names_of_onednn() -> set[str]:
    """What oneDNN's library has, as far as its users may call it, and what it calls of OpenMP."""
    native_ops.load()
    every = (row.library for rows in registered().values() for row in rows)
    plugin = Path(next(library for library in every if "drystone_cpu" in library))
    text = (plugin.parents[1] / "drystone_cpu" / "libddnn.so.3").read_bytes()
    found = {name.decode() for name in re.findall(rb"(?<=\0)dnnl_[a-z_0-9]+(?=\0)", text)}
    assert len(found) > 100
    called = {name.decode() for name in re.findall(rb"(?<=\0)[Dd](?:OMP|mp)_[a-z_]+(?=\0)", text)}
    theirs = {name.replace("DOMP", "GOMP").replace("dmp", "omp") for name in called}
    return found | theirs | {"omp_get_max_threads", "omp_set_num_threads", "GOMP_parallel"}


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library whose functions of these names end the process, of the name of oneDNN's own."""
    folder = tmp_path_factory.mktemp("stranger")
    names = names_of_onednn()
    for header in Path(get_include()).glob("drystone/*.h"):
        names |= set(re.findall(r"\bTF_[A-Z]\w+(?=\()", header.read_text(encoding="utf-8")))
    lines = [f'void {name}(void) {{ write(2, "{name}\\n", {len(name) + 1}); _exit(97); }}'
             for name in sorted(names) if name.upper() != name]  # fmt: skip
    assert len(lines) > 100
    source, library = folder / "stranger.c", folder / "libstranger.so"
    source.write_text("#include <unistd.h>\n" + "\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run(
        [CC, "-shared", "-fPIC", "-Wl,-soname,libdnnl.so.3", source, "-o", library], check=True
    )
    return library


@native_ops.needs_onednn()
@pytest.mark.skipif(not CC, reason="no C compiler is installed")
@pytest.mark.parametrize("when", ["before", "after"])
def test_all_parts_call_our_host(stranger: Path, when: str) -> None:
    words = [sys.executable, "-c", RUN, str(stranger), *(["before"] if when == "before" else [])]
    paths = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    native_ops.load()
    every = [row for rows in registered().values() for row in rows]
    assert int(done.stdout) == sum("drystone_cpu" in row.library for row in every)
