"""TensorFlow's recorded answers held against drystone-gpu's kernels: recorded_answers.py LIBRARY

Golden cases and random ones of drystone-base's tests, each a session of one node that goes to the
device. `DRYSTONE_GPU_DEVICE=host` has the processor stand for a GPU. Further words: these ops
alone. Prints what differs and, last, a line of JSON with counts. Exit status 1: some do.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ |= {"DRYSTONE_PLUGINS_DISABLE": "cpu", "DRYSTONE_PLAN_CACHE": "off"}
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "base" / "tests"))

import oracle
from one_op import OneOp
from parity import judge as judging
from parity.draft import draw_case
from parity.recorded import answer_of
from parity.recorded import load as load_random

from drystone_base.api.prepared import Prepared
from drystone_base.executor.selection import registered
from drystone_base.plugins import load_library

LOOSE = 4.0
"""What tolerances of random cases are times."""


class NotThere(BaseException):
    """The node does not run on the device. No `except Exception` catches it."""


def run_there(op: str, *inputs: Any, **attrs: Any) -> list[Any]:
    """Outputs of one op by the device's kernel; raises ``NotThere``."""
    made = OneOp.of(op, inputs, attrs, "native")
    prepared = made.session._prepare(list(made.fetches), list(made.feeds), None)
    assert isinstance(prepared, Prepared)
    if prepared.native is None:
        raise NotThere
    instructions = json.loads(prepared.native.describe())["blocks"][0]["instructions"]
    ours = [i.get("library", "") for i in instructions if i["node"] == "node"]
    if not any("drystone_gpu" in library for library in ours):
        raise NotThere
    return made.run()


def golden(ops: set[str]) -> Iterator[tuple[str, str]]:
    """Each case of these ops, and what differs."""
    for family in oracle.families():
        if ops.isdisjoint(c.op for c in oracle.load(family)):
            continue
        for item, want in oracle.recorded(family):
            if item.op in ops:
                try:
                    yield item.label(), oracle.disagreement(item, want) or ""
                except NotThere:
                    yield item.label(), "not there"


def random(ops: set[str]) -> Iterator[tuple[str, str]]:
    """The same of random ones."""
    for row in load_random():
        if row["op"] not in ops:
            continue
        item = draw_case(row["op"], row["seed"])
        try:
            verdict = judging.judge(item, answer_of(row), LOOSE)
        except NotThere:
            yield item.label(), "not there"
            continue
        is_well = verdict.kind in ("equal", "refused", "known", "skipped")
        yield f"seed {row['seed']}: {item.label()}", "" if is_well else verdict.text


def main() -> int:
    """Run all."""
    warnings.simplefilter("ignore")
    load_library(sys.argv[1], developer_mode=True)
    vars(oracle)["run_op"] = run_there
    there = {op for op, rows in registered().items() if any(k.device == "GPU" for k in rows)}
    ops = there & set(sys.argv[2:]) if sys.argv[2:] else there
    counts = Counter[str]()
    for kind, cases in (("golden", golden(ops)), ("random", random(ops))):
        for title, said in cases:
            counts["elsewhere" if said == "not there" else kind] += 1
            if said not in ("", "not there"):
                counts["wrong"] += 1
                print(f"{title}: {said}"[:300], flush=True)
    print(json.dumps({"ops": len(ops), **{k: counts[k] for k in sorted({"wrong", *counts})}}))
    return int(counts["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
