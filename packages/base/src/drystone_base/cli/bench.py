"""``drystone bench``: how long a model takes to load and to run, and where the time goes."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drystone_base.cli._inputs import Asked, Request, asks
from drystone_base.cli._output import (
    common_options,
    duration,
    note_kernels_to_install,
    print_json,
    print_table,
    progress,
    status,
    wants_json,
)
from drystone_base.cli._paths import AnyPath, check_output
from drystone_base.cli._profile import print_profile, profile_options, save_record

if TYPE_CHECKING:
    from drystone_base.api.model import Model
    from drystone_base.executor.record import Record

__all__ = ["bench"]

EPILOG = """\b
Examples:
  drystone bench saved_model/
  drystone bench model.pb --repeat 100 --profile --trace trace.json
  drystone bench model.pb --shape image=8,224,224,3 --json
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=AnyPath())
@asks()
@click.option("--repeat", default=20, show_default=True, type=click.IntRange(min=1),
              help="Runs that are timed.")  # fmt: skip
@click.option("--warmup", default=2, show_default=True, type=click.IntRange(min=0),
              help="Runs after the first that are not timed.")  # fmt: skip
@profile_options
@common_options
def bench(
    model: Path,
    asked: Asked,
    repeat: int,
    warmup: int,
    wants_profile: bool,
    trace: Path | None,
    events: Path | None,
) -> None:
    """Time MODEL: its loading, its first run, and the runs after.

    The first run includes what is prepared once per set of feeds and fetches. Inputs are as for
    run. For --profile, --trace and --events it runs once more.
    """
    if trace is not None:
        check_output(trace, "--trace", model, asked.inputs)
    start = time.perf_counter()
    loaded = asked.load(model)
    times: dict[str, Any] = {"load": time.perf_counter() - start}
    wanted = asked.request(loaded.loaded)
    with status("running for the first time"):
        times["first"] = _seconds(loaded, wanted)
    for _ in progress(range(warmup), "warming up"):
        wanted.run(loaded)
    runs = sorted(_seconds(loaded, wanted) for _ in progress(range(repeat), "timing"))
    times |= {
        "median": statistics.median(runs),
        "p10": _percentile(runs, 10),
        "p90": _percentile(runs, 90),
        "best": runs[0],
    }
    record = None
    if wants_profile or trace is not None or events is not None:
        with status("running once more"), loaded.session.record() as record:
            wanted.run(loaded)
    report = {"model": str(model), "repeat": repeat, "seconds": times}
    note_kernels_to_install()
    if wants_json():
        print_json(report | ({"profile": record.by_op()} if record and wants_profile else {}))
    else:
        _print(times, repeat, record if wants_profile else None)
    if record is not None:
        save_record(record, loaded, trace, events)


def _seconds(model: Model, wanted: Request) -> float:
    start = time.perf_counter()
    wanted.run(model)
    return time.perf_counter() - start


def _percentile(ordered: list[float], share: int) -> float:
    """The smallest value that at least ``share`` percent of the sorted values do not exceed."""
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def _print(times: dict[str, float], repeat: int, record: Record | None) -> None:
    rows = [(name, duration(seconds)) for name, seconds in times.items()]
    print_table(f"{repeat} runs", ("", "time"), rows, right=("time",))
    if record is not None:
        print_profile(record)
