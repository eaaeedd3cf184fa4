"""Where each byte goes: values of a recorded run, their memory, and what makes the peak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from drystone_base.executor.record import NodeRun, Record

__all__ = ["Memory", "memory_of"]


class Memory(NamedTuple):
    """What is known of a run: per (block, instruction), rows of its values; the peak's holders.

    A row has ``bytes``, ``until`` (the node after which nothing needs the value, or "the end"),
    ``memory``: "new", "in place of NODE", or "" where it is not known, and ``place`` and ``room``:
    where the memory lies and how many bytes were taken there. ``holders`` are (node, bytes), most
    first, of the block in which the most was held. ``plan`` has (place, values, bytes, room) for
    each place; a node in a loop counts once, values in the memory of an input not at all, and in
    blocks with frames, where it is not known who shares memory, each value.
    """

    rows: dict[tuple[int, int], list[dict[str, Any]]]
    peak: int
    peak_node: str
    holders: list[tuple[str, int]]
    plan: list[tuple[str, int, int, int]]


def memory_of(record: Record, blocks: list[dict[str, Any]]) -> Memory | None:
    """The memory of a recorded run of a plan that ``Session.describe`` describes."""
    known = [n for n in record.nodes if n.place[0] >= 0]
    if not known:
        return None
    names = [_names(block) for block in blocks]
    ends = [_ends(block) for block in blocks]
    made: dict[tuple[int, str], set[int]] = {}
    for node in known:
        made.setdefault((node.place[0], node.node), set()).update(m for _, m in node.outputs)
    first = {n.place: n for n in reversed(known)}  # of nodes in loops
    rows = {place: _rows(n, blocks, ends, names, made) for place, n in first.items()}
    top = max(known, key=lambda n: n.held or 0)
    holders = _holders(top, known, blocks, ends, names)
    return Memory(rows, top.held or 0, top.node, holders, _plan(rows))


def _plan(rows: dict[tuple[int, int], list[dict[str, Any]]]) -> list[tuple[str, int, int, int]]:
    """The rows with memory of their own by kind of allocation, most bytes first."""
    found: dict[str, tuple[int, int, int]] = {}
    for row in (row for listed in rows.values() for row in listed):
        if row["allocation"] and not row["memory"].startswith("in place"):
            count, size, taken = found.get(row["allocation"], (0, 0, 0))
            found[row["allocation"]] = (count + 1, size + row["bytes"], taken + row["allocated"])
    return sorted(((kind, *sums) for kind, sums in found.items()), key=lambda p: -p[2])


def _names(block: dict[str, Any]) -> dict[int, str]:
    """The node, or "feed k", that each value of a block comes from."""
    found = {k: f"feed {k}" for k in range(block["feeds"])}
    for i in block["instructions"]:
        found |= {i["first_output"] + k: i["node"] for k in range(i["num_outputs"])}
    return found


def _ends(block: dict[str, Any]) -> dict[int, int]:
    """The instruction after which nothing needs a value; values that are fetched are not in it."""
    return {v: k for k, i in enumerate(block["instructions"]) for v in i["dies"]}


def _rows(
    node: NodeRun,
    blocks: list[dict[str, Any]],
    ends: list[dict[int, int]],
    names: list[dict[int, str]],
    made: dict[tuple[int, str], set[int]],
) -> list[dict[str, Any]]:
    number, k = node.place
    instructions = blocks[number]["instructions"]
    makers = [names[number].get(v, "") for v in instructions[k]["inputs"]]
    found = []
    for o, (size, memory) in enumerate(node.outputs):
        end = ends[number].get(instructions[k]["first_output"] + o)
        until = "the end" if end is None else instructions[end]["node"]
        kind = "new" if memory >= 0 else ""
        for maker in makers:
            if memory >= 0 and memory in made.get((number, maker), ()):
                kind = f"in place of {maker}"
        where, taken = node.allocations[o] if o < len(node.allocations) else ("", 0)
        found.append(
            {"bytes": size, "until": until, "memory": kind, "allocation": where, "allocated": taken}
        )
    return found


def _holders(
    top: NodeRun,
    known: list[NodeRun],
    blocks: list[dict[str, Any]],
    ends: list[dict[int, int]],
    names: list[dict[int, str]],
) -> list[tuple[str, int]]:
    """What the block of the peak holds then, most first; one row per memory."""
    number, at = top.place
    held: dict[Any, tuple[str, int]] = {}
    for node in known:
        if node.place[0] != number or node.end > top.end:
            continue
        first = blocks[number]["instructions"][node.place[1]]["first_output"]
        for o, (size, memory) in enumerate(node.outputs):
            last = ends[number].get(first + o, at)
            if memory >= 0 and last >= at:
                held[memory] = (names[number][first + o], size)
    return sorted(held.values(), key=lambda item: -item[1])
