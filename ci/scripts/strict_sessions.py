"""What is installed of drystone's, under the strictest policy: `... strict_sessions FOLDER`.

FOLDER is that of a recorded model; the environment has wheels in it. Each library with an entry
symbol that a distribution of drystone's brought is loaded; then the model runs with whatever they
offer: in a session, on each backend of regions, on tasks behind each transport, and from each
filesystem. Prints a line of JSON: states of libraries by distribution, the largest difference of
each run, or why there was none: a backend whose package is not here says so. Exit status 1: a
library is not loaded though what it drives is here, or a run is off or fails for another reason.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np

import drystone as ds
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.numpy_kernels import SlowKernelsWarning
from drystone_base.graph import topological_order
from drystone_base.modules import entry_symbols
from drystone_base.plugins import load_library
from drystone_base.plugins._elf import read_elf
from drystone_filesystem import gfile
from drystone_network.transports.registry import schemes

ABSENT = "subgraph-package-missing: "
"""The code of backends that cannot be used for what is not installed."""
HOLDS = {"loaded", "plugin-not-available"}
"""The second where a library has no device here."""


def shipped() -> Iterator[tuple[str, str]]:
    """Distribution and path of each library of drystone's that is a plugin."""
    for one in distributions():
        for file in one.files or () if one.name.startswith("drystone") else ():
            path = str(one.locate_file(file))
            if re.search(r"\.so(\.\d+)*$", path) and read_elf(path).defined(entry_symbols()):
                yield one.name, path


def states() -> dict[str, dict[str, str]]:
    """Of each library, or the code that it is refused with."""
    found: dict[str, dict[str, str]] = {}
    for name, path in shipped():
        try:
            plugin = load_library(path)
            state = plugin.reason if plugin.state == "skipped" else plugin.state
        except DrystoneError as error:
            state = error.code
        found.setdefault(name, {})[os.path.basename(path)] = state
    return found


class Recorded:
    """A recorded model, and what it gave."""

    def __init__(self, folder: Path) -> None:
        facts = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
        case, self.tolerance = facts["cases"][0], float(facts["tolerance"])
        self.model, self.fetches = folder / facts["model"], list(case["fetches"])
        self.feeds = dict(np.load(folder / case["inputs"]))
        self.wanted = np.load(folder / case["outputs"])

    def difference(self, place: Any = None, **config: Any) -> float | str:
        """The largest of a run, beside the spread of the values."""
        try:
            model = ds.load(place or self.model, config=ds.SessionConfig(**config))
            return self.off(model.run(self.fetches, self.feeds))
        except DrystoneError as error:
            return f"{error.code}: {error.what}"

    def holds(self, run: float | str) -> bool:
        """Whether it gave what was recorded, or could not be."""
        return run.startswith(ABSENT) if isinstance(run, str) else run <= self.tolerance

    def off(self, found: Any) -> float:
        """The largest difference."""
        pairs = [(a, self.wanted[name]) for a, name in zip(found, self.fetches, strict=True)]
        return max(float(np.max(np.abs(a - b)) / (np.std(b) + 1e-12)) for a, b in pairs)


def over_two_tasks(recorded: Recorded, transport: str) -> float | str:
    """The model in two halves, whose values a transport carries."""
    graph = ds.load(recorded.model).graph
    nodes = topological_order(graph)
    for k, node in enumerate(nodes):
        graph.set_device(node, f"/job:worker/task:{int(2 * k >= len(nodes))}")
    with closing(socket.socket()) as one, closing(socket.socket()) as other:
        for taken in (one, other):
            taken.bind(("127.0.0.1", 0))
        ports = [taken.getsockname()[1] for taken in (one, other)]
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    server = partial(ds.distributed.Server, cluster, "worker", transport=transport)
    with server(task=0) as first, server(task=1):
        config = ds.SessionConfig(target=first.target)
        return recorded.off(ds.Session(graph, config).run(recorded.fetches, recorded.feeds))


def runs(recorded: Recorded, folder: str) -> Iterator[tuple[str, float | str]]:
    """With whatever is offered."""
    yield "session", recorded.difference()
    for backend in sorted(ds.subgraph.backends()):
        yield f"backend {backend}", recorded.difference(subgraphs=backend)
    for transport in sorted(schemes()):
        yield f"transport {transport}", over_two_tasks(recorded, transport)
    for place in (f"posix://{folder}/model.pb", "ram://box/model.pb", "memory://box/model.pb"):
        with gfile.GFile(place, "wb") as file:
            file.write(recorded.model.read_bytes())
        yield place.partition(":")[0], recorded.difference(place)


def main() -> None:
    """Load and run."""
    assert os.environ["DRYSTONE_PLUGIN_POLICY"] == "strict"
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", SlowKernelsWarning)  # where drystone-cpu is left out
    recorded = Recorded(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        libraries, found = states(), dict(runs(recorded, folder))
    print(json.dumps({"libraries": libraries, "runs": found}))
    ended = {state for each in libraries.values() for state in each.values()}
    sys.exit(not ended <= HOLDS or not all(map(recorded.holds, found.values())))


if __name__ == "__main__":
    main()
