"""``drystone run``: feed a model, fetch results, say what they are and how long it took."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drystone_base.cli._inputs import (
    Request,
    access_options,
    input_options,
    load,
    load_options,
    request,
)
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

if TYPE_CHECKING:
    from drystone_base.cli._values import Array
    from drystone_base.model import Model

__all__ = ["run"]

EPILOG = """\b
Examples:
  drystone run saved_model/ --inputs in.npz --outputs out.npz
  drystone run model.pb --fetch Identity:0 --fetch Identity_1:0
  drystone run model.meta --checkpoint model.ckpt --signature serving_default
  drystone run model.pb --shape image=1,224,224,3 --repeat 20
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=click.Path(path_type=Path))
@input_options
@click.option("--outputs", type=click.Path(path_type=Path, dir_okay=False), metavar="OUT.NPZ",
              help="Where to save the results.")  # fmt: skip
@click.option("--fetch", "fetches", multiple=True, metavar="TENSOR",
              help="A tensor instead of the signature's outputs; may be repeated.")  # fmt: skip
@click.option("--repeat", default=1, show_default=True, type=click.IntRange(min=1),
              help="How often to run; state is kept from run to run.")  # fmt: skip
@load_options
@access_options
@common_options
def run(
    model: Path,
    inputs: Path | None,
    signature: str | None,
    seed: int,
    shapes: tuple[str, ...],
    outputs: Path | None,
    fetches: tuple[str, ...],
    repeat: int,
    tags: tuple[str, ...],
    checkpoint: Path | None,
    allow_read: tuple[str, ...],
    allow_write: tuple[str, ...],
) -> None:
    """Run MODEL and say what comes out.

    MODEL is a SavedModel folder, a GraphDef (.pb, .pbtxt), a MetaGraph (.meta) or the
    model.json of a TensorFlow.js graph model.

    Arrays in IN.NPZ are named after the signature's inputs, or after tensors (x:0). Results are
    saved under the names of the signature's outputs, or under the text of each --fetch. Without
    --inputs, inputs are made up from the signature's shapes and the seed.
    """
    start = time.perf_counter()
    loaded = load(model, tags, checkpoint, allow_read, allow_write)
    load_seconds = time.perf_counter() - start
    wanted = request(
        loaded.loaded, inputs=inputs, signature=signature, fetches=fetches, seed=seed, shapes=shapes
    )
    results, seconds = _timed(loaded, wanted, repeat)
    values = {name: value for name, value in results.items() if value is not None}
    if outputs is not None:
        from drystone_base.cli._values import write_npz

        write_npz(outputs, values)
    _report(values, load_seconds, seconds, seed if wanted.made_up else None, outputs)


def _timed(model: Model, wanted: Request, repeat: int) -> tuple[dict[str, Array], list[float]]:
    """The results of the last run, and the seconds of each."""
    seconds: list[float] = []
    results: dict[str, Array] = {}
    for _ in progress(range(repeat), "running"):
        start = time.perf_counter()
        if repeat == 1:
            with status("running"):
                results = wanted.run(model)
        else:
            results = wanted.run(model)
        seconds.append(time.perf_counter() - start)
    return results, seconds


def _report(
    values: dict[str, Array],
    load_seconds: float,
    seconds: list[float],
    seed: int | None,
    outputs: Path | None,
) -> None:
    from drystone_base.cli._values import summary

    facts = {name: summary(value) for name, value in values.items()}
    times = {"load": load_seconds, "first": seconds[0]}
    if len(seconds) > 1:
        times["median"] = statistics.median(seconds[1:])
    if wants_json():
        print_json({"outputs": facts, "seconds": times, "runs": len(seconds), "seed": seed})
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


def _numbers(facts: dict[str, Any]) -> list[str]:
    stated = [f"{facts[k]:.5g}" if k in facts else "" for k in ("min", "mean", "max")]
    first = ", ".join(v if isinstance(v, str) else f"{v:.5g}" for v in facts["values"])
    bad = facts.get("not_finite")
    return [*stated, first + (f"  ({bad} not finite)" if bad else "")]
