"""Copies between host memory and devices: instructions where an edge leads from one to the other.

Feeds and fetches of a plan are in host memory, as are arguments and results of functions,
variables, and what goes through v1 control flow. A value is copied once to each place where it is
needed, a constant once for all runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from drystone_base.executor._wiring import order
from drystone_base.executor.plan import Instruction, Kind, Plan

__all__ = ["HOST", "CopyTo", "with_copies"]

HOST: Final = ""


class CopyTo(NamedTuple):
    """Where a COPY copies to: a device or ``HOST``.

    ``waits``: what it fills in host memory is read before the run ends. ``is_kept``: the value is
    that of a constant, of which one copy serves all runs.
    """

    place: str
    waits: bool = False
    is_kept: bool = False


def with_copies(plan: Plan, forwards: frozenset[str], *, is_whole: bool) -> Plan:
    """The plan with a COPY on each edge between memories.

    ``forwards``: ops whose output k the executor makes of input k, wherever that lies.
    ``is_whole``: its fetches are those of the run, which ends only when all copies are done.
    """
    if all(i.on_device is None for i in plan.instructions):
        return plan
    return _Copying(plan, forwards, is_whole).run()


class _Copying:
    def __init__(self, plan: Plan, forwards: frozenset[str], is_whole: bool) -> None:
        self.plan, self.forwards, self.is_whole = plan, forwards, is_whole
        self.out = [replace(i, edges=[]) for i in plan.instructions]
        self.handed_on: dict[tuple[int, int], str] = {}  # places of a forward's inputs
        self.copies: dict[tuple[int, int, str], int] = {}

    def run(self) -> Plan:
        feeds = [
            [self.end(-1 - feed, 0, HOST, *place) for place in places]
            for feed, places in enumerate(self.plan.feeds)
        ]
        for k in order(self.plan):
            for output, consumer, slot in self.plan.instructions[k].edges:
                place = self.place_of(k, output)
                at, input_ = self.end(k, output, place, consumer, slot)
                if (at, input_) == (consumer, slot):
                    self.out[k].edges.append((output, consumer, slot))
        return replace(self.plan, instructions=self.out, feeds=[_unique(f) for f in feeds])

    def place_of(self, k: int, output: int) -> str:
        """Where an output lies."""
        instruction = self.plan.instructions[k]
        if instruction.on_device is not None:
            return instruction.on_device.name if instruction.on_device.outputs[output] else HOST
        return self.handed_on.get((k, output), HOST)

    def needed(self, consumer: int, slot: int, place: str) -> str:
        """Where an input must lie that lies at ``place`` now."""
        taker = self.plan.instructions[consumer]
        if taker.on_device is not None:
            return taker.on_device.name if taker.on_device.inputs[slot] else HOST
        hands_on = taker.kind is Kind.PLAIN and taker.op in self.forwards and not taker.on_library
        if hands_on and taker.output_count == taker.input_count:
            self.handed_on[consumer, slot] = place
            return place
        return HOST

    def end(self, k: int, output: int, place: str, consumer: int, slot: int) -> tuple[int, int]:
        """What an edge leads to: the consumer, or a copy before it."""
        needed = self.needed(consumer, slot, place)
        if needed == place:
            return consumer, slot
        first = last = None
        for step in (HOST, needed) if HOST not in (place, needed) else (needed,):
            known = self.copies.get((k, output, step))
            if known is None:
                known = self.copy(k, output, step, last)
            first = known if first is None else first
            last = known
        assert first is not None
        assert last is not None
        self.out[last].edges.append((0, consumer, slot))
        self.note_reader(last, consumer)
        return first, 0

    def copy(self, k: int, output: int, to: str, after: int | None) -> int:
        """A new COPY of an output to a place, which takes what the copy ``after`` gives."""
        number = self.copies[k, output, to] = len(self.out)
        source = self.plan.instructions[k] if k >= 0 else None
        types = source.output_types if source is not None else ()
        is_ref = bool(types) and types[output].ref
        is_kept = source is not None and source.op == "Const" and source.kernel is not None
        names = self.plan.feed_names
        name = source.node if source is not None else names[-1 - k] if names else "argument"
        self.out.append(
            Instruction(
                Kind.COPY, None, name, "_Copy", {}, 1, 1, deref=(0,) if is_ref else (),
                output_types=(types[output].base,) if types else (),
                copy=CopyTo(to, is_kept=is_kept),
            )
        )  # fmt: skip
        if after is not None:
            self.out[after].edges.append((0, number, 0))
            self.note_reader(after, number)
        elif k >= 0:
            self.out[k].edges.append((output, number, 0))
        return number

    def note_reader(self, copy: int, consumer: int) -> None:
        """Have a copy to the host wait, unless what it gives is only fetched."""
        made = self.out[copy].copy
        assert made is not None
        is_fetched = self.is_whole and self.out[consumer].kind is Kind.FETCH
        if made.place == HOST and not is_fetched:
            self.out[copy].copy = made._replace(waits=True)


def _unique(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return list(dict.fromkeys(places))
