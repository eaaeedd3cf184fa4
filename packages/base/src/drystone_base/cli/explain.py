"""``drystone explain``: the plan that the native executor runs, and which kernel each node has."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drystone_base.cli._inputs import Asked, Request, asks
from drystone_base.cli._output import (
    Lines,
    common_options,
    note,
    note_kernels_to_install,
    print_json,
    print_table,
    size,
    status,
    wants_json,
)
from drystone_base.cli._paths import AnyPath, check_output

if TYPE_CHECKING:
    from drystone_base.api.model import Model
    from drystone_base.api.session import Session
    from drystone_base.cli._memory import Memory

__all__ = ["explain"]

RUNS_TO_SETTLE = 4
"""Runs after the first until the host has laid out the arena of a compiled region."""
EPILOG = """\b
Examples:
  drystone explain saved_model/
  drystone explain model.pb --fetch Identity:0 --nodes
  drystone explain model.pb --plan model.plan
  drystone explain model.pb --placement --cpus 2
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=AnyPath())
@asks()
@click.option("--nodes", is_flag=True, help="Run it; list all nodes, with their bytes.")
@click.option("--placement", is_flag=True, help="Show the device of every node, and why.")
@click.option("--cpus", default=1, show_default=True, type=click.IntRange(min=1),
              help="With --placement: how many virtual devices the CPU is.")  # fmt: skip
@click.option("--plan", "output", metavar="OUT.PLAN",
              type=AnyPath(dir_okay=False),
              help="Save the plan for a program without Python (drystone/session.h).")  # fmt: skip
@common_options
def explain(
    model: Path,
    asked: Asked,
    nodes: bool,
    placement: bool,
    cpus: int,
    output: Path | None,
) -> None:
    """Show the plan of MODEL: blocks, instructions, and whose kernels they run.

    A block is the graph or the body of a function. Nodes whose kernel is "NumPy" run in Python;
    a plugin with kernels, such as drystone-cpu, takes them over. With --nodes, each output has its
    bytes, the node after which nothing needs it, and where it lies: in place of an input, or in
    memory of a span or another kind, with what was taken there. Sums follow: of each kind of
    memory, of the arenas in which compiled regions keep what they compute, and of the peak.
    """
    if output is not None:
        check_output(output, "--plan", model, asked.inputs)
    loaded = asked.load(model)
    wanted = asked.request(loaded.loaded)
    names, feeds = list(wanted.fetches.values()), list(wanted.feeds)
    if placement:
        _placement(loaded.session, names, feeds, cpus)
        return
    with status("making the plan"):
        described = loaded.session.describe(names, feeds)
    memory = None
    if nodes:
        with status("running"):
            memory = _memory(loaded, wanted, described)
            if memory is not None and _arenas(described):
                described = _settled(loaded, wanted, names, feeds)
    if wants_json():
        print_json(_with_memory(described, memory))
    else:
        _print(described, nodes, memory)
    if output is not None:
        from drystone_base.files.writing import replace_file

        replace_file(output, [loaded.session.plan(names, feeds)])
        note(f"saved the plan to {output}")


def _placement(session: Session, fetches: list[str], feeds: list[str], cpus: int) -> None:
    from drystone_base.passes import place_for

    config = replace(session.config, device_count={"CPU": cpus})
    with status("placing nodes"):
        decisions = place_for(session.graph, fetches, feeds, config).decisions
    if wants_json():
        print_json([asdict(d) for d in decisions])
        return
    rows = [(d.node, d.op, d.asked, d.device, d.why) for d in decisions]
    print_table("", ("node", "op", "asked for", "device", "why"), rows)


def _memory(model: Model, wanted: Request, described: dict[str, Any]) -> Memory | None:
    """Where the bytes of one run go; None, with a note, for a run that fails."""
    from drystone_base.cli._memory import memory_of
    from drystone_base.core.errors import DrystoneError

    with model.session.record() as record:
        try:
            wanted.run(model)
        except DrystoneError as error:
            note(f"no bytes are known, the run failed: {error.what}")
            return None
    return memory_of(record, described["blocks"])


def _settled(model: Model, wanted: Request, fetches: list[str], feeds: list[str]) -> dict[str, Any]:
    """The description after so many runs that compiled regions have laid out their arenas.

    Or as far as it comes: a model may run once only, as what it reads has an end.
    """
    from drystone_base.core.errors import DrystoneError

    with suppress(DrystoneError):
        for _ in range(RUNS_TO_SETTLE):
            wanted.run(model)
    return model.session.describe(fetches, feeds)


def _arenas(described: dict[str, Any]) -> list[tuple[str, int]]:
    """The nodes that run compiled regions, with the bytes of their arenas so far."""
    ran = (i for block in described["blocks"] for i in block["instructions"])
    return [(i["node"], i["arena"]) for i in ran if "arena" in i]


def _with_memory(described: dict[str, Any], memory: Memory | None) -> dict[str, Any]:
    """The description with the values of each instruction that ran, and the peak."""
    if memory is None:
        return described
    for (block, k), rows in memory.rows.items():
        described["blocks"][block]["instructions"][k]["values"] = rows
    holders = [{"node": node, "bytes": count} for node, count in memory.holders]
    peak = {"bytes": memory.peak, "node": memory.peak_node, "holders": holders}
    columns = ("allocation", "values", "bytes", "allocated")
    plan = [dict(zip(columns, sums, strict=True)) for sums in memory.plan]
    return described | {"memory": plan, "peak": peak}


def _print(described: dict[str, Any], nodes: bool, memory: Memory | None) -> None:
    blocks = described["blocks"]
    rows = [_row(block) for block in blocks]
    columns = ("block", "nodes", "native", "NumPy", "executor", "runs")
    print_table("", columns, rows, right=("nodes", "native", "NumPy", "executor"))
    if nodes:
        from drystone_base.executor.record import kernel_name

        for number, block in enumerate(blocks):
            listed = []
            for k, i in enumerate(block["instructions"]):
                values = memory.rows.get((number, k), []) if memory is not None else []
                listed.append([i["node"], i["op"], i["kind"], kernel_name(i), *_cells(values)])
            heads = ("node", "op", "kind", "kernel", "bytes", "until", "memory")
            title = block["name"] or "(the graph)"
            print_table(title, heads, listed, right=("bytes",))
        if memory is not None:
            _print_places(memory, _arenas(described))
        if memory is not None and memory.peak:
            held = [(node, size(count)) for node, count in memory.holders]
            title = (
                f"values take the most at {memory.peak_node}: {size(memory.peak)}, of these nodes"
            )
            print_table(title, ("node", "bytes"), held, right=("bytes",))
    _note_examples(blocks[0])
    slow = Counter(i["op"] for b in blocks for i in b["instructions"] if "callback" in i)
    if slow:
        shown = ", ".join(f"{op} ({n})" for op, n in slow.most_common(12))
        note(f"NumPy kernels: {shown}" + (", ..." if len(slow) > 12 else ""))
        note_kernels_to_install()


def _note_examples(block: dict[str, Any]) -> None:
    """Say how batches run, where feeds may be some."""
    if "example_bytes" in block:
        taken = size(block["example_bytes"])
        note(f"batches run in micro-batches: values of one example take {taken}")
    elif "whole_because" in block:
        note(f"batches run as a whole: {block['whole_because']}")


def _print_places(memory: Memory, arenas: list[tuple[str, int]]) -> None:
    rows = [(place, str(n), size(own), size(room)) for place, n, own, room in memory.plan]
    rows += [(f"arena of {node}", "", "", size(room)) for node, room in arenas]
    columns = ("memory", "values", "bytes", "taken")
    print_table("where values lie", columns, rows, right=columns[1:])
    if any(kind == "borrowed" for kind, *_ in memory.plan):
        note("borrowed: constants, weights, and arrays that kernels or the caller have made")


def _cells(values: list[dict[str, Any]]) -> list[Lines]:
    """Bytes, until, memory: a line for each output."""
    lines = [[str(v["bytes"]), v["until"], _where(v)] for v in values]
    return [Lines(column) for column in zip(*lines, strict=True)] or [Lines()] * 3


def _where(value: dict[str, Any]) -> str:
    if value["memory"].startswith("in place") or not value["allocation"]:
        return str(value["memory"])
    return f"{value['allocation']}, {size(value['allocated'])}"


def _row(block: dict[str, Any]) -> list[Any]:
    instructions = block["instructions"]
    runs = "frames" if block["has_frames"] else "in order"
    return [block["name"] or "(the graph)", len(instructions), *_counts(instructions), runs]


def _counts(instructions: list[dict[str, Any]]) -> tuple[int, int, int]:
    """Nodes with a plugin's kernel, with a NumPy kernel, and those the executor does itself."""
    native = sum("library" in i for i in instructions)
    numpy = sum("callback" in i for i in instructions)
    return native, numpy, len(instructions) - native - numpy
