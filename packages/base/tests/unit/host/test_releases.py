"""Today's host with plugins built from the headers of other releases, earlier and later.

The other way round, hosts of other releases, is in plugin-abi/tests/test_old_and_new.py.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import releases

from drystone_base.host import _lib
from drystone_base.host.library import known_entries

pytestmark = pytest.mark.cases_in_gate(3)

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

ENTRIES = {
    "device": ["SE_InitPlugin", "TF_InitProfiler"],
    "style-device": ["SE_InitPlugin", "TF_InitProfiler"],
    "kernels": ["TF_InitKernel"],
    "optimizer": ["TF_InitGraph"],
    "filesystem": ["TF_InitPlugin"],
}
# In a process of its own: what one registers stays until the process ends.
LOAD = """
import sys
from drystone_base.host.library import open_library
library = open_library(sys.argv[1])
for entry in library.entries():
    library.initialise(entry)
described = library.describe()
print(library.entries(), described["errors"])
if sys.argv[2] == "device":
    from drystone_base.host.device import Device
    with Device("FAKE").allocate(4) as memory, Device("FAKE").stream() as stream:
        memory.write(b"slab", stream)
        stream.block()
        print(memory.read(), described["devices"], described["profilers"])
"""
PRINTED = {"device": "b'slab' ['FAKE'] ['FAKE']\n"}


@pytest.mark.parametrize("kind", ENTRIES)
@pytest.mark.parametrize("release", releases.names())
def test_plugins_of_other_releases_load(release: str, kind: str, tmp_path: Path) -> None:
    """S0-version: sizes keep old plugins and new hosts together, and the reverse."""
    missing = [entry for entry in ENTRIES[kind] if entry not in known_entries()]
    assert not missing, f"the host has no module for {missing}"
    plugin = releases.build_plugin(kind, release, tmp_path)
    command = [sys.executable, "-c", LOAD, str(plugin), kind]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == f"{ENTRIES[kind]} []\n{PRINTED.get(kind, '')}"
