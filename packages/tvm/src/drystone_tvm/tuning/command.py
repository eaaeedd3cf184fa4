"""``drystone tvm tune``: plans that make a model's regions faster on this machine."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

import click

import drystone_base as ds
from drystone_base.cli.kit import (
    AnyPath,
    common_options,
    duration,
    moving,
    note,
    print_json,
    print_table,
    say,
    status,
    wants_json,
)
from drystone_tvm.compiling.building import require_tvm
from drystone_tvm.compiling.tuned import database
from drystone_tvm.tuning.survey import survey
from drystone_tvm.tuning.tuner import Tuned, tune_regions

__all__ = ["tvm"]

EPILOG = """\b
Examples:
  drystone tvm tune saved_model/ --budget 2m
  drystone tvm tune saved_model/ --budget 30s --size 8 --json
  DRYSTONE_TVM_TUNED=tunings/ drystone tvm tune model.pb
"""
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600}
_BUDGET: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)")
_LONGEST: Final = 1e6
_OPS_SHOWN: Final = 3


def _seconds(ctx: click.Context, param: click.Parameter, value: str) -> float:
    found = _BUDGET.fullmatch(value.strip().lower())
    if found is None or not 0 < float(found[1]) <= _LONGEST:
        text = f"{value!r} is no duration: 90, 90s, 2m and 1h are some"
        raise click.BadParameter(text, ctx, param)
    return float(found[1]) * _UNITS[found[2]]


@click.group()
def tvm() -> None:
    """What TVM makes of the regions of graphs: find faster plans for them."""


@tvm.command(epilog=EPILOG)
@click.argument("model", type=AnyPath())
@click.option("--budget", callback=_seconds, default="2m", show_default=True, metavar="DURATION",
              help="How long to look: 90s, 2m, 1h.")  # fmt: skip
@click.option("--signature", metavar="NAME",
              help="Whose regions; default serving_default.")  # fmt: skip
@click.option("--size", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="What inputs have where their shapes do not say.")  # fmt: skip
@common_options
def tune(model: Path, budget: float, signature: str | None, size: int) -> None:
    """Look for plans that make TVM's code for MODEL's regions faster than drystone's own.

    A plan says how loops are cut, unrolled, run in vectors and on threads: it changes no result.
    What beats drystone's kernels on this machine is kept, in the user's cache folder or
    $DRYSTONE_TVM_TUNED, and used by sessions with the backend tvm. Ctrl-C ends the search; what
    was found until then is kept. The table has both times of each region.
    """
    require_tvm()
    with moving(f"loading {model}", model), ds.load(model) as loaded:
        chosen = loaded.signatures[signature] if signature else loaded.default_signature()
        fetches = [spec.tensor for spec in chosen.outputs.values()]
        feeds = [spec.tensor for spec in chosen.inputs.values()]
    with status("looking for regions") as shown:

        def tell(text: str) -> None:
            if shown is not None:
                shown.update(text)

        regions = survey(model, fetches, feeds, size)
        found = tune_regions(regions, budget, tell)
    _show(found, len(regions))


def _show(found: list[Tuned], regions: int) -> None:
    store = database()
    place = "" if store is None else str(store.folder)
    if wants_json():
        rows = [_fields(one) for one in found]
        print_json({"database": place or None, "regions": regions, "tuned": rows})
        return
    if found:
        heads = ("region", "calls", "ops", "drystone", "untuned", "tuned", "plans", "kept")
        print_table("Plans", heads, [_row(one) for one in found])
    kept = sum(one.kept for one in found)
    say(f"{kept} of {regions} regions are faster by TVM; {len(found)} were tried")
    if kept:
        note(f"their plans are in {place}; sessions with the backend tvm use them")
    elif store is None:
        note("nothing is kept: DRYSTONE_TVM_TUNED says off")


def _row(one: Tuned) -> tuple[str, ...]:
    times = (one.tuning.own, one.tuning.untuned, one.tuning.tuned)
    ops = ", ".join(op for op, _ in Counter(one.region.ops).most_common(_OPS_SHOWN))
    more = ", ..." if len(set(one.region.ops)) > _OPS_SHOWN else ""
    kept = "yes" if one.kept else "no"
    name, calls = one.region.name, str(one.region.calls)
    return (name, calls, ops + more, *map(_text, times), str(one.tried), kept)


def _text(seconds: float) -> str:
    return duration(seconds) if math.isfinite(seconds) else "wrong"


def _number(seconds: float) -> float | None:
    """Seconds, None where no plan computed what it should."""
    return seconds if math.isfinite(seconds) else None


def _fields(one: Tuned) -> dict[str, Any]:
    found = one.tuning
    return {
        "region": one.region.name,
        "calls": one.region.calls,
        "ops": dict(Counter(one.region.ops)),
        "own_s": _number(found.own),
        "untuned_s": _number(found.untuned),
        "tuned_s": _number(found.tuned),
        "plans": one.tried,
        "plan": found.plan._asdict(),
        "kept": one.kept,
    }
