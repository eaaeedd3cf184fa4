"""Fuzz what reads bytes or calls from plugins: `python -m ci.scripts.fuzz [options] [TARGET ...]`.

Targets in C++ are files named *_fuzz.cc in plugin-abi/tests/fuzz, packages/base/host/tests/fuzz and
packages/network/tests/fuzz; each is built with the host's sources under ASan and UBSan with
coverage feedback, and run by plugin-abi/tests/fuzz/driver.cc. Targets in Python are functions of
ci.scripts.fuzz_python. Every target keeps a corpus in plugin-abi/tests/fuzz/corpus/TARGET.tar.xz;
what a run adds is kept with --keep.
Each run is logged to plugin-abi/tests/fuzz/log.jsonl (target, runs, seconds, finding) with --log.

  python -m ci.scripts.fuzz --list
  python -m ci.scripts.fuzz --runs 20000              a short run of every target, as in tests
  python -m ci.scripts.fuzz --seconds 600 --keep --log graph_view

Exit status: 0 without a finding, 1 with one (its input is left as crash-SEED), 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ci.scripts import fuzz_python
from ci.scripts.project import ROOT

__all__ = ["Result", "main", "run_target", "targets"]

NETWORK = ROOT / "packages/network"
FOLDERS = (
    ROOT / "plugin-abi/tests/fuzz",
    ROOT / "packages/base/host/tests/fuzz",
    NETWORK / "tests/fuzz",
)
CORPUS = ROOT / "plugin-abi/tests/fuzz/corpus"
LOG = ROOT / "plugin-abi/tests/fuzz/log.jsonl"
_RUNS = re.compile(r"(\d+) runs in ([\d.]+) s")


@dataclass(frozen=True)
class Result:
    """What one run of one target gave; `finding` is "" when there was none."""

    target: str
    runs: int
    seconds: float
    corpus: int
    finding: str


def targets() -> dict[str, Path | None]:
    """Sources of targets by name; None for one in Python."""
    native = {f.stem.removesuffix("_fuzz"): f for d in FOLDERS for f in d.glob("*_fuzz.cc")}
    return dict(sorted((native | dict.fromkeys(fuzz_python.TARGETS)).items()))


def _build(source: Path) -> Path:
    """The target with its own code and the host's under coverage feedback.

    A target of drystone-network includes the sources that it fuzzes, which are no part of the host.
    """
    sys.path[:0] = [str(ROOT / "packages/base/tests"), str(ROOT / "plugin-abi/tests")]
    import host_programs

    return host_programs.build_fuzzer(source, FOLDERS[0] / "driver.cc", NETWORK / "native")


def _run_native(name: str, source: Path, limits: Sequence[str], corpus: Path) -> Result:
    program = _build(source)
    start = time.monotonic()
    done = subprocess.run([str(program), *limits, str(corpus)], capture_output=True, text=True)
    found = _RUNS.search(done.stdout)
    runs, seconds = (int(found[1]), float(found[2])) if found else (0, time.monotonic() - start)
    finding = "" if done.returncode == 0 else (done.stdout + done.stderr)[-4000:]
    return Result(name, runs, round(seconds, 1), len(list(corpus.iterdir())), finding)


def run_target(name: str, runs: int, seconds: int, seed: int, keep: bool) -> Result:
    """Run one target; its corpus is only added to when `keep` is true."""
    source, archive = targets()[name], CORPUS / f"{name}.tar.xz"
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Path(scratch) / name
        corpus.mkdir()
        if archive.exists():
            with tarfile.open(archive) as packed:
                packed.extractall(corpus, filter="data")
        if source is None:
            result = Result(name, *fuzz_python.run(name, runs, seconds, seed, corpus))
        else:
            limits = [f"-runs={runs}", f"-seconds={seconds}", f"-seed={seed}"]
            result = _run_native(name, source, limits, corpus)
        if keep:
            _pack(corpus, archive)
    return result


def _pack(corpus: Path, archive: Path) -> None:
    """Write the corpus; equal contents give equal bytes."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for file in sorted(corpus.iterdir()):
            entry = tarfile.TarInfo(file.name)
            entry.size = file.stat().st_size
            with file.open("rb") as stream:
                packed.addfile(entry, stream)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all")
    parser.add_argument("--list", action="store_true", help="print the targets and stop")
    parser.add_argument("--runs", type=int, default=100_000, help="executions a target")
    parser.add_argument("--seconds", type=int, default=0, help="stop a target after that long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="add finds to the kept corpus")
    parser.add_argument("--log", action="store_true", help="append to log.jsonl")
    parser.add_argument("--json", action="store_true", help="print results as JSON lines")
    return parser.parse_args(arguments)


def _show(result: Result, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(result)), flush=True)
        return
    state = "FOUND" if result.finding else "no finding"
    rate = result.runs / result.seconds if result.seconds else 0
    print(
        f"{result.target:<24}{result.runs:>12,} runs {result.seconds:>8.1f} s "
        f"{rate:>9,.0f}/s  corpus {result.corpus:>5}  {state}",
        flush=True,
    )
    if result.finding:
        print(result.finding)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the targets asked for."""
    options = _arguments(arguments)
    known = targets()
    unknown = [name for name in options.targets if name not in known]
    if unknown or options.list:
        print("\n".join(known) if not unknown else f"unknown: {', '.join(unknown)}")
        return 2 if unknown else 0
    found = False
    for name in options.targets or known:
        result = run_target(name, options.runs, options.seconds, options.seed, options.keep)
        _show(result, options.json)
        found = found or bool(result.finding)
        if options.log:
            row = asdict(result) | {"day": time.strftime("%Y-%m-%d"), "seed": options.seed}
            with LOG.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
