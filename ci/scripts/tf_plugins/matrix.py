"""Recorded models beside Intel's plugin in every configuration: `... tf_plugins.matrix [FOLDER]`.

FOLDER is the unpacked wheel; without one it comes from the package index. The configurations are
all of optimizer (on; on without plugins'; off) x order of loading (drystone-cpu first, Intel's
first, without drystone-cpu, and installed: found in site-packages, where the wheel is installed in
this environment) x threads (1, 2). Each is a process of its own that runs every model of
../shared/models (or --models); where it dies, the model that it died of is a crash, and another
process goes on with the next one. ONNX files are left out.

Prints a line per run and per configuration, then a table. --log FILE has a line of JSON per run,
written as soon as it is over; what FILE has already is not run again, so a matrix that was ended
goes on where it was. Exit status 1 where a process died, a model could not run, a value is off, no
model has fusions of Intel's where its optimizer runs, or wheel or models cannot be had.
`nox -s intel_matrix` installs the wheel.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ci.scripts.project import ROOT
from ci.scripts.tf_plugins.__main__ import WHEELS, WORK, download, unpack
from ci.scripts.tf_plugins.itex import LIBRARY, WRONG

__all__ = ["CONFIGURATIONS", "Configuration", "Row", "main", "models_of", "table"]

MODELS = ROOT.parent / "shared" / "models"
OPTIMIZERS = ("on", "no plugins", "off")
ORDERS = ("cpu first", "intel first", "no cpu", "installed")
_SECONDS_EACH = 300.0
_STARTED, _ENDED = "begin", "end"


@dataclass(frozen=True)
class Configuration:
    """One cell of the matrix."""

    optimizer: str
    order: str
    threads: int

    def __str__(self) -> str:
        return f"optimizer {self.optimizer}, {self.order}, {self.threads} thread(s)"


CONFIGURATIONS = tuple(Configuration(*one) for one in product(OPTIMIZERS, ORDERS, (1, 2)))


@dataclass(frozen=True)
class Row:
    """What came of one model in one configuration."""

    model: str
    outcome: str
    worst: float = 0.0
    allowed: float = 0.0
    fused: int = 0
    seconds: float = 0.0
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether it is as it should be."""
        return self.outcome in ("ok", "known")


def models_of(folder: Path, only: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Rows of the index that drystone can load, those named alone where some are."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    return [
        row for row in index["models"]
        if row["format"] != "onnx" and (not only or row["name"] in only)
    ]  # fmt: skip


def _command(one: Configuration, library: Path, folder: Path, names: list[str]) -> list[str]:
    words = [sys.executable, "-m", "ci.scripts.tf_plugins.matrix_child"]
    words += [one.optimizer, one.order, str(one.threads), str(library), str(folder)]
    return [*words, *names]


def _environment(one: Configuration) -> dict[str, str]:
    settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_PLUGIN")}
    settings |= {"ITEX_VERBOSE": "0", "DRYSTONE_PLUGIN_POLICY": "allow_unverified"}
    settings["PYTHONWARNINGS"] = "ignore"
    settings["DRYSTONE_TF_PLUGINS"] = "1" if one.order == "installed" else "0"
    if one.order == "no cpu":
        settings["DRYSTONE_PLUGINS_DISABLE"] = "drystone-cpu"
    return settings


def _run(one: Configuration, library: Path, folder: Path, names: list[str]) -> Iterator[Row]:
    """A row per model; a process that dies gives its model a row, and the next one goes on."""
    left = list(names)
    while left:
        ended = _Ended()
        begin, most = time.monotonic(), _SECONDS_EACH * len(left)
        for row in _rows(_command(one, library, folder, left), _environment(one), most, ended):
            yield row
            left.remove(row.model)
        if ended.code == 0 and not left:
            return
        dead = ended.running or (left[0] if left else "the process's end")
        why = f"{_ending(ended, most)}; {_last_line(ended.errors)}"
        yield Row(dead, "crash", seconds=time.monotonic() - begin, why=why)
        left = left[1:]


@dataclass
class _Ended:
    """How a process ended, the model that it was at, and what it wrote to standard error."""

    code: int = 0
    is_late: bool = False
    running: str = ""
    errors: str = ""


def _rows(
    words: Sequence[str], settings: dict[str, str], most: float, ended: _Ended
) -> Iterator[Row]:
    """The rows of a process as it prints them; it has so many seconds."""
    with (
        tempfile.TemporaryFile("w+", errors="replace") as errors,
        subprocess.Popen(
            words, cwd=ROOT, env=settings, stdout=-1, stderr=errors, text=True
        ) as child,
    ):
        timer = threading.Timer(most, child.kill)
        timer.start()
        for line in child.stdout or ():
            word, _, rest = line.rstrip("\n").partition("\t")
            if word == _STARTED:
                ended.running = rest
            elif word == _ENDED:
                ended.running = ""
                yield Row(**json.loads(rest))
        ended.code = child.wait()
        ended.is_late = not timer.is_alive()
        timer.cancel()
        errors.seek(0)
        ended.errors = errors.read()


def _ending(ended: _Ended, seconds: float) -> str:
    if ended.is_late:
        return f"it did not end within {seconds:.0f} s"
    if ended.code < 0:
        return f"it died by {signal.Signals(-ended.code).name}"
    return f"it ended with status {ended.code}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it printed nothing"


def table(found: dict[Configuration, list[Row]]) -> str:
    """How many models held in each configuration; what did not, below."""
    lines = [
        f"{'optimizer':<12}{'order':<14}{'threads':>7}  {'ok':>4}{'known':>7}{'bad':>5}  fused"
    ]
    for one, rows in found.items():
        count = Counter(row.outcome for row in rows)
        bad = sum(not row.holds for row in rows)
        fused = sum(row.fused for row in rows)
        lines.append(
            f"{one.optimizer:<12}{one.order:<14}{one.threads:>7}"
            f"  {count['ok']:>4}{count['known']:>7}{bad:>5}  {fused}"
        )
    for one, rows in found.items():
        lines += [f"{one}: {r.model}: {r.outcome}: {r.why}" for r in rows if not r.holds]
    for name in sorted({r.model for rows in found.values() for r in rows if r.outcome == "known"}):
        lines.append(f"known: {name}: {WRONG[name]}")
    return "\n".join(lines)


def _from_the_index() -> Path | str:
    """The unpacked wheel, or why there is none."""
    wheel = download(WHEELS["itex"], WORK)
    return wheel if isinstance(wheel, str) else unpack(wheel, WORK)


def _installed() -> bool:
    """Whether Intel's wheel is installed in this environment."""
    from importlib import metadata

    try:
        metadata.distribution("intel-extension-for-tensorflow-lib")
    except metadata.PackageNotFoundError:
        return False
    return True


def _chosen(options: argparse.Namespace) -> list[Configuration]:
    """The configurations asked for."""
    return [
        one for one in CONFIGURATIONS
        if one.optimizer in (options.optimizer or OPTIMIZERS)
        and one.order in (options.order or ORDERS)
        and one.threads in (options.threads or (1, 2))
    ]  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", help="the unpacked wheel")
    parser.add_argument("--models", type=Path, default=MODELS, help="recorded models")
    parser.add_argument("--model", action="append", default=[], help="this one only; repeatable")
    parser.add_argument("--optimizer", action="append", choices=OPTIMIZERS)
    parser.add_argument("--order", action="append", choices=ORDERS)
    parser.add_argument("--threads", action="append", type=int, choices=(1, 2))
    parser.add_argument(
        "--log", type=Path, metavar="FILE", help="append a row per run; those that it has are over"
    )
    return parser


class _Log:
    """Rows of runs that are over, those of earlier processes too where they are in a file."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.rows: dict[Configuration, list[Row]] = {}
        for line in file.read_text("utf-8").splitlines() if file and file.is_file() else ():
            facts = json.loads(line)
            one = Configuration(*(facts.pop(name) for name in ("optimizer", "order", "threads")))
            self.rows.setdefault(one, []).append(Row(**facts))

    def add(self, one: Configuration, row: Row) -> None:
        self.rows.setdefault(one, []).append(row)
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(asdict(one) | asdict(row)) + "\n")

    def left(self, one: Configuration, names: Sequence[str]) -> list[str]:
        """The models of that configuration that have not run."""
        over = {row.model for row in self.rows.get(one, ())}
        return [name for name in names if name not in over]


def _fill(log: _Log, one: Configuration, names: list[str], library: Path, folder: Path) -> None:
    """Run what is left of a configuration, and print what came of all of it."""
    begin, left = time.monotonic(), log.left(one, names)
    for row in _run(one, library, folder, left) if left else ():
        log.add(one, row)
        print(f"  {row.model}: {row.outcome} ({row.seconds:.0f} s)", flush=True)
    rows = log.rows.setdefault(one, [])
    bad = [row for row in rows if not row.holds]
    took = f"{time.monotonic() - begin:.0f} s for {len(left)}"
    print(f"{one}: {len(rows) - len(bad)} of {len(rows)} hold ({took})", flush=True)
    for row in bad:
        print(f"  {row.model}: {row.outcome}: {row.why}", flush=True)


def _unfused(found: dict[Configuration, list[Row]]) -> list[Configuration]:
    """Where Intel's optimizer ran, fusions were counted, and no model has any."""
    return [
        one for one, rows in found.items()
        if one.optimizer == "on" and one.threads == 1 and not any(row.fused for row in rows)
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the matrix; 0 where everything holds."""
    options = _parser().parse_args(arguments)
    chosen = _chosen(options)
    if not (options.models / "index.json").is_file():
        print(f"failed: there are no recorded models in {options.models}")
        return 1
    if any(one.order == "installed" for one in chosen) and not _installed():
        print("failed: order 'installed': intel-extension-for-tensorflow-lib is not installed")
        return 1
    folder = options.folder or _from_the_index()
    if isinstance(folder, str):
        print(f"failed: the wheel cannot be had here: {folder}")
        return 1
    names = [row["name"] for row in models_of(options.models, options.model)]
    log = _Log(options.log)
    for one in chosen:
        _fill(log, one, names, folder / LIBRARY, options.models)
    found = {one: log.rows[one] for one in chosen}
    print(table(found))
    without = [] if options.model else _unfused(found)
    for one in without:
        print(f"{one}: no model has a fusion of Intel's")
    return int(bool(without) or any(not row.holds for rows in found.values() for row in rows))


if __name__ == "__main__":
    sys.exit(main())
