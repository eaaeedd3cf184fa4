"""How much memory a model's values touch by policies of allocation, and how warm it is.

``drystone explain MODEL --nodes --json > plan.json``, then ``python -m bench.alone.block_policies
plan.json ...``. The values of each file are taken and given back in their order, in five runs.
A policy has the MiB that it touched, and of the bytes that values got the percentage that was used
within the last 1 MiB and 16 MiB of work.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Classes", "Event", "Spans", "events", "main", "peak", "play"]

PAGE, LARGE_PAGE, HEAD = 4096, 2 << 20, 128
WARM = (1 << 20, 16 << 20)
RUNS = 5
Event = tuple[int, int]
"""A value's number, and its bytes where it is taken, 0 where it is given back."""


def events(plan: Mapping[str, Any]) -> list[Event]:
    """What the graph's block takes of large memory and gives back, in its order."""
    block = plan["blocks"][0]
    found: list[Event] = []
    lies_in: dict[int, int] = {}
    users: dict[int, int] = {}
    for one in block["instructions"]:
        for k, value in enumerate(one.get("values", ())):
            made = one["first_output"] + k
            if value["memory"] == "new" and value["place"] in ("span", "size class"):
                found.append((made, value["bytes"] + HEAD))
                lies_in[made], users[made] = made, 1
                continue
            shared = [lies_in[i] for i in one["inputs"] if i in lies_in][:1]
            if shared and value["memory"] != "new":
                lies_in[made] = shared[0]
                users[shared[0]] += 1
        for dead in one["dies"]:
            if dead in lies_in:
                users[lies_in[dead]] -= 1
                if not users[lies_in[dead]]:
                    found.append((lies_in[dead], 0))
    return found + [(value, 0) for value, count in users.items() if count]


def peak(sequence: Sequence[Event]) -> int:
    """Bytes of the values that are alive at a time, at most."""
    alive: dict[int, int] = {}
    most = 0
    for value, size in sequence:
        if size:
            alive[value] = size
            most = max(most, sum(alive.values()))
        else:
            del alive[value]
    return most


@dataclass
class Classes:
    """Blocks of eight sizes per power of two; the last that came back, of up to 25 classes."""

    top: int = 0
    free: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    used: dict[int, tuple[int, int]] = field(default_factory=dict)
    now: int = 0

    def take(self, value: int, size: int) -> int:
        """Where the value lies."""
        power = size.bit_length() - 1
        step = (1 << power) // 8
        number = power * 8 + -(-(size - (1 << power)) // step)
        near = [k for k in range(number, number + 25) if self.free.get(k)]
        if near:
            number = max(near, key=lambda k: self.free[k][-1])
            _, offset = self.free[number].pop()
        else:
            offset, whole = self.top, (1 << number // 8) // 8 * (8 + number % 8)
            unit = LARGE_PAGE if whole >= LARGE_PAGE // 2 else PAGE
            self.top += -(-(whole + 64) // unit) * unit
        self.used[value] = number, offset
        return offset

    def give(self, value: int) -> None:
        """It comes back."""
        number, offset = self.used.pop(value)
        self.now += 1
        self.free.setdefault(number, []).append((self.now, offset))


@dataclass
class Spans:
    """Blocks that are cut and joined: of those that fit the last to come back, or the smallest."""

    smallest: bool
    top: int = 0
    free: list[tuple[int, int, int]] = field(default_factory=list)
    used: dict[int, tuple[int, int]] = field(default_factory=dict)
    now: int = 0

    def take(self, value: int, size: int) -> int:
        """Where the value lies."""
        size = -(-size // PAGE) * PAGE
        fit = [one for one in self.free if one[1] >= size]
        if fit:
            best = min(fit, key=lambda one: (one[1] if self.smallest else 0, -one[2]))
            self.free.remove(best)
            offset = best[0]
            if best[1] > size:
                self.free.append((offset + size, best[1] - size, best[2]))
        else:
            ends = [one for one in self.free if one[0] + one[1] == self.top]
            offset = ends[0][0] if ends else self.top
            self.free = [one for one in self.free if one not in ends]
            self.top = offset + size
        self.used[value] = offset, size
        return offset

    def give(self, value: int) -> None:
        """It comes back."""
        begin, size = self.used.pop(value)
        end = begin + size
        beside = [one for one in self.free if one[0] + one[1] == begin or one[0] == end]
        self.free = [one for one in self.free if one not in beside]
        begin = min([begin, *(one[0] for one in beside)])
        end = max([end, *(one[0] + one[1] for one in beside)])
        self.now += 1
        self.free.append((begin, end - begin, self.now))


def play(sequence: Sequence[Event], policy: Classes | Spans) -> tuple[int, list[int]]:
    """Bytes that it touched, and percentages of bytes that were warm."""
    last = np.full(1 << 17, -(1 << 60))
    sizes: dict[int, tuple[int, int]] = {}
    clock = total = 0
    warm = [0, 0]
    for value, size in list(sequence) * RUNS:
        if size:
            first = policy.take(value, size) // PAGE
            sizes[value] = first, first + -(-size // PAGE)
            age = clock - last[slice(*sizes[value])]
            warm = [w + int((age < most).sum()) for w, most in zip(warm, WARM, strict=True)]
            total += len(age)
            clock += size
        else:
            policy.give(value)
        last[slice(*sizes[value])] = clock
    return policy.top, [round(100 * w / max(total, 1)) for w in warm]


def _lines(files: Sequence[str]) -> Iterator[str]:
    for file in files:
        sequence = events(json.loads(Path(file).read_text(encoding="utf-8")))
        parts = [f"{Path(file).stem:20} alive {peak(sequence) / 2**20:5.1f} MiB"]
        policies: dict[str, Classes | Spans] = {
            "classes": Classes(),
            "smallest fit": Spans(smallest=True),
            "last that came back": Spans(smallest=False),
        }
        for name, policy in policies.items():
            touched, (near, far) = play(sequence, policy)
            parts.append(f"{name} {touched / 2**20:5.1f} MiB {near:2} % {far:2} %")
        yield " | ".join(parts)


def main(files: Sequence[str]) -> int:
    """Print a line for each plan."""
    for line in _lines(files):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
