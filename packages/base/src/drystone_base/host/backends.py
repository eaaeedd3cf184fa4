"""Functions of a plugin's subgraph backend, called where no C++ exception of theirs goes further.

See ``drystone_host/subgraph.h``. Arguments are addresses; the last one is a status, but for the end
of an executable, which cannot fail.
"""

from __future__ import annotations

import ctypes as c

from drystone_base.host._lib import declare

__all__ = [
    "accept_region", "compile_region", "destroy_executable", "init_subgraph", "new_selector",
    "serialize_executable",
]  # fmt: skip

_ADDRESS = c.c_void_p
init_subgraph = declare("DS_InitSubgraph", None, _ADDRESS, _ADDRESS, _ADDRESS)
new_selector = declare("DS_NewSelector", _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS)
accept_region = declare("DS_AcceptRegion", c.c_ubyte, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS)
compile_region = declare(
    "DS_CompileRegion", _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS
)
serialize_executable = declare(
    "DS_SerializeExecutable", None, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS
)
destroy_executable = declare("DS_DestroyExecutable", None, _ADDRESS, _ADDRESS, _ADDRESS)
