"""What ``--profile``, ``--trace`` and ``--events`` give: records of one run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from drystone_base.cli._output import duration, note, print_table, size
from drystone_base.cli._paths import AnyPath

if TYPE_CHECKING:
    from drystone_base.api.model import Model
    from drystone_base.executor.record import Record

__all__ = ["print_profile", "profile_options", "save_record"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def profile_options(command: _Command) -> _Command:
    """Give a command ``--profile``, ``--trace`` and ``--events``."""
    profile = click.option(
        "--profile", "wants_profile", is_flag=True, help="Say how the time divides among ops."
    )
    trace = click.option(
        "--trace", type=AnyPath(dir_okay=False), metavar="OUT.JSON",
        help="Save when each node ran, for https://ui.perfetto.dev or chrome://tracing.",
    )  # fmt: skip
    events = click.option(
        "--events", type=AnyPath(file_okay=False), metavar="FOLDER",
        help="Save the graph, what its nodes took, and a profile, for TensorBoard.",
    )  # fmt: skip
    return profile(trace(events(command)))


def save_record(record: Record, model: Model, trace: Path | None, events: Path | None) -> None:
    """Write the files that were asked for, and say which."""
    if trace is not None:
        record.write_chrome_trace(trace)
        note(f"saved what {len(record.nodes)} nodes did to {trace}")
    if events is not None:
        path = record.write_events(events, model.graph)
        note(f"saved the graph and its times to {path}")
        note(f"saved a profile to {record.write_profile(events)}")


def print_profile(record: Record) -> None:
    """A table of ops, most time first."""
    rows = [
        (
            row["op"], row["calls"], duration(row["seconds"]), f"{row['share']:.1%}",
            size(row["bytes"]), "█" * round(row["share"] * 30),
        )
        for row in record.by_op()
    ]  # fmt: skip
    columns = ("op", "calls", "time", "share", "outputs", "")
    print_table("one run by op", columns, rows, right=("calls", "time", "share", "outputs"))
    if record.peak is not None:
        note(f"values took at most {size(record.peak)} at once")
    for name, told in record.memory.items():
        note(f"on {name} they took at most {size(told['peak'])}")
    if took := sum(node.on_device or 0 for node in record.nodes):
        note(f"the work of nodes on devices took {duration(took / 1e9)} there, by their timers")
    note("an op that calls functions counts without the nodes in them")
