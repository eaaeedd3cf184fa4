"""``drystone run``: feed a model, fetch results, say what they are and how long it took."""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drystone_base.cli._inputs import Asked, Request, asks
from drystone_base.cli._output import (
    common_options,
    duration,
    note,
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
    from drystone_base.cli._values import Array
    from drystone_base.executor.record import Record

__all__ = ["run"]

EPILOG = """\b
Examples:
  drystone run saved_model/ --inputs in.npz --outputs out.npz
  drystone run model.pb --input image=@photo.jpg --input 'scale=[0.5, 2]'
  drystone run model.pb --fetch Identity:0 --fetch Identity_1:0
  drystone run model.meta --checkpoint model.ckpt --signature serving_default
  drystone run model.pb --shape image=1,224,224,3 --repeat 20
  drystone run model.pb --repeat 5 --profile --trace trace.json --events logs/
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=AnyPath())
@asks()
@click.option("--outputs", type=AnyPath(dir_okay=False), metavar="OUT.NPZ",
              help="Where to save the results.")  # fmt: skip
@click.option("--repeat", default=1, show_default=True, type=click.IntRange(min=1),
              help="How often to run; state is kept from run to run.")  # fmt: skip
@profile_options
@common_options
def run(
    model: Path,
    asked: Asked,
    outputs: Path | None,
    repeat: int,
    wants_profile: bool,
    trace: Path | None,
    events: Path | None,
) -> None:
    """Run MODEL and say what comes out.

    MODEL is a SavedModel folder, a GraphDef (.pb, .pbtxt), a MetaGraph (.meta) or the
    model.json of a TensorFlow.js graph model.

    Values of --inputs and --input are named after the signature's inputs, or after tensors (x:0).
    In JSON, {"b64": "..."} is a string of any bytes. Results are saved under the names of the
    signature's outputs, or under the text of each --fetch. Without values, inputs are made up from
    the signature's shapes, --batch and the seed. --profile, --trace and --events record the last
    run, which makes it slower.
    """
    for path, option in ((outputs, "--outputs"), (trace, "--trace")):
        if path is not None:
            check_output(path, option, model, asked.inputs)
    start = time.perf_counter()
    needed = asked.fetches or (asked.signature or "serving_default",)
    loaded = asked.load(model, needed)
    load_seconds = time.perf_counter() - start
    wanted = asked.request(loaded.loaded)
    wants_record = wants_profile or trace is not None or events is not None
    results, seconds, record = _timed(loaded, wanted, repeat, wants_record)
    values = {name: value for name, value in results.items() if value is not None}
    if outputs is not None:
        from drystone_base.cli._values import write_npz

        write_npz(outputs, values)
    profile = record if wants_profile else None
    _report(values, load_seconds, seconds, asked.seed if wanted.made_up else None, outputs, profile)
    if record is not None:
        save_record(record, loaded, trace, events)


def _timed(
    model: Model, wanted: Request, repeat: int, wants_record: bool
) -> tuple[dict[str, Array], list[float], Record | None]:
    """The results of the last run, the seconds of each, and the record of the last."""
    seconds: list[float] = []
    results: dict[str, Array] = {}
    record: Record | None = None
    for k in progress(range(repeat), "running"):
        with ExitStack() as around:
            if repeat == 1:
                around.enter_context(status("running"))
            if wants_record and k == repeat - 1:
                record = around.enter_context(model.session.record())
            start = time.perf_counter()
            results = wanted.run(model)
            seconds.append(time.perf_counter() - start)
    return results, seconds, record


def _report(
    values: dict[str, Array],
    load_seconds: float,
    seconds: list[float],
    seed: int | None,
    outputs: Path | None,
    profile: Record | None,
) -> None:
    from drystone_base.cli._values import summary

    facts = {name: summary(value) for name, value in values.items()}
    times = {"load": load_seconds, "first": seconds[0]}
    if len(seconds) > 1:
        times["median"] = statistics.median(seconds[1:])
    if wants_json():
        report = {"outputs": facts, "seconds": times, "runs": len(seconds), "seed": seed}
        print_json(report | ({"profile": profile.by_op()} if profile is not None else {}))
        return
    rows = [[name, f["dtype"], f["shape"], *_numbers(f)] for name, f in facts.items()]
    columns = ("output", "dtype", "shape", "min", "mean", "max", "first values")
    print_table("", columns, rows, right=("min", "mean", "max"))
    text = f"loaded in {duration(load_seconds)}, ran in {duration(seconds[0])}"
    if "median" in times:
        text += f", then {duration(times['median'])} (median of {len(seconds) - 1})"
    note(text)
    if outputs is not None:
        note(f"saved {', '.join(values)} to {outputs}")
    if profile is not None:
        print_profile(profile)


def _numbers(facts: dict[str, Any]) -> list[str]:
    stated = [f"{facts[k]:.5g}" if k in facts else "" for k in ("min", "mean", "max")]
    first = ", ".join(v if isinstance(v, str) else f"{v:.5g}" for v in facts["values"])
    bad = facts.get("not_finite")
    return [*stated, first + (f"  ({bad} not finite)" if bad else "")]
