"""``drystone inspect``: what a model holds, what of it can run, and a drawing of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drystone_base.cli._inputs import load_options
from drystone_base.cli._output import (
    common_options,
    note,
    print_json,
    print_table,
    say,
    size,
    status,
    wants_json,
)
from drystone_base.cli._paths import AnyPath, check_output
from drystone_base.cli._transfers import moving
from drystone_base.core.shown import shape_text
from drystone_base.files.access import OUTSIDE

if TYPE_CHECKING:
    from drystone_base.cli._analysis import Analysis
    from drystone_base.loaders import LoadedModel, Signature

__all__ = ["inspect"]

EPILOG = """\b
Examples:
  drystone inspect saved_model/
  drystone inspect model.pb --json
  drystone inspect model.pb --graph model.svg
  drystone inspect saved_model/ --graph model.html
  drystone inspect training/ckpt-7
  drystone inspect training/ckpt-7 --values model.dense.bias
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=AnyPath())
@click.option("--graph", "drawing", metavar="OUT.SVG|OUT.HTML",
              type=AnyPath(dir_okay=False),
              help="Draw the graph: one picture, or a page to walk through.")  # fmt: skip
@click.option("--values", multiple=True, metavar="NAME",
              help="Of a checkpoint: show the values of this tensor, by its name or its object; "
              "may be repeated.")  # fmt: skip
@load_options
@common_options
def inspect(
    model: Path,
    drawing: Path | None,
    values: tuple[str, ...],
    tags: tuple[str, ...],
    checkpoint: Path | None,
) -> None:
    """Say what MODEL holds, and what of it can run.

    Signatures, ops, functions, variables, ops that reach outside the graph (files, network,
    Python), and ops without a kernel. Nothing is run. An op without a kernel matters only where a
    signature reaches it.

    MODEL may be a checkpoint: its prefix, one of its files, or a folder whose file `checkpoint`
    names the latest. Then its tensors are listed, by the objects that they belong to.
    """
    if _is_checkpoint(model, values, (drawing, *tags, checkpoint)):
        return
    if drawing is not None and drawing.suffix not in (".svg", ".html"):
        raise click.BadParameter("the name must end in .svg or .html", param_hint="--graph")
    if drawing is not None:
        check_output(drawing, "--graph", model)
    from drystone_base.cli._analysis import Analysis
    from drystone_base.loaders import load_model

    with moving(f"reading {model}", model, checkpoint):
        loaded = load_model(model, tags=list(tags) or None, checkpoint=checkpoint)
        analysis = Analysis(loaded)
        facts = _facts(analysis)
    if wants_json():
        print_json(facts)
    else:
        _print(analysis, facts)
    if drawing is not None:
        from drystone_base.cli._draw import draw

        with status("drawing"):
            summary = draw(loaded, drawing)
        note(summary)


def _is_checkpoint(path: Path, values: tuple[str, ...], of_models: tuple[Any, ...]) -> bool:
    """Whether it is a checkpoint, which is shown then."""
    from drystone_base.cli._checkpoint import find_checkpoint, show_checkpoint

    prefix = find_checkpoint(path)
    if prefix is None:
        if values:
            raise click.BadParameter(
                f"{str(path)!r} is no checkpoint; `drystone run --fetch` shows values of a model",
                param_hint="--values",
            )
        return False
    if any(of_models):
        raise click.UsageError("--graph, --tag and --checkpoint are for models")
    with moving(f"reading {prefix}", prefix, None):
        show_checkpoint(prefix, values)
    return True


def _facts(analysis: Analysis) -> dict[str, Any]:
    loaded, graph = analysis.loaded, analysis.graph
    return {
        "path": str(loaded.path),
        "kind": loaded.kind,
        "bytes": loaded.size,
        "tags": list(loaded.tags),
        "tensorflow": loaded.meta.meta_info_def.tensorflow_version if loaded.meta else "",
        "producer": graph.producer,
        "nodes": len(graph),
        "functions": {f.name: f.node_count for f in graph.functions},
        "variables": analysis.variables,
        "constants": analysis.constants,
        "assets": sorted(loaded.assets),
        "signatures": {n: _signature(analysis, s) for n, s in loaded.signatures.items()},
        "callable": _traced(analysis),
        "ops": dict(analysis.ops.most_common()),
        "outside": {
            op: {"count": count, "effect": OUTSIDE[op]} for op, count in analysis.outside.items()
        },
        "unsupported": {
            op: {
                "count": analysis.ops[op],
                "reached_by": {
                    n: r.unsupported[op] for n, r in analysis.reaches.items() if op in r.unsupported
                },
            }
            for op in analysis.unsupported
        },
    }


def _traced(analysis: Analysis) -> dict[str, list[str]]:
    """What each function of the model's objects was traced for."""
    functions = analysis.callable.items()
    return {name: list(dict.fromkeys(t.text() for t in f.traces)) for name, f in functions}


def _signature(analysis: Analysis, signature: Signature) -> dict[str, Any]:
    return {
        role: {
            name: {
                "tensor": spec.tensor,
                "dtype": spec.dtype.label,
                "shape": analysis.shape(spec),
            }
            | ({"optional": True} if spec.optional else {})
            for name, spec in specs.items()
        }
        for role, specs in (("inputs", signature.inputs), ("outputs", signature.outputs))
    }


def _print(analysis: Analysis, facts: dict[str, Any]) -> None:
    loaded = analysis.loaded
    print_table("", ("", ""), _summary(loaded, facts))
    for name, signature in loaded.signatures.items():
        rows = [
            (
                "in, optional" if spec.optional else role,
                key,
                spec.dtype,
                shape_text(analysis.shape(spec)),
                spec.tensor,
            )
            for role, specs in (("in", signature.inputs), ("out", signature.outputs))
            for key, spec in specs.items()
        ]
        title = f"signature {name}"
        print_table(title, ("", "name", "dtype", "shape", "tensor"), rows)
    traced = [(name, text) for name, texts in facts["callable"].items() for text in texts]
    if traced:
        title = f"{len(facts['callable'])} functions of objects, by what they were traced for"
        print_table(title, ("function", "arguments"), traced)
    reached = {op for reach in analysis.reaches.values() for op in reach.ops}
    ops = [
        (op, count, "yes" if op in reached else "", "" if op not in analysis.unsupported else "no")
        for op, count in analysis.ops.most_common()
    ]
    print_table(f"{len(ops)} ops", ("op", "nodes", "reached", "kernel"), ops, right=("nodes",))
    if facts["functions"]:
        _print_functions(analysis, facts)
    outside = [(op, row["count"], row["effect"]) for op, row in facts["outside"].items()]
    if outside:
        title = f"{len(outside)} ops that reach outside the graph"
        print_table(title, ("op", "nodes", "what it does"), outside, right=("nodes",))
    _print_unsupported(facts)


def _summary(loaded: LoadedModel, facts: dict[str, Any]) -> list[tuple[str, Any]]:
    inside = sum(facts["functions"].values())
    functions = f"{len(facts['functions'])} with {inside} nodes" if facts["functions"] else "none"
    rows = [
        ("model", facts["path"]),
        ("kind", facts["kind"] + (f", tags {', '.join(loaded.tags)}" if loaded.tags else "")),
        ("size", size(facts["bytes"])),
        ("written by", facts["tensorflow"] and f"TensorFlow {facts['tensorflow']}"),
        ("graph version", facts["producer"] or "not stated"),
        ("nodes", facts["nodes"]),
        ("functions", functions),
        ("variables", _counted(facts["variables"])),
        ("constants", _counted(facts["constants"])),
        ("assets", ", ".join(facts["assets"])),
    ]  # fmt: skip
    return [(name, value) for name, value in rows if value != ""]


def _counted(held: dict[str, int]) -> str:
    return f"{held['nodes']}, {size(held['bytes'])}" if held["nodes"] else "none"


def _print_functions(analysis: Analysis, facts: dict[str, Any]) -> None:
    reached = {name for reach in analysis.reaches.values() for name in reach.functions}
    by_size = sorted(
        facts["functions"].items(), key=lambda item: (item[0] not in reached, -item[1])
    )
    shown = by_size[:20]
    rows = [(name, count, "yes" if name in reached else "") for name, count in shown]
    rest = len(by_size) - len(shown)
    title = f"{len(by_size)} functions" + (
        f", {rest} smaller or not reached left out" if rest else ""
    )
    print_table(title, ("function", "nodes", "reached"), rows, right=("nodes",))


def _print_unsupported(facts: dict[str, Any]) -> None:
    unsupported = facts["unsupported"]
    reached = {op: row for op, row in unsupported.items() if row["reached_by"]}
    if not unsupported:
        say("every op has a kernel")
    elif not reached:
        say(f"no kernel, and not reached by any signature: {', '.join(unsupported)}")
    for op, row in reached.items():
        where = ", ".join(f"{name} (node {node})" for name, node in row["reached_by"].items())
        say(f"no kernel: {op}, reached by {where}")
