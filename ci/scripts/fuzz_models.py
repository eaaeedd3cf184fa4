"""Fuzz loaders and sessions by coverage: `python -m ci.scripts.fuzz_models [options] TARGET`.

Targets are those of packages/base/tests/model_targets.py: `load` (model files of every format)
and `run` (programs and models with mutated nodes). Needs `atheris` (PyPI, Python 3.11 to 3.13); the
rest of the options of libFuzzer are set here. The corpus is packages/base/tests/fuzz/corpus/
TARGET.tar.xz; --keep packs what a run adds, least inputs of equal coverage only. --log adds a line
to packages/base/tests/fuzz/log.jsonl. A finding does not end a run: its input and traceback go to
--findings, one a place. A run is bounded in memory (--memory MiB of address space).

Exit status: 0 without a finding, 1 with one, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FUZZ = ROOT / "packages/base/tests/fuzz"
SLOW = 20.0  # seconds: ten times the deadline of a run
NEEDED = (
    ".",
    "packages/base/src",
    "plugin-abi/src",
    "packages/base/tests",
    "packages/base/tests/fuzz",
)


class Watch:
    """Counts executions and writes findings down."""

    def __init__(self, target: Any, findings: Path) -> None:
        self.target, self.findings = target, findings
        self.runs, self.seen = 0, set[str]()

    def __call__(self, data: bytes) -> None:
        """Run one input."""
        self.runs += 1
        start, before = time.monotonic(), _peak()
        try:
            self.target(data)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            place = f"{type(error).__name__} at {frames[-1].filename}:{frames[-1].lineno}"
            self.note(place, data, traceback.format_exc())
        taken, grown = time.monotonic() - start, _peak() - before
        if taken > SLOW:
            self.note(f"slow {data[:2].hex()}", data, f"{taken:.1f} s")
        if grown > 2 << 20:
            self.note(f"memory {data[:2].hex()}", data, f"{grown >> 10} MiB more at the peak")
        if self.runs % 50 == 0:
            (self.findings / "runs").write_text(str(self.runs))

    def note(self, place: str, data: bytes, text: str) -> None:
        """Keep the first finding of a place."""
        if place in self.seen:
            return
        self.seen.add(place)
        stem = self.findings / f"finding-{len(self.seen)}"
        stem.with_suffix(".bin").write_bytes(data)
        stem.with_suffix(".txt").write_text(f"{place}\n{text}")
        print(f"FINDING {place}", flush=True)


def _peak() -> int:
    """The most memory that this process has held, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _fuzz(given: argparse.Namespace, corpus: Path) -> None:
    """In a process of its own, as libFuzzer ends it."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["drystone_base"]):
        import drystone_base.api.model
        import drystone_base.kernels
    from model_targets import TARGETS, seeds

    from drystone_base.kernels import _limits

    drystone_base.kernels.all_ops()
    for k, seed in enumerate(seeds(given.target)):
        (corpus / f"seed-{k}").write_bytes(seed)
    TARGETS[given.target](b"")  # what is made once, and slowly
    limit = given.memory << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    _limits.byte_limit.cache_clear()
    watch = Watch(TARGETS[given.target], given.findings)
    options = [f"-max_total_time={given.seconds}", f"-seed={given.seed}", "-timeout=120"]
    size = {"load": 20000, "run": 96}[given.target]
    options += [f"-max_len={size}", "-rss_limit_mb=0", "-len_control=0", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], watch)
    atheris.Fuzz()


def _pack(corpus: Path, archive: Path, limit: int) -> None:
    """Write the corpus, its smallest inputs, at most `limit`; equal files give equal bytes."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    files = sorted(corpus.iterdir(), key=lambda f: (f.stat().st_size, f.name))[:limit]
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for file in files:
            entry = tarfile.TarInfo(file.name)
            entry.size = file.stat().st_size
            with file.open("rb") as stream:
                packed.addfile(entry, stream)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=["load", "run"])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", type=int, default=8192, help="MiB of address space")
    parser.add_argument("--findings", type=Path, help="a folder; a temporary one by default")
    parser.add_argument("--keep", type=int, default=0, help="pack this many inputs of the corpus")
    parser.add_argument("--log", action="store_true")
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_child(given: argparse.Namespace, corpus: Path) -> int:
    """Run libFuzzer in a child until the time is up, again after a crash; its last status."""
    path = os.pathsep.join([*(str(ROOT / p) for p in NEEDED), os.environ.get("PYTHONPATH", "")])
    command = [
        sys.executable,
        "-m",
        "ci.scripts.fuzz_models",
        given.target,
        "--corpus",
        str(corpus),
    ]
    command += ["--seconds", str(given.seconds), "--seed", str(given.seed)]
    command += ["--memory", str(given.memory), "--findings", str(given.findings)]
    env = os.environ | {"PYTHONPATH": path}
    with (given.findings / "libfuzzer.log").open("ab") as out:
        return subprocess.call(command, env=env, stdout=out, stderr=out, cwd=given.findings)


def main() -> int:
    """See the top of the file."""
    given = _arguments()
    if given.corpus:
        _fuzz(given, given.corpus)
        return 0
    given.findings = (given.findings or Path(tempfile.mkdtemp())).resolve()
    given.findings.mkdir(parents=True, exist_ok=True)
    corpus, archive = given.findings / "corpus", FUZZ / "corpus" / f"{given.target}.tar.xz"
    corpus.mkdir(exist_ok=True)
    if archive.exists():
        with tarfile.open(archive) as packed:
            packed.extractall(corpus, filter="data")
    start = time.monotonic()
    status = _in_child(given, corpus)
    found = sorted(given.findings.glob("finding-*.txt"))
    texts = [file.read_text().splitlines()[0] for file in found]
    if status not in (0,):
        texts.append(f"ended with status {status}: see {given.findings}/libfuzzer.log")
    counted = given.findings / "runs"
    row = {
        "target": given.target,
        "runs": int(counted.read_text()) if counted.exists() else 0,
        "seconds": round(time.monotonic() - start, 1),
        "corpus": len(list(corpus.iterdir())),
        "finding": "; ".join(texts),
        "day": datetime.now(UTC).date().isoformat(),
        "seed": given.seed,
    }
    print(json.dumps(row))
    if given.keep:
        _pack(corpus, archive, given.keep)
    if given.log:
        with (FUZZ / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
    return 1 if texts else 0


if __name__ == "__main__":
    sys.exit(main())
