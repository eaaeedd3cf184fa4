"""Copies between host memory and devices: instructions where an edge leads from one to the other.

Feeds and fetches of a run are in host memory, unless its session leaves fetches where they are made
(a feed that only devices use may lie on one), and so is what goes through frames. Those of
functions and loops are where their bodies have them: what goes round in a loop stays on the device
that computes it. A variable is read where its value is needed. A value is copied once to each place
where it is needed, a constant once for all runs. What hands values on as they are, or looks at
their shapes, does so on the host, wherever it was placed, if it takes them from there and all that
uses what it gives is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from drystone_base.core.errors import UnsupportedOp
from drystone_base.executor._wiring import order
from drystone_base.executor.plan import Instruction, Kind, OnDevice, Plan
from drystone_base.kernels import find_kernel
from drystone_base.ops.properties import IDENTITIES, READERS, RESHAPES, SHAPE_ONLY

__all__ = ["HOST", "CopyTo", "Places", "natural_places", "with_copies"]

HOST: Final = ""
ANYWHERE: Final = "anywhere"
"""What a forward needs."""
_COMPUTES_NOTHING: Final = IDENTITIES | RESHAPES | SHAPE_ONLY


class CopyTo(NamedTuple):
    """Where a COPY copies to: a device or ``HOST``.

    ``waits``: what it fills in host memory is read before the run ends. ``is_kept``: the value is
    that of a constant, of which one copy serves all runs.
    """

    place: str
    waits: bool = False
    is_kept: bool = False


class Places(NamedTuple):
    """Where what goes into a plan or a call lies, and what comes out of it."""

    feeds: tuple[str, ...]
    fetches: tuple[str, ...]


Calls = Callable[[Instruction], Places | None]
"""The places of what runs other plans; None for any other instruction."""


def with_copies(
    plan: Plan,
    forwards: frozenset[str],
    calls: Calls,
    at: Places | None = None,
    *,
    stays: bool = False,
) -> Plan:
    """The plan with a COPY on each edge between memories.

    ``forwards``: ops whose output k the executor makes of input k, wherever that lies. ``at``:
    where its feeds and fetches are to be; None: it is a whole run's, all of them are the host's,
    and the run ends only when all copies are done. ``stays``: what a whole run fetches is left
    where it is made.
    """
    found = _Copying(plan, forwards, calls, at, stays=stays and at is None)
    if at is None and stays:
        made = _Copying(plan, forwards, calls, None, stays=True).places_of_fetches()
        found.at = Places(found.at.feeds, tuple(made))
    return found.run()


def natural_places(plan: Plan, forwards: frozenset[str], calls: Calls) -> Places:
    """Where a plan takes its feeds and makes its fetches with the fewest copies."""
    asked: list[set[str]] = [set() for _ in plan.feeds]
    found = _Copying(plan, forwards, calls, None, brings_back=False)
    for feed, places in enumerate(plan.feeds):
        for consumer, slot in places:
            if plan.instructions[consumer].kind is not Kind.FETCH:
                asked[feed].add(found.needed(consumer, slot, ANYWHERE))
    feeds = [one.pop() if len(one := wanted - {ANYWHERE}) == 1 else HOST for wanted in asked]
    host = (HOST,) * len(plan.fetches)
    found = _Copying(plan, forwards, calls, Places(tuple(feeds), host))
    made = found.places_of_fetches()
    return Places(tuple(feeds), tuple(made))


class _Copying:
    def __init__(
        self, plan: Plan, forwards: frozenset[str], calls: Calls, at: Places | None,
        *, stays: bool = False, brings_back: bool = True,
    ) -> None:  # fmt: skip
        self.plan, self.forwards, self.is_whole = plan, forwards, at is None
        self.order = order(plan)
        host = Places((HOST,) * len(plan.feeds), (HOST,) * len(plan.fetches))
        self.at = at or host
        self.calls = {k: p for k, i in enumerate(plan.instructions) if (p := calls(i)) is not None}
        self.fetched = {k: n for n, k in enumerate(plan.fetches) if k >= 0}
        self.handed_on: dict[tuple[int, int], str] = {}  # places of a forward's inputs
        self.readers = {
            consumer
            for i in plan.instructions
            for output, consumer, slot in i.edges
            if i.output_types and i.output_types[output].ref
            if slot in plan.instructions[consumer].deref
        }
        self.out = list(plan.instructions)
        self.plan = plan = replace(plan, instructions=self.out)
        if brings_back:
            self.bring_back(stays=stays)
        self.out = list(plan.instructions)
        self.plan = plan = replace(plan, instructions=self.with_reads())
        self.out = [replace(i, edges=[]) for i in plan.instructions]
        self.copies: dict[tuple[int, int, str], int] = {}

    def run(self) -> Plan:
        if self.is_on_host():
            return self.plan
        feeds = [
            [self.end(-1 - feed, 0, self.at.feeds[feed], *place) for place in places]
            for feed, places in enumerate(self.plan.feeds)
        ]
        fetches = [self.handed_out(n, fetch, feeds) for n, fetch in enumerate(self.plan.fetches)]
        for k in self.order:
            for output, consumer, slot in self.plan.instructions[k].edges:
                place = self.place_of(k, output)
                at, input_ = self.end(k, output, place, consumer, slot)
                if (at, input_) == (consumer, slot):
                    self.out[k].edges.append((output, consumer, slot))
        unique = [list(dict.fromkeys(places)) for places in feeds]
        return replace(self.plan, instructions=self.out, feeds=unique, fetches=fetches)

    def bring_back(self, *, stays: bool) -> None:
        """Have no value go to a device and come back from there as it was.

        ``stays``: what is fetched is left where it is made.
        """
        found = self.plan.instructions
        visits: dict[int, bool] = {}  # what may be done on the host: whether it takes values there
        for k in reversed(self.order):
            is_idle = found[k].on_device is not None and found[k].op in _COMPUTES_NOTHING
            if (is_idle or self.hands_on(found[k])) and all(
                consumer in visits
                or (self.needed(consumer, slot, ANYWHERE) == HOST
                    and not (stays and consumer in self.fetched))
                for _, consumer, slot in found[k].edges
            ):  # fmt: skip
                visits[k] = True
        for feed, places in enumerate(self.plan.feeds):
            for consumer, slot in places:
                self.come(visits, self.at.feeds[feed], consumer, slot)
        for k in self.order:
            if visits.get(k):
                found[k] = _brought_back(found[k])
            for output, consumer, slot in found[k].edges:
                self.come(visits, self.place_of(k, output), consumer, slot)

    def come(self, visits: dict[int, bool], place: str, consumer: int, slot: int) -> None:
        """Note that a value comes from a place."""
        self.needed(consumer, slot, place)
        there = self.plan.instructions[consumer].on_device
        if place != HOST and consumer in visits and (there is None or there.inputs[slot]):
            visits[consumer] = False

    def with_reads(self) -> list[Instruction]:
        """The instructions, each that reads a variable doing so where its value is needed.

        That is a device if what uses the value runs on one, be it behind nodes that hand it on.
        """
        found = list(self.plan.instructions)
        wanted: dict[tuple[int, int], set[str]] = {}
        for k in reversed(self.order):
            for output, consumer, slot in found[k].edges:
                place = self.needed(consumer, slot, ANYWHERE)
                places = wanted.get((consumer, slot), set()) if place == ANYWHERE else {place}
                wanted.setdefault((k, output), set()).update(places)
            if devices := sorted(wanted.get((k, 0), set()) - {HOST}):
                nearest = found[k].device if found[k].device in devices else devices[0]
                found[k] = _read_at(found[k], nearest, k in self.readers)
        return found

    def is_on_host(self) -> bool:
        """Whether nothing is anywhere else."""
        places = {p for one in (self.at, *self.calls.values()) for part in one for p in part}
        on_host = all(i.on_device is None for i in self.plan.instructions)
        return on_host and places <= {HOST}

    def handed_out(self, number: int, fetch: int, feeds: list[list[tuple[int, int]]]) -> int:
        """The fetch; one that copies a feed which is fetched at another place."""
        if fetch >= 0 or self.at.feeds[-1 - fetch] == self.at.fetches[number]:
            return fetch
        made = len(self.out)
        self.out.append(Instruction(Kind.FETCH, None, "argument", "", {}, 1, 0))
        self.fetched[made] = number
        feeds[-1 - fetch].append(self.end(fetch, 0, self.at.feeds[-1 - fetch], made, 0))
        return made

    def places_of_fetches(self) -> list[str]:
        """Where the fetches are made."""
        found = [HOST] * len(self.plan.fetches)
        for feed, places in enumerate(self.plan.feeds):
            for consumer, slot in places:
                self.look(found, self.at.feeds[feed], consumer, slot)
        for k in self.order:
            for output, consumer, slot in self.plan.instructions[k].edges:
                self.look(found, self.place_of(k, output), consumer, slot)
        for number, fetch in enumerate(self.plan.fetches):
            if fetch < 0:
                found[number] = self.at.feeds[-1 - fetch]
        return found

    def look(self, found: list[str], place: str, consumer: int, slot: int) -> None:
        """Follow an edge: note what is fetched, and where forwards have what they hand on."""
        self.needed(consumer, slot, place)
        if consumer in self.fetched:
            found[self.fetched[consumer]] = place

    def place_of(self, k: int, output: int) -> str:
        """Where an output lies."""
        instruction = self.plan.instructions[k]
        if k in self.calls:
            return self.calls[k].fetches[output]
        if instruction.on_device is not None:
            return instruction.on_device.name if instruction.on_device.outputs[output] else HOST
        if instruction.copy is not None:
            return instruction.copy.place
        return self.handed_on.get((k, output), HOST)

    def needed(self, consumer: int, slot: int, place: str) -> str:
        """Where an input must lie that lies at ``place`` now."""
        taker = self.out[consumer]
        if consumer in self.fetched:
            return self.at.fetches[self.fetched[consumer]]
        if consumer in self.calls:
            return self.calls[consumer].feeds[slot]
        if taker.on_device is not None:
            return taker.on_device.name if taker.on_device.inputs[slot] else HOST
        if self.hands_on(taker):
            self.handed_on[consumer, slot] = place
            return place
        return HOST

    def hands_on(self, taker: Instruction) -> bool:
        """Whether output k is input k, wherever that lies."""
        is_forward = taker.kind is Kind.PLAIN and taker.op in self.forwards
        on_device = taker.on_library or taker.on_device is not None
        return is_forward and not on_device and taker.output_count == taker.input_count

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


def _brought_back(instruction: Instruction) -> Instruction:
    """The instruction on the host, where it computes nothing but has been placed on a device."""
    if instruction.on_device is None or instruction.source is None:
        return instruction
    own = replace(instruction, on_device=None, on_library=False, kernel=find_kernel(instruction.op))
    if instruction.op in IDENTITIES:
        return own
    from drystone_base.executor.selection import chosen_kernel  # which those without plugins spare

    try:
        chosen = chosen_kernel(instruction.source)
    except UnsupportedOp:  # the host has none of its label
        return instruction
    if chosen is None:
        return own
    return instruction if chosen.isolated else replace(own, on_library=True, kernel=None)


def _read_at(instruction: Instruction, place: str, reads_reference: bool) -> Instruction:
    """The instruction reading its variable at a place, if that is what it does."""
    if instruction.kind is not Kind.PLAIN or instruction.on_device is not None:
        return instruction
    if instruction.op in READERS:
        there = OnDevice(place, (False,), (True,))
        kernel = find_kernel(instruction.op)  # which says what is wrong with a handle
        return replace(instruction, kernel=kernel, on_library=False, on_device=there)
    if reads_reference and instruction.op in IDENTITIES and instruction.output_count == 1:
        return replace(instruction, kind=Kind.COPY, copy=CopyTo(place), on_library=False)
    return instruction
