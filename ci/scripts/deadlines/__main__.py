"""Deadlines inside kernels that take long: deadlines [--only TEXT] [--executor NAME] [--json FILE]

Each kernel of a table runs in a process of its own with a deadline of a second, in its node's first
run, so that preparation counts, too; then in one without a deadline, which gets Ctrl-C after a
second. Modules are imported before. What ends later than half a second after its time, or keeps its
process from ending for more than two, is printed with a mark, and the status is 1. A kernel that is
over before shows nothing: its row says "brief". "left": it goes on in a thread of its own. What the
caller's thread waited for a processor that others had is told, and does not count as late.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from ci.scripts.deadlines.table import SMALL, TABLE
from ci.scripts.project import ROOT

_DEADLINE = 1.0
_LATE = 0.5
_END = 2.0
_MOST = 120.0
"""Seconds for one process, which makes its inputs first."""


def kept_waiting() -> float:
    """Seconds that this thread could have run, and had no processor; 0 where nothing tells."""
    try:
        text = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat").read_text("ascii")
    except OSError:
        return 0.0
    return int(text.split()[1]) / 1e9


def one(name: str, executor: str, way: str) -> None:
    """Run one kernel in this process and print how long it took and how it ended."""
    from drystone_base import KernelError, Session, SessionConfig

    signal.signal(signal.SIGINT, signal.default_int_handler)
    config: dict[str, Any] = {"executor": executor}
    warmed, feeds = SMALL.graph()
    Session(warmed, SessionConfig(**config)).run("long:0", feeds)
    config |= {"deadline": _DEADLINE} if way == "deadline" else {}
    graph, feeds = TABLE[name].graph()
    session = Session(graph, SessionConfig(**config))
    if way == "ctrl-c":
        threading.Timer(_DEADLINE, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin, before = time.monotonic(), kept_waiting()
    try:
        session.run("long:0", feeds)
        how = "brief"
    except KernelError as error:
        how = "left" if "has not returned" in str(error) else error.code
    except KeyboardInterrupt:
        how = "interrupted"
    seconds, waited = time.monotonic() - begin, kept_waiting() - before
    print(json.dumps({"seconds": seconds, "waited": waited, "how": how}), flush=True)
    if how == "brief":
        os._exit(0)


def measured(name: str, executor: str, way: str) -> dict[str, Any]:
    """One row: the seconds until the run ended, and from then until the process did."""
    command = (sys.executable, "-W", "ignore", "-m", "ci.scripts.deadlines", "--one", name)
    row: dict[str, Any] = {"name": name, "executor": executor, "way": way, "end": 0.0}
    row["waited"] = 0.0
    with subprocess.Popen(
        (*command, executor, way), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=ROOT,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stderr is not None
        guard = threading.Timer(_MOST, child.kill)
        guard.start()
        said = child.stdout.readline()
        begin = time.monotonic()
        errors = child.stderr.read()
        child.wait()
        guard.cancel()
    if not said:
        last = (errors.strip().splitlines() or [f"status {child.returncode}"])[-1]
        return row | {"seconds": 0.0, "how": last[:160]}
    found: dict[str, Any] = json.loads(said)
    return row | found | {"end": time.monotonic() - begin}


def is_good(row: dict[str, Any]) -> bool:
    """Whether the row is as it should be."""
    ends = {"deadline": ("deadline-exceeded", "left"), "ctrl-c": ("interrupted",)}[row["way"]]
    if row["how"] == "brief":
        return True
    seconds = row["seconds"] - row["waited"]
    in_time = seconds <= _DEADLINE + _LATE and row["end"] <= _END
    return in_time and row["how"] in ends


def line(row: dict[str, Any]) -> str:
    """A row as text."""
    mark = " " if is_good(row) else "!"
    words = f"{mark} {row['name']:30} {row['executor']:10} {row['way']:9} {row['seconds']:7.2f} s"
    waited = f" ({row['waited']:.2f} s without a processor)" if row["waited"] > _LATE / 5 else ""
    return f"{words} {row['end']:6.2f} s  {row['how']}{waited}"


def main(arguments: list[str] | None = None) -> int:
    """Measure all rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--one", nargs=3, metavar=("NAME", "EXECUTOR", "WAY"), help="one row, here")
    parser.add_argument("--only", default="", help="only kernels that have this in their name")
    parser.add_argument("--executor", choices=("native", "reference"))
    parser.add_argument("--way", choices=("deadline", "ctrl-c"))
    parser.add_argument("--json", type=Path, help="write the rows there")
    options = parser.parse_args(arguments)
    if options.one:
        one(*options.one)
        return 0
    rows = []
    for name in (n for n in TABLE if options.only.lower() in n.lower()):
        for executor in [options.executor] if options.executor else ["native", "reference"]:
            for way in [options.way] if options.way else ["deadline", "ctrl-c"]:
                rows.append(measured(name, executor, way))
                print(line(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    bad = sum(not is_good(row) for row in rows)
    print(f"{len(rows)} rows; {bad} ended late or otherwise")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
