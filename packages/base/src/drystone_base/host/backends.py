"""Functions of a plugin's subgraph backend, called where no C++ exception of theirs goes further.

See ``drystone_host/subgraph.h``. Arguments are addresses; the last one is a status, but for the
ends of executables and selectors, which cannot fail.
"""

from __future__ import annotations

import ctypes as c

from drystone_base.host._lib import declare

__all__ = [
    "accept_region", "compile_region", "destroy_executable", "destroy_selector", "filter_nodes",
    "init_subgraph", "new_selector", "reset_selector", "review_region", "select_neighbour",
    "select_node", "serialize_executable",
]  # fmt: skip

_ADDRESS = c.c_void_p
init_subgraph = declare("DS_CallInitSubgraph", None, _ADDRESS, _ADDRESS, _ADDRESS)
new_selector = declare("DS_NewSelector", _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS)
destroy_selector = declare("DS_DestroySelector", None, _ADDRESS, _ADDRESS, _ADDRESS)
select_node = declare("DS_SelectNode", c.c_ubyte, *[_ADDRESS] * 5)
select_neighbour = declare("DS_SelectNeighbour", c.c_ubyte, *[_ADDRESS] * 5, c.c_ubyte, _ADDRESS)
filter_nodes = declare("DS_FilterNodes", None, *[_ADDRESS] * 4, c.c_int32, _ADDRESS, _ADDRESS)
reset_selector = declare("DS_ResetSelector", None, *[_ADDRESS] * 4)
accept_region = declare("DS_AcceptRegion", c.c_ubyte, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS)
review_region = declare("DS_ReviewRegion", None, *[_ADDRESS] * 6)
compile_region = declare(
    "DS_CompileRegion", _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS
)
serialize_executable = declare(
    "DS_SerializeExecutable", None, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS
)
destroy_executable = declare("DS_DestroyExecutable", None, _ADDRESS, _ADDRESS, _ADDRESS)
