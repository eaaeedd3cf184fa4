"""Whether both executors do the same with a program."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph
from random_programs.draw import Program, draw

__all__ = [
    "Disagreement", "Failed", "assert_split_agrees", "disagreement", "outcome", "outcomes", "same",
    "scattered", "smallest",
]  # fmt: skip

NODE = re.compile(r"node '([^']*)'")
DEADLINE = 30.0


class Disagreement(NamedTuple):
    """Where two executors part: the run, the fetch or nothing, and what each of them has."""

    seed: int
    run: int
    fetch: str
    reference: Any
    native: Any

    def __str__(self) -> str:
        return (
            f"seed {self.seed}, run {self.run} {self.fetch}\n"
            f"  reference: {self.reference!r}\n  native:    {self.native!r}"
        )


class Failed(NamedTuple):
    """What the error of a run says; the text is not compared."""

    kind: str
    code: str
    status: str
    node: str
    calls: tuple[tuple[str, str], ...]
    text: str


def scattered(program: Program, seed: int, share: float) -> Graph:
    """The program's graph, that share of its nodes on one of three devices at random."""
    chance, split = random.Random(seed), program.graph.copy()
    for node in split:
        if chance.random() < share:
            split.set_device(node, f"/cpu:{chance.randrange(3)}")
    return split


def outcome(session: Session, fetches: list[str], feeds: dict[str, Any]) -> Any:
    """The values of a run, or what its error says."""
    try:
        return session.run(fetches, feeds)
    except DrystoneError as error:
        named = NODE.search(error.what)
        node = named[1] if named else error.what
        code = error.code.removeprefix("plugin-")  # a kernel failed, whoever's it is
        return Failed(
            type(error).__name__, code, error.status, node, tuple(error.calls), str(error)
        )


def disagreement(program: Program, optimizer: Any = "off") -> Disagreement | None:
    """The first difference, or None. Runs after one that fails are not looked at.

    ``optimizer`` is that of the native session; the reference runs the graph as it is.
    """
    configs = (
        SessionConfig(executor="reference", deadline=DEADLINE, optimizer="off"),
        SessionConfig(executor="native", deadline=DEADLINE, optimizer=optimizer),
    )
    sessions = [Session(program.graph, config) for config in configs]
    for number, (fetches, feeds) in enumerate(program.runs):
        wanted, found = (outcome(session, fetches, feeds) for session in sessions)
        if isinstance(wanted, Failed) or isinstance(found, Failed):
            # Rewrites rename nodes and inline calls, and what nothing reads need not fail.
            rewritten = optimizer != "off" and isinstance(wanted, Failed)
            agree = rewritten or wanted[:5] == found[:5]
            return None if agree else Disagreement(program.seed, number, "", wanted, found)
        for fetch, a, b in zip(fetches, wanted, found, strict=True):
            if not same(a, b, exact=fetch not in program.inexact):
                return Disagreement(program.seed, number, fetch, a, b)
    return None


def outcomes(program: Program) -> list[str]:
    """``ok`` or an error's code for each run up to one that fails, by the native executor."""
    config = SessionConfig(executor="native", deadline=DEADLINE, optimizer="off")
    session = Session(program.graph, config)
    found = []
    for fetches, feeds in program.runs:
        ended = outcome(session, fetches, feeds)
        found.append(ended.code if isinstance(ended, Failed) else "ok")
        if found[-1] != "ok":
            break
    return found


def same(a: Any, b: Any, *, exact: bool) -> bool:
    """Whether two values of a fetch are the same, or close where rounding may differ."""
    if a is None or b is None:
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.hasobject or a.dtype.kind in "iub":
        return bool(a.tolist() == b.tolist())
    if not exact:
        a, b = (x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in (a, b))
        return bool(np.allclose(a, b, rtol=1e-2, atol=1e-3, equal_nan=True))
    return bool(np.array_equal(a, b, equal_nan=True))


def smallest(seed: int, optimizer: Any = "off") -> Disagreement | None:
    """The disagreement of the shortest beginning of a seed's program that has one."""
    for size in range(1, 15):
        if found := disagreement(draw(seed, size), optimizer):
            return found
    return None


def assert_split_agrees(program: Program, split: Graph, executor: Any) -> None:
    """A copy of the graph, placed on three devices, gives what the program gives on one."""
    config = SessionConfig(executor=executor, deadline=DEADLINE, optimizer="off")
    one = Session(program.graph, config)
    three = Session(split, replace(config, device_count={"CPU": 3}))
    for fetches, feeds in program.runs:
        wanted, found = outcome(one, fetches, feeds), outcome(three, fetches, feeds)
        if not isinstance(wanted, list):
            assert wanted.status == found.status
            return
        for name, a, b in zip(fetches, wanted, found, strict=True):
            assert same(a, b, exact=name not in program.inexact), name
