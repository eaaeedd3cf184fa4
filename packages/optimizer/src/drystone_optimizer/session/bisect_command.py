"""``drystone bisect``: the rewrite of a graph that changes a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from drystone_base.cli.kit import (
    AnyPath,
    check_output,
    common_options,
    note,
    print_json,
    print_table,
    say,
    status,
    wants_json,
    with_seeds,
    write_npz,
)
from drystone_base.loaders import write_graph
from drystone_optimizer.bisecting.bisection import Culprit, bisect
from drystone_optimizer.bisecting.steps import Rewriting
from drystone_optimizer.checking.runs import Runner
from drystone_optimizer.session.targets import (
    check_registered,
    config_of,
    config_options,
    sample_options,
    target_of,
    target_options,
)

__all__ = ["bisect_model"]

EPILOG = """\b
Examples:
  drystone bisect model.pb
  drystone bisect saved_model/ --inputs in.npz --minimal smallest.pbtxt
  drystone bisect model.pb --passes remapping,constant_folding --numeric exact --json
"""


@click.command("bisect", epilog=EPILOG)
@click.argument("model", type=AnyPath())
@target_options
@config_options
@click.option("--registered", multiple=True, metavar="PASS",
              help="A pass of `drystone passes` that is off by default; may be "
              "repeated.")  # fmt: skip
@click.option("--isolation", type=click.Choice(("none", "process")),
              help="Where optimizers of C plugins run; in a process, crashes are "
              "found, too.")  # fmt: skip
@click.option("--minimal", type=AnyPath(dir_okay=False), metavar="OUT",
              help="Where to write the smallest graph (.pb or .pbtxt) and, beside it, its inputs "
              "(.npz).")  # fmt: skip
@sample_options
@common_options
def bisect_model(
    model: Path,
    signature: str | None,
    fetches: tuple[str, ...],
    feeds: tuple[str, ...],
    passes: str | None,
    numeric: str,
    iterations: int,
    registered: tuple[str, ...],
    isolation: str | None,
    minimal: Path | None,
    inputs: Path | None,
    samples: int,
    seed: int,
    shapes: tuple[str, ...],
    executor: str,
) -> None:
    """Find the pass, the rule and the few nodes that change a result of MODEL, or crash.

    Samples are run after ever more rewrites, of built-in passes, optimizers of plugins and
    registered passes. Exits with 1 when a rewrite was found, with 0 when none changes a result.
    """
    config = replace(config_of(passes, numeric, iterations), isolation=isolation)
    check_registered(registered)
    if minimal is not None:
        check_output(minimal, "--minimal", model, inputs)
        check_output(minimal.with_suffix(".npz"), "--minimal", model, inputs)
    target = target_of(model, signature, fetches, feeds)
    values = target.samples(inputs, samples, seed, shapes)
    graph = with_seeds(target.loaded.graph, seed)
    runner = Runner(target.loaded.with_graph(graph), executor)
    rewriting = Rewriting.of_session(config, None, registered)
    with _progress() as tell:
        found = bisect(rewriting, runner, graph, target.fetches, values, tell)
    if found is None:
        if wants_json():
            print_json({"found": None, "runs": runner.runs})
        many = "1 sample" if len(values) == 1 else f"{len(values)} samples"
        note(f"no rewrite changes a result on {many}")
        return
    files = _write(found, minimal)
    if wants_json():
        print_json({"found": found.as_json(), "files": [str(f) for f in files]})
    else:
        _print(found, files)
    raise click.exceptions.Exit(1)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """What is told is shown on a terminal."""
    with status("") as shown:
        yield (lambda text: shown.update(text)) if shown is not None else (lambda _: None)


def _write(found: Culprit, path: Path | None) -> list[Path]:
    """The smallest graph, and what to feed to it."""
    if path is None or found.minimal is None:
        return []
    write_graph(found.minimal.graph, path)
    inputs = path.with_suffix(".npz")
    write_npz(inputs, found.minimal.feeds)
    return [path, inputs]


_KINDS = {"pass": "pass", "plugin": "plugin", "registered": "registered pass"}


def _print(found: Culprit, files: list[Path]) -> None:
    one = found.rewrite
    where = f"function {one.where}" if one.where else "the graph"
    say(f"{_KINDS[one.kind]}  {one.name}, iteration {one.iteration}, in {where}")
    if found.crash:
        say(f"fails after {found.steps} rewrites: {found.text}")
    else:
        say(f"rule  {one.rule}, rewrite {found.step} of {found.steps}")
        say(f"found {found.text}")
    for kind, rows in found.changes.items():
        if rows:
            print_table(kind, ("node", "what"), [(r["node"], r["what"]) for r in rows])
    if found.minimal is None:
        say("the pass does not do it alone: it needs what the passes before it left")
        return
    say("", f"alone on these {len(found.minimal.graph)} nodes: {found.minimal.text}")
    for line in found.minimal.lines():
        say(f"  {line}")
    if files:
        say("", f"wrote {files[0]} and {files[1]}")
