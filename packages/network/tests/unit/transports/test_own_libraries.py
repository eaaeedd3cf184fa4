"""Our libraries are vouched for by the wheel that brought them, and load under every policy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import drystone_base
from drystone_base.plugins.first_party import installed_by, is_ours
from drystone_network.transports.registry import own_file

LIBRARIES = ("libdrystone_net.so", "libdrystone_links.so")


@pytest.mark.parametrize("name", LIBRARIES)
def test_they_are_ours(name: str) -> None:
    assert is_ours(str(own_file(name)))


def test_the_strictest_policy_lets_the_transports_in() -> None:
    library = own_file(LIBRARIES[0])
    if Path(drystone_base.__file__).parents[1] != library.parents[1]:
        pytest.skip("drystone-base is not installed beside drystone-network")
    assert installed_by(str(library)).startswith("drystone-network ")
    program = (
        "import sys; from drystone_base.plugins import load_library;"
        "print(load_library(sys.argv[1], policy='strict').state)"
    )
    done = subprocess.run(  # in this process other tests have opened it
        [sys.executable, "-c", program, library], capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "loaded\n", done.stderr
