"""NaN, infinities, -0, subnormals, empties and extreme integers in every op, beside TensorFlow.

extremes.py [--seconds S] [--seed N] [--only OP,OP] [--cases K] [--huge] [--log FILE] [--json FILE]

Run with a Python that has tensorflow, drystone-base and drystone-cpu. Valid cases of each op
(golden ones, ones cut out of recorded models, drawn ones) are changed in each input in turn, then
in two at once, and answered by TensorFlow, by the reference executor, by the native one, and by
that with drystone-cpu's kernels, each in a process that may die or hang. It goes round all ops
until the time is over (at least once), and goes on where the log ends when it is run again. What
differs on purpose is in packages/base/tests/parity/differences.py and on the page of coverage.
`--huge`: whole numbers near the ends of their range instead, several in an input, so that products
of sizes leave it. `--only OP --case NUMBER` shows one case. The status is 1 if something differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packages" / "base" / "tests"))

MOST_SHOWN = 3  # of an op, executor and way to differ
MOST_DEATHS = 6  # of TensorFlow's process, in one op and round: each costs seconds
FINE = ("equal", "refused", "known", "skipped", "no kernel")


class Log:
    """Lines of JSON: what differed, and how many cases of an op were done in a round."""

    def __init__(self, path: Path | None, seed: int) -> None:
        self.path, self.seed = path, seed
        self.done: set[tuple[int, str]] = set()
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.found: list[dict[str, Any]] = []
        for row in self._rows():
            if "counts" in row:
                self.done.add((row["round"], row["op"]))
                self.counts[row["op"]].update(row["counts"])
            else:
                self.found.append(row)

    def add(self, row: dict[str, Any]) -> None:
        """Write a line."""
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"seed": self.seed, **row}) + "\n")

    def _rows(self) -> Iterator[dict[str, Any]]:
        if self.path is None or not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["seed"] == self.seed:
                yield row


class Run:
    """The processes, and what they find."""

    def __init__(self, log: Log, patience: float, huge: bool = False) -> None:
        from extremes.process import Ours, Tensorflow
        from extremes.verdicts import BACKENDS

        self.log, self.huge = log, huge
        self.plain, self.onednn = Tensorflow(3 * patience), Tensorflow(3 * patience, onednn=True)
        self.theirs = self.plain
        self.ours = [Ours(role, patience) for role in BACKENDS]
        self.shown: Counter[tuple[str, str, str]] = Counter()

    def batch(self, op: str, number: int, cases: int) -> None:
        """Round ``number`` of an op."""
        from extremes.changes import changed_case

        counts: Counter[str] = Counter()
        deaths = 0
        for k in range(number * cases, (number + 1) * cases):
            item, change = changed_case(op, self.log.seed, k, self.huge)
            want = self._answer(item)
            deaths += isinstance(want, str) and want.startswith("skip: TensorFlow: ")
            for backend, verdict in self._verdicts(item, want):
                counts[
                    f"{backend} {verdict.way if verdict.kind == 'differs' else verdict.kind}"
                ] += 1
                if verdict.kind not in FINE:
                    self._found(op, k, change, item, backend, verdict)
            if deaths == MOST_DEATHS:
                break
        self.log.counts[op].update(counts)
        self.log.add({"op": op, "round": number, "counts": counts})

    def _answer(self, item: Any) -> Any:
        import oracle

        wanted = self.onednn if oracle.needs_onednn(item) else self.plain
        if wanted is not self.theirs:
            self.theirs.close()  # one process of TensorFlow at a time
            self.theirs = wanted
        self.theirs.send(item)
        answer = self.theirs.answer()
        if "Shape mismatch in the collective" in getattr(answer, "message", ""):
            # Its process keeps the shape that a key had in an earlier case, and is aborted now.
            self.theirs.close()
            self.theirs.send(item)
            answer = self.theirs.answer()
        return answer

    def _verdicts(self, item: Any, want: Any) -> Iterator[tuple[str, Any]]:
        refuses: bool | None = None
        for process in self.ours:
            process.send(item, want)
        for process in self.ours:
            for backend, verdict in process.verdicts():
                if verdict.way == "hang" and isinstance(want, str) and "hang" in want:
                    verdict = type(verdict)("skipped", text=want)
                if verdict.kind == "differs" and verdict.way in ("we refuse", "shapes"):
                    if refuses is None:
                        refuses = self.theirs.refuses_in_graph(item)
                    if refuses:
                        verdict = type(verdict)("refused", text=verdict.text)
                yield backend, verdict

    def _found(self, op: str, k: int, change: str, item: Any, backend: str, verdict: Any) -> None:
        row = {
            "op": op, "case": k, "executor": backend, "way": verdict.way, "change": change,
            "label": item.label(), "text": verdict.text,
        }  # fmt: skip
        self.log.found.append(row)
        self.log.add(row)
        self.shown[op, backend, verdict.way] += 1
        if self.shown[op, backend, verdict.way] <= MOST_SHOWN:
            print(f"{op} case {k}, {backend}, {verdict.way}: {change}: {verdict.text}", flush=True)

    def close(self) -> None:
        """End the processes."""
        self.theirs.close()
        for process in self.ours:
            process.close()


def show(op: str, seed: int, number: int, patience: float, huge: bool = False) -> int:
    """One case: its inputs, TensorFlow's answer, and what each executor makes of it."""
    from extremes.changes import changed_case

    item, change = changed_case(op, seed, number, huge)
    print(f"{item.label()}\nchange: {change}\nattributes: {item.attrs}")
    for k, value in enumerate(item.inputs):
        print(f"input {k}: {value!r}")
    run = Run(Log(None, seed), patience)
    want = run._answer(item)
    print(f"TensorFlow: {want!r} {getattr(want, 'message', '')}")
    verdicts = list(run._verdicts(item, want))
    for backend, verdict in verdicts:
        print(f"{backend}: {verdict}")
    run.close()
    return int(any(verdict.kind not in FINE for _, verdict in verdicts))


def go_round(run: Run, names: list[str], options: argparse.Namespace) -> int:
    """Whole rounds over the ops until the time is over; how many were done."""
    end = time.monotonic() + options.seconds
    number = 0
    while True:
        for op in names:
            if (number, op) not in run.log.done:
                run.batch(op, number, options.cases)
            if number and time.monotonic() > end:
                return number
        number += 1
        print(f"round {number} of {len(names)} ops is done", flush=True)
        if time.monotonic() > end:
            return number


def summary(log: Log) -> dict[str, Any]:
    """Counts of all ops together and of each, and what differed."""
    total: Counter[str] = Counter()
    for counts in log.counts.values():
        total.update(counts)
    differ = sorted({(row["op"], row["executor"], row["way"]) for row in log.found})
    return {"counts": total, "ops": log.counts, "differ": differ, "found": log.found}


def main(arguments: list[str] | None = None) -> int:
    """Run the cases, print what differs and how many there were."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0, help="time; one round without")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="names of ops, separated by commas")
    parser.add_argument("--cases", type=int, default=24, help="cases an op and round")
    parser.add_argument("--huge", action="store_true", help="numbers near the ends of their range")
    parser.add_argument("--case", type=int, help="show one case of the op that --only names")
    parser.add_argument("--patience", type=float, default=20, help="seconds a case may take")
    parser.add_argument("--log", type=Path, help="lines of JSON; a run goes on where it ends")
    parser.add_argument("--json", type=Path, help="write the summary here")
    options = parser.parse_args(arguments)
    if options.case is not None:
        return show(options.only, options.seed, options.case, options.patience, options.huge)
    from extremes.bases import ops

    names = options.only.split(",") if options.only else ops()
    if unknown := sorted({*names} - {*ops()}):
        parser.error(f"there are no cases of {', '.join(unknown)}")
    log = Log(options.log, options.seed)
    run = Run(log, options.patience, options.huge)
    try:
        rounds = go_round(run, names, options)
    finally:
        run.close()
    found = summary(log)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for op, backend, way in found["differ"]:
        print(f"differs: {op}, {backend}: {way}")
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(found["counts"].items()))
    print(f"extremes: seed {options.seed}, {len(names)} ops, {rounds} whole rounds: {kinds}")
    return int(bool(log.found))


if __name__ == "__main__":
    sys.exit(main())
