"""Models by drystone-cpu and by TensorFlow, in turn: time of a call and memory, as ratios.

Usage: ``python packages/cpu/bench/paired.py --models FOLDER --tensorflow PYTHON [NAME...]``, where
PYTHON has TensorFlow and FOLDER an ``index.json`` with recorded cases. Both engines stay alive and
take turns of a fraction of a second, so that a slow spell of the machine hits both.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("_worker.py")


class Engine:
    """A process that holds one model."""

    def __init__(self, python: str, given: dict[str, Any]) -> None:
        threads = str(given["threads"])
        environment = {
            **os.environ, "OMP_NUM_THREADS": threads, "DRYSTONE_NUM_THREADS": threads,
            "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1",
        }  # fmt: skip
        if given["engine"] == "tensorflow":
            environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, str(WORKER), json.dumps(given)], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.answer()

    def answer(self) -> dict[str, float]:
        """The next line. Raises ``RuntimeError`` with what the process said instead."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            said = (self.process.communicate()[1] or "").strip().splitlines()
            raise RuntimeError(said[-1] if said else "ended")
        found: dict[str, float] = json.loads(line)
        return found

    def ask(self, request: str) -> dict[str, float]:
        """What it answers to a request."""
        assert self.process.stdin
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    """What the engines are told of each model: its first case, or one training step."""
    found = {}
    for row in json.loads((folder / "index.json").read_text(encoding="utf-8"))["models"]:
        ref, home = row["refs"][0], folder / row["name"]
        if row["format"] == "onnx":
            continue
        is_step = ref["kind"] == "train"
        inputs = {ref["x"]: "x", ref["y"]: "y"} if is_step else ref["inputs"]
        outputs = [ref["loss"], ref["train_op"]] if is_step else list(ref["outputs"])
        found[row["name"]] = {
            "file": str(home / row["file"]), "case": str(home / ref["file"]), "inputs": inputs,
            "outputs": outputs, "format": row["format"], "first": is_step,
        }  # fmt: skip
    return found


def compare(given: dict[str, Any], tensorflow: str, threads: int, rounds: int) -> dict[str, float]:
    """Medians over the rounds, and least, of both engines; and their memory."""
    engines: list[Engine] = []
    try:
        for name, python in (("drystone", sys.executable), ("tensorflow", tensorflow)):
            engines.append(Engine(python, {**given, "engine": name, "threads": threads}))
        memory = [engine.ask("peak") for engine in engines]
        turns = [[engine.ask("run 0.1") for engine in engines] for _ in range(rounds)]
    finally:
        for engine in engines:
            engine.close()
    out: dict[str, float] = {}
    for k, name in enumerate(("ours", "theirs")):
        out[name] = statistics.median(turn[k]["median"] for turn in turns)
        out[name + "_least"] = min(turn[k]["least"] for turn in turns)
        out[name + "_cpu"] = min(turn[k]["cpu"] for turn in turns)
        out[name + "_peak"] = memory[k]["peak"]
        out[name + "_grown"] = memory[k]["peak"] - memory[k]["before"]
    out["ratio"] = statistics.median(a["median"] / b["median"] for a, b in turns)
    return out


def line(name: str, row: dict[str, float]) -> str:
    """A row of the table."""
    cells = [f"{row[who] * 1e3:.3f}" for who in ("ours", "theirs")] + [f"{row['ratio']:.2f}"]
    cells += [f"{row['ours_' + what] / row['theirs_' + what]:.2f}" for what in ("least", "cpu")]
    cells += [f"{row[who + '_peak'] / 1e6:.0f}" for who in ("ours", "theirs")]
    cells += [f"{row['ours_peak'] / row['theirs_peak']:.2f}"]
    cells += [f"{row[who + '_grown'] / 1e6:.0f}" for who in ("ours", "theirs")]
    return f"| {' | '.join([name, *cells])} |"


HEAD = (
    "| model | ours, ms | TensorFlow, ms | ratio | of least | of processor time "
    "| peak, MB | TensorFlow's | ratio | above imports, MB | TensorFlow's |\n" + "|---" * 11 + "|"
)


def main() -> int:
    """Print a table; 1 when a model could not be measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="models (default: all)")
    parser.add_argument("--models", type=Path, required=True, help="folder with index.json")
    parser.add_argument("--tensorflow", required=True, help="a Python that has TensorFlow")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    known, failed = cases(options.models), 0
    print(HEAD)
    for name in options.names or known:
        try:
            row = compare(known[name], options.tensorflow, options.threads, options.rounds)
            print(line(name, row), flush=True)
        except RuntimeError as error:
            failed += 1
            print(f"| {name} | {error} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
