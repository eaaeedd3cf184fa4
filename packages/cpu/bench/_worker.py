"""One engine with one model in a process of its own: prints a line of JSON per request.

Its argument is JSON: ``engine`` (``drystone`` or ``tensorflow``), ``threads``, and what
``paired.py`` knows of the model. A request is ``run SECONDS``; the answer holds the least and the
median wall time of a call in seconds, and the processor time of one. ``peak`` answers the most
bytes that the process has held, and how many it held before the model was loaded.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def memory(line: str) -> int:
    """Bytes by a line of the process's status: ``VmHWM`` the most, ``VmRSS`` now."""
    for text in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if text.startswith(line + ":"):
            return int(text.split()[1]) * 1024
    raise RuntimeError("the system tells no memory of processes")


def drystone(given: dict[str, Any]) -> tuple[int, Callable[[], Callable[..., Any]]]:
    """What was held after the imports, and how to make a call."""
    import drystone_base as ds
    from drystone_base import plugins

    plugin = os.environ.get("DRYSTONE_CPU_PLUGIN")
    if plugin:
        plugins.load_library(plugin)

    def make() -> Callable[..., Any]:
        model = ds.load(given["file"])
        return model.session.make_callable(given["outputs"], list(given["inputs"]))

    return memory("VmRSS"), make


def tensorflow(given: dict[str, Any]) -> tuple[int, Callable[[], Callable[..., Any]]]:
    """The same for TensorFlow: a session whose executor runs in the caller's thread."""
    import tensorflow as tf

    v1 = tf.compat.v1
    config = v1.ConfigProto(
        intra_op_parallelism_threads=given["threads"], inter_op_parallelism_threads=-1
    )

    def make() -> Callable[..., Any]:
        graph = tf.Graph()
        with graph.as_default():
            session = v1.Session(config=config)
            load_graph(v1, session, given)
        inputs = list(given["inputs"])
        fetches = [graph.as_graph_element(name) for name in given["outputs"]]
        call: Callable[..., Any] = session.make_callable(fetches, feed_list=inputs)
        return call

    return memory("VmRSS"), make


def load_graph(v1: Any, session: Any, given: dict[str, Any]) -> None:
    """Put the model into the session's graph, with its variables' values."""
    file = Path(given["file"])
    if given["format"] == "graphdef":
        definition = v1.GraphDef()
        definition.ParseFromString(file.read_bytes())
        v1.import_graph_def(definition, name="")
    elif given["format"] == "savedmodel":
        v1.saved_model.load(session, ["serve"], str(file))
    else:
        saver = v1.train.import_meta_graph(str(next(file.glob("*.meta"))))
        saver.restore(session, str(file / "model.ckpt"))


def measure(call: Callable[[], Any], seconds: float) -> dict[str, float]:
    """Calls for so long, three at least."""
    taken: list[float] = []
    begun = time.process_time()
    until = time.perf_counter() + seconds
    while len(taken) < 3 or time.perf_counter() < until:
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    used = (time.process_time() - begun) / len(taken)
    return {"least": min(taken), "median": statistics.median(taken), "cpu": used}


def main() -> None:
    """Answer requests until there are no more."""
    given = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    with np.load(given["case"], allow_pickle=False) as data:
        arrays = {name: data[key] for name, key in given["inputs"].items()}
    feeds = [values[0] if given["first"] else values for values in arrays.values()]
    before, make = {"drystone": drystone, "tensorflow": tensorflow}[given["engine"]](given)
    prepared = make()
    for _ in range(3):
        prepared(*feeds)
    print("{}", file=answers, flush=True)
    for line in sys.stdin:
        request = line.split()
        if request[0] == "peak":
            found: dict[str, float] = {"peak": memory("VmHWM"), "before": before}
        else:
            found = measure(lambda: prepared(*feeds), float(request[1]))
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
