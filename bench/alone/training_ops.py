"""Where a step of training spends its time, by op.

``python -m bench.alone.training_ops [--only NAME] [--threads N] [--rows N]``, with drystone-keras
installed: each Keras model that is trained in the benchmark takes some steps that are recorded.
Milliseconds are of the kernels alone, in a mean step; the step as a whole is the shortest of
others, which are not recorded.
"""

from __future__ import annotations

import argparse
import importlib
import os
import time
from collections import Counter
from itertools import pairwise
from typing import Any

from bench.keras_models import MODELS, STEPS, batches, build

ROUNDS = 5


def _measure(keras: Any, name: str, rows: int) -> None:
    """Print the ops of one model's step, the longest first."""
    model = build(keras, name)
    x, y = batches(name)

    def epoch() -> list[float]:
        began = [time.perf_counter()]
        for k in range(STEPS):
            model.train_on_batch(x[k], y[k])
            began.append(time.perf_counter())
        return [after - before for before, after in pairwise(began)]

    epoch()
    (trace,) = model.train_function.step.traces
    with trace.session.record() as record:
        for _ in range(ROUNDS):
            epoch()
    took, count = Counter[str](), Counter[str]()
    for one in record.nodes:
        took[one.op] += one.end - one.start
        count[one.op] += 1
    steps, step = ROUNDS * STEPS, min(min(epoch()) for _ in range(ROUNDS))
    whole = sum(took.values()) / steps / 1e6
    print(f"\nkeras-{name}: {step * 1e3:.1f} ms a step; kernels, recorded: {whole:.1f} ms")
    for op, spent in took.most_common(rows):
        print(f"{spent / steps / 1e6:9.2f} ms {count[op] // steps:5}  {op}")


def main() -> None:
    """Print a table for each model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=MODELS, action="append", metavar="NAME")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=12)
    given = parser.parse_args()
    os.environ |= {"DRYSTONE_NUM_THREADS": str(given.threads), "KERAS_BACKEND": "drystone"}
    importlib.import_module("keras_drystone")  # before keras
    import keras

    for name in given.only or MODELS:
        _measure(keras, name, given.rows)


if __name__ == "__main__":
    main()
