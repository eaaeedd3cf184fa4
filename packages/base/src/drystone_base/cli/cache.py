"""``drystone cache``: plans made ahead of time, and what the plan cache holds."""

from __future__ import annotations

from pathlib import Path

import click

from drystone_base.cli._output import (
    common_options,
    note,
    print_json,
    print_table,
    size,
    status,
    wants_json,
)
from drystone_base.cli._paths import AnyPath

__all__ = ["cache"]

EPILOG = """\b
Examples:
  drystone cache list
  drystone cache warm model.pb saved_model/ --into plans/
  DRYSTONE_PLAN_CACHE=plans/ drystone run model.pb
  drystone cache clear --model saved_model/ --json
"""


@click.group(epilog=EPILOG)
def cache() -> None:
    """Make, list and remove entries of the plan cache.

    A later process that loads the same model takes its plan from there. DRYSTONE_PLAN_CACHE names
    the folder, or says off. Every command takes --json.
    """


@cache.command(
    epilog="\b\nExamples:\n  drystone cache warm model.pb --into plans/\n  drystone cache warm "
    "saved_model/ --into plans --signature serving_default --threads 2\n"
)
@click.argument("models", metavar="MODEL...", type=AnyPath(), nargs=-1, required=True)
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), required=True,
              help="The folder of entries, which is made if need be.")  # fmt: skip
@click.option("--signature", "names", multiple=True,
              help="Only this signature; may be given several times.")  # fmt: skip
@click.option("--threads", type=click.IntRange(min=0),
              help="As of the sessions that are to find it: load(..., threads=N).")  # fmt: skip
@common_options
def warm(models: tuple[Path, ...], into: Path, names: tuple[str, ...], threads: int | None) -> None:
    """Make the plan of each signature of MODEL, for processes that start with this folder.

    For an image: run it where the image is built, and set DRYSTONE_PLAN_CACHE to the folder there,
    which may be read-only. Every user may read the files. Exits with 1 when a plan cannot be
    cached.
    """
    from drystone_base.cli import _cache

    with status("making plans"):
        made = _cache.warm(models, into, names, threads)
    if wants_json():
        print_json({"folder": str(into), "plans": made})
    else:
        rows = [(m["model"], m["signature"], "yes" if m["cached"] else m["reason"]) for m in made]
        print_table(f"plans in {into}", ("model", "signature", "cached"), rows)
    if not all(one["cached"] for one in made):
        raise click.exceptions.Exit(1)


@cache.command(
    "list", epilog="\b\nExamples:\n  drystone cache list\n  drystone cache list --json\n"
)
@common_options
def list_() -> None:
    """List the entries with their models, sizes, and how long ago they were last used."""
    from drystone_base.cli import _cache

    found = _cache.contents()
    if wants_json():
        print_json(found)
        return
    if not found["folder"]:
        note("the plan cache is off")
        return
    rows = [
        (e["model"], e["kind"], ", ".join(e["fetches"]), size(e["bytes"]), _age(e["seconds"]))
        for e in found["entries"]
    ]
    title = f"{len(rows)} entries in {found['folder']}"
    columns = ("model", "entry", "fetches", "size", "last used")
    print_table(title, columns, rows, right=("size", "last used"))


@cache.command(
    epilog="\b\nExamples:\n  drystone cache clear\n  drystone cache clear --model model.pb --json\n"
)
@click.option("--model", default="", metavar="PATH", help="Only entries of this model.")
@common_options
def clear(model: str) -> None:
    """Remove all entries, or those of one model."""
    from drystone_base.cli import _cache

    removed = _cache.clear(model)
    if wants_json():
        print_json(removed)
    else:
        note(f"removed {removed['files']} files, {size(removed['bytes'])}")


def _age(seconds: float) -> str:
    """How long ago, in the largest unit that it is two of."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(seconds)} s"
