"""Run with an executor's name: needs more memory than the process may have, then goes on."""

import resource
import sys
from typing import Any

import numpy as np

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph

STEPS = 28
ROOM = 1 << 29

graph = Graph()
first = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32, "shape": None})
value: Any = (first, 0)
for _ in range(STEPS):  # each has twice the elements of the one before it
    attrs = {"T": dtypes.FLOAT32, "N": 2, "axis": 0}
    value = (graph.add("Pack", graph.unique_name("Pack"), [value, value], attrs=attrs), 0)
graph.add("AddV2", "sum", [(first, 0), (first, 0)], attrs={"T": dtypes.FLOAT32})
config = SessionConfig(executor=sys.argv[1], optimizer="off")  # type: ignore[arg-type]
session = Session(graph, config)
feeds = {"x:0": np.array([1, 2], np.float32)}
session.run("sum:0", feeds)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.RLIM_INFINITY))
try:
    session.run(f"{value[0].name}:0", feeds)
except DrystoneError as error:
    print(error.status, "node '" in error.what)
print(session.run("sum:0", feeds).tolist())
