"""A fresh process that loads one model, runs it once and prints what that took, as JSON.

Its argument is JSON: ``file``, ``case``, ``inputs`` and ``outputs`` of a recorded model, and
``started``, the ``time.time()`` just before the process was made. Imports nothing for its own sake.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from bench._memory import peak_rss


def first_answer(given: dict[str, Any]) -> dict[str, Any]:
    """Seconds to load, to run once, and from the start of the process; peak memory."""
    import numpy as np

    import drystone_base as ds

    with np.load(given["case"], allow_pickle=False) as data:
        feeds = {tensor: data[key] for tensor, key in given["inputs"].items()}
    start = time.perf_counter()
    model = ds.load(given["file"])
    loaded = time.perf_counter()
    model.run(given["outputs"], feeds)
    done = time.perf_counter()
    answer = time.time() - given["started"]
    return {"nodes": len(model.graph), "load_s": loaded - start, "first_s": done - loaded,
            "answer_s": answer, "rss": peak_rss()}  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(first_answer(json.loads(sys.argv[1]))))
