"""``drystone optimize``: a graph that does the same with less, as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drystone_base.cli.kit import (
    AnyPath,
    check_output,
    common_options,
    duration,
    graph_changes,
    note,
    print_json,
    print_table,
    say,
    status,
    wants_json,
    with_seeds,
)
from drystone_base.graph import Graph
from drystone_base.loaders import write_graph
from drystone_optimizer.core.colocation import settled
from drystone_optimizer.core.config import OptimizerConfig
from drystone_optimizer.core.report import Report
from drystone_optimizer.core.watch import Watch
from drystone_optimizer.pipeline.pipeline import optimize_with_report
from drystone_optimizer.session.runtimes import RUNTIMES, check_portable, for_runtime
from drystone_optimizer.session.targets import (
    Target,
    config_of,
    config_options,
    names_of,
    sample_options,
    target_of,
    target_options,
)

if TYPE_CHECKING:
    from drystone_optimizer.checking.runs import Feeds

__all__ = ["optimize"]

EPILOG = """\b
Examples:
  drystone optimize model.pb smaller.pb
  drystone optimize model.pb smaller.pb --fetch Softmax:0 --feed image:0 --report
  drystone optimize saved_model/ graph.pbtxt --passes constant_folding --diff
  drystone optimize model.pb smaller.pb --verify --inputs in.npz
  drystone optimize model.pb smaller.pb --html report.html
  drystone optimize model.pb fused.pb --for drystone
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=AnyPath())
@click.argument("output", metavar="OUT", type=AnyPath(dir_okay=False))
@target_options
@config_options
@click.option("--for", "runtime", type=click.Choice(RUNTIMES), default=RUNTIMES[0],
              show_default=True, help="Who is to run OUT: TensorFlow, and so both; or drystone "
              "alone, with layers fused to ops of its own.")  # fmt: skip
@click.option("--report", is_flag=True, help="Show what each pass did.")
@click.option("--diff", is_flag=True, help="Show which nodes were removed, added and changed.")
@click.option("--verify", is_flag=True,
              help="Run samples before and after each pass; leave out a pass that changes a result "
              "beyond its numeric class.")  # fmt: skip
@click.option("--html", type=AnyPath(dir_okay=False), metavar="FILE",
              help="Write a page with both graphs and what each pass did.")  # fmt: skip
@sample_options
@common_options
def optimize(
    model: Path,
    output: Path,
    signature: str | None,
    fetches: tuple[str, ...],
    feeds: tuple[str, ...],
    passes: str | None,
    numeric: str,
    iterations: int,
    report: bool,
    diff: bool,
    verify: bool,
    html: Path | None,
    inputs: Path | None,
    samples: int,
    seed: int,
    shapes: tuple[str, ...],
    executor: str,
    runtime: str,
) -> None:
    """Optimize the graph of MODEL for its signature and write it to OUT (.pb or .pbtxt).

    A file for TensorFlow, the default, runs in both: drystone fuses its layers when it loads it.
    One for drystone has them fused already, as ops that TensorFlow lacks.

    Values of variables stay where they are: OUT holds the graph alone. With --verify it exits with
    1 when a pass was left out because it changed a result.
    """
    config = for_runtime(config_of(passes, numeric, iterations), runtime, names_of(passes))
    check_output(output, "OUT", model, inputs)
    if html is not None:
        check_output(html, "--html", model, inputs)
    target = target_of(model, signature, fetches, feeds)
    graph = target.loaded.graph
    if verify:
        values = target.samples(inputs, samples, seed, shapes)
        with status("optimizing, with runs before and after each pass"):
            after, found = _verified(target, config, values, executor, seed)
    else:
        with status("optimizing"):
            tensors = list(target.feeds.values())
            after, found = optimize_with_report(graph, target.fetches, tensors, config)
    after = settled(after)
    if runtime == "tensorflow":
        check_portable(graph, after)
    write_graph(after, output)
    changes = graph_changes(graph, after) if diff or html else {}
    if html:
        from drystone_optimizer.session.page import write_page

        write_page(html, target, after, found, changes)
    _show(graph, after, found, output, report, changes if diff else None)
    if found.rejected:
        note(f"rejected, because results changed: {', '.join(found.rejected)}")
        raise click.exceptions.Exit(1)


def _verified(
    target: Target, config: OptimizerConfig, samples: Sequence[Feeds], executor: str, seed: int
) -> tuple[Graph, Report]:
    """The graph, without the passes that change a result on the samples."""
    from drystone_optimizer.checking.runs import Runner
    from drystone_optimizer.checking.validation import Validator

    graph, feeds = target.loaded.graph, list(target.feeds.values())
    seeded = with_seeds(graph, seed)
    runner = Runner(target.loaded.with_graph(seeded), executor)
    checks = Validator(runner, seeded, target.fetches, samples)
    after, report = optimize_with_report(
        seeded, target.fetches, feeds, config, watch=Watch(checks=checks)
    )
    report.samples = len(checks.samples)
    if seeded is graph:
        return after, report
    # Random nodes had seeds while they were compared; the file is to have the model's own.
    left = config.without(report.rejected)
    return optimize_with_report(graph, target.fetches, feeds, left)[0], report


def _show(
    before: Graph,
    after: Graph,
    report: Report,
    output: Path,
    wanted: bool,
    changes: Mapping[str, Any] | None,
) -> None:
    nodes = {"before": len(before), "after": len(after)}
    if wants_json():
        more = {} if changes is None else {"diff": changes}
        print_json({"output": str(output), "nodes": nodes} | report.as_json() | more)
        return
    if wanted:
        rows = [_row(step) for step in report.steps] + [_plugin_row(run) for run in report.runs]
        columns = ("pass", "where", "outcome", "nodes", "time", "class", "rewrites")
        print_table("", columns, rows, right=("nodes", "time"))
    for kind, found in (changes or {}).items():
        if found:
            title = f"{len(found)} nodes {kind}"
            print_table(title, ("node", "what"), [(row["node"], row["what"]) for row in found])
    say(f"{output}: {len(after)} nodes, of {len(before)}, in {duration(report.seconds)}")
    if report.samples:
        many = "1 sample" if report.samples == 1 else f"{report.samples} samples"
        note(f"verified with {many} after each pass that changed something")
    outcomes = [(s.outcome, s.reason) for s in report.steps]
    outcomes += [(r.outcome, r.reason) for r in report.runs]
    for outcome, reason in outcomes:
        if outcome == "rejected":
            note(*reason.split("\n"))
    holders = sum(node.op in ("VarHandleOp", "VariableV2", "Variable") for node in after)
    if holders:
        note(f"{holders} variables have their values elsewhere: {output} holds none")


def _row(step: Any) -> Sequence[Any]:
    done = ", ".join(f"{name} ({count})" for name, count in step.rewrites.items())
    return (
        step.name,
        step.where or "the graph",
        step.outcome,
        f"{step.nodes_before} -> {step.nodes_after}",
        duration(step.seconds),
        step.numeric,
        "; ".join(filter(None, (done, step.reason.partition("\n")[0]))),
    )


def _plugin_row(run: Any) -> Sequence[Any]:
    return (
        f"plugin {run.plugin}",
        run.where or "the graph",
        run.outcome,
        f"{run.nodes_before} -> {run.nodes_after}",
        duration(run.seconds),
        "",
        run.reason.partition("\n")[0],
    )
