"""The worker's program: ``python -m bench.worker JSON``, driven through its standard streams.

The argument holds ``runtime``, ``case``, ``threads`` and ``started``, the ``time.time()`` just
before the process was made. The first line of answer says what the start took; each line
``{"seconds": S, "least": N}`` read after it is answered by a slot's times. All lines are JSON.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, TextIO

import numpy as np

from bench.memory import peak_rss
from bench.worker._answers import worst
from bench.worker._form import Array, NoForm, Prepared
from bench.worker._timing import slot

WARM = 0.1
MOST_WARM = 3.0
WARM_CALLS = 20
"""Before the first slot: seconds of calls, at least and at most, and how many calls are enough."""
FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")
CHECKED_STEPS = 3
"""Training steps whose losses are held against the recorded ones."""


def main(given: dict[str, Any]) -> int:
    """Start, say what that took, then answer until the input ends; 1 when the start fails."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a runtime prints is not an answer
    try:
        call, reset, facts = _start(given)
    except Exception as error:
        kind = "none" if isinstance(error, NoForm) else "error"
        _say(answers, {kind: _one_line(error)})
        return 1
    _warm_up(call)
    _say(answers, facts)
    for line in sys.stdin:
        if reset:
            reset()
        wanted = json.loads(line)
        found = slot(call, wanted["seconds"], wanted["least"])
        _say(answers, {**found, "rss": peak_rss()})
    return 0


def _warm_up(call: Callable[[], Any]) -> None:
    """The first calls, in which runtimes look what is quickest: a while, and a number of them."""
    start, calls = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < WARM or (
        calls < WARM_CALLS and passed < MOST_WARM
    ):
        call()
        calls += 1


def _start(given: Mapping[str, Any]) -> tuple[Callable[[], Any], Any, dict[str, Any]]:
    """The timed call, the reset, and seconds of each part of the start, from the process' own."""
    case, began = given["case"], time.perf_counter()
    runtime = importlib.import_module(f"bench.worker.{given['runtime']}")
    runtime.start()
    imported = time.perf_counter()
    with np.load(case["arrays"], allow_pickle=False) as data:
        inputs = [_strings(data[key]) for key in case["inputs"].values()]
    with np.load(case["answers"] or case["arrays"], allow_pickle=False) as data:
        wanted = [data[key] for key in case["outputs"].values()]
    prepared: Prepared = runtime.prepare(case, given["threads"])
    loaded = time.perf_counter()
    train = bool(case["train_op"])
    first = prepared[0](*([a[0] for a in inputs] if train else inputs))
    answered = time.perf_counter()
    facts: dict[str, Any] = {
        "import_s": imported - began, "load_s": loaded - imported, "first_s": answered - loaded,
        "answer_s": time.time() - given["started"], "answer_cpu_s": time.process_time(),
        "rss": peak_rss(),
    }  # fmt: skip
    off = _loss_difference(prepared, inputs, wanted[0], first) if train else worst(first, wanted)
    facts["difference"] = off if math.isfinite(off) else None
    return _call(prepared, inputs, train), prepared[1], facts


def _loss_difference(
    prepared: Prepared, inputs: list[Array], wanted: Array, first: list[Array]
) -> float:
    """How far the losses of the first steps are from the recorded ones."""
    run, _ = prepared
    steps = min(CHECKED_STEPS, len(wanted))
    losses = [first[0], *[run(*[a[k] for a in inputs])[0] for k in range(1, steps)]]
    return max(abs(float(g) - float(w)) / abs(float(w)) for g, w in zip(losses, wanted[:steps],
               strict=True))  # fmt: skip


def _call(prepared: Prepared, inputs: list[Array], train: bool) -> Callable[[], Any]:
    run, _ = prepared
    if not train:
        return lambda: run(*inputs)
    batches = [[np.ascontiguousarray(a[k]) for a in inputs] for k in range(len(inputs[0]))]
    number = count()
    return lambda: run(*batches[next(number) % len(batches)])


def _strings(array: Array) -> Array:
    """Strings as objects, which every runtime takes."""
    return array.astype(object) if array.dtype.kind in "SU" else array


def _say(answers: TextIO, message: Mapping[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _one_line(error: Exception) -> str:
    """The error with the first lines of its text, folders left out."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = FOLDERS.sub("…/", " ".join(lines[:4]))
    return f"{type(error).__name__}: {text}"[:300]


if __name__ == "__main__":
    raise SystemExit(main(json.loads(sys.argv[1])))
