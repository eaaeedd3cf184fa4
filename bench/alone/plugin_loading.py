"""What installed plugins cost at import and in the first session: 0, 1 and 10 of them."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import drystone_abi
from bench.alone._report import Column, Report, number, span, text
from drystone_base import host

__all__ = ["COUNTS", "run"]

COUNTS = (0, 1, 10)
"""Numbers of plugins."""

SOURCE = r"""
#include "drystone/ops.h"
#include "drystone/platform_strings.h"

TF_PLATFORM_STRINGS()

TF_CAPI_EXPORT void TF_InitKernel(void) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(OP);
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, NULL);
}
"""
PROGRAMS = {
    "import drystone": "import drystone_base, drystone_base.api.session",
    "first session": """
import drystone_base as ds
graph = ds.Graph()
graph.add("NoOp", "n")
ds.Session(graph).run("n")
""",
    "every plugin loaded": "from drystone_base import plugins; plugins.ensure_loaded()",
}
_TIMED = "import time; t = time.perf_counter()\n{}\nprint(time.perf_counter() - t)"


def run(quick: bool) -> Report:
    """Median seconds of fresh processes, in interleaved rounds after one that fills the caches."""
    columns = [
        Column("what", "what", text), Column("plugins", "plugins", number),
        Column("median_s", "median", span), Column("least_s", "least", span),
        Column("runs", "processes", number),
    ]  # fmt: skip
    report = Report("plugins", "Installed plugins, warm, fresh processes", columns)
    if not host.available():
        report.notes.append(f"not measured: there is no host library at {host.path()}")
        return report
    rounds = 3 if quick else 9
    with tempfile.TemporaryDirectory(prefix="drystone-bench-") as scratch:
        try:
            sites = {count: _site(Path(scratch), count) for count in COUNTS}
        except (OSError, subprocess.CalledProcessError) as error:
            report.notes.append(f"not measured: no C compiler made the plugins: {error}")
            return report
        taken = _rounds(sites, rounds)
    report.rows = [
        {
            "what": what,
            "plugins": count,
            "median_s": statistics.median(seconds),
            "least_s": min(seconds),
            "runs": rounds,
        }
        for (what, count), seconds in taken.items()
    ]
    report.notes.append("unsigned plugins in developer mode; each was tried in a child before")
    return report


def _site(scratch: Path, count: int) -> Path:
    """A folder for ``sys.path`` with that many plugins in it."""
    site = scratch / str(count)
    folder = site / "drystone-plugins"
    folder.mkdir(parents=True)
    (scratch / "plugin.c").write_text(SOURCE, encoding="utf-8")
    command = ["cc", "-O2", "-shared", "-fPIC", f"-I{drystone_abi.get_include()}"]
    for k in range(count):
        target = ["-o", str(folder / f"libbench{k}.so"), str(scratch / "plugin.c")]
        subprocess.run([*command, f'-DOP="BenchLoaded{k}"', *target], check=True)
    return site


def _rounds(sites: dict[int, Path], rounds: int) -> dict[tuple[str, int], list[float]]:
    taken: dict[tuple[str, int], list[float]] = {}
    for what in PROGRAMS:
        taken |= {(what, count): [] for count in sites}
    for index in range(rounds + 1):
        for what, count in taken:
            seconds = _seconds(PROGRAMS[what], sites[count])
            if index:
                taken[what, count].append(seconds)
    return taken


def _seconds(program: str, site: Path) -> float:
    before = os.environ.get("PYTHONPATH", "")
    settings = {
        **os.environ,
        "PYTHONPATH": f"{site}{os.pathsep}{before}",
        "DRYSTONE_DEVELOPER_MODE": "1",
        "XDG_CACHE_HOME": str(site / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", _TIMED.format(program)],
        capture_output=True,
        text=True,
        env=settings,
        check=True,
    )
    return float(done.stdout.splitlines()[-1])
