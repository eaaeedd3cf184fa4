"""CTC decoding by beam search over label prefixes, with TensorFlow's order of equal prefixes.

Source: TensorFlow op CTCBeamSearchDecoder; A. Graves, Supervised Sequence Labelling with Recurrent
Neural Networks, section 7.5. The last class is the blank.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.nn._ctc import check_logits, decoded

_NEVER: Final = -np.inf


class _Prefix:
    """A sequence of labels, with its probabilities (log scale) now and one step before.

    ``total`` is that of all paths, ``blank`` and ``label`` of those that end with either.
    """

    __slots__ = ("blank", "children", "label", "old_blank", "old_total", "own", "parent", "total")

    def __init__(self, parent: _Prefix | None, own: int) -> None:
        self.parent, self.own = parent, own
        self.children: dict[int, _Prefix] = {}
        self.total: Any = _NEVER
        self.blank: Any = _NEVER
        self.label: Any = _NEVER
        self.old_total: Any = _NEVER
        self.old_blank: Any = _NEVER

    def __lt__(self, other: _Prefix) -> bool:
        return bool(self.total < other.total)

    def forget(self) -> None:
        """No longer among the best."""
        self.total = self.blank = self.label = _NEVER

    def labels(self, merge: bool) -> list[int]:
        """The sequence, with equal labels in a row as one if ``merge``."""
        out: list[int] = []
        node, last = self, -1
        while node.parent is not None:
            if not merge or node.own != last:
                out.append(node.own)
            node, last = node.parent, node.own
        return out[::-1]


class _Best:
    """The best ``limit`` prefixes: unsorted until there are more, then a heap, the worst first.

    Which of several equal ones stay, and in what order, follows from these states.
    """

    def __init__(self, limit: int, items: Iterable[_Prefix] = ()) -> None:
        self.limit = limit
        self.items: list[_Prefix] = []
        self.heaped = self.bottom_first = False
        for item in items:
            self.push(item)

    def push(self, item: _Prefix) -> None:
        """Add one; the worst goes when there are too many."""
        if self.heaped:
            if self.items[0] < item:
                heapq.heappop(self.items)
                heapq.heappush(self.items, item)
            return
        self.items.append(item)
        if self.bottom_first and not self.items[0] < item:
            self.items[0], self.items[-1] = self.items[-1], self.items[0]
        if len(self.items) > self.limit:
            heapq.heapify(self.items)
            heapq.heappop(self.items)
            self.heaped = True

    def worst(self) -> _Prefix:
        """The worst one, which from now on is the first."""
        if not self.heaped and not self.bottom_first:
            at = min(range(len(self.items)), key=lambda k: self.items[k].total)
            self.items[0], self.items[at] = self.items[at], self.items[0]
            self.bottom_first = True
        return self.items[0]

    def ranked(self) -> list[_Prefix]:
        """All, best first."""
        if not self.heaped:
            return sorted(self.items, key=lambda p: -p.total)
        heap = list(self.items)
        return [heapq.heappop(heap) for _ in range(len(heap))][::-1]


def _log_add(a: Any, b: Any) -> Any:
    """log(exp a + exp b); what is added to the larger is float32 in any case, as in TensorFlow."""
    if a == _NEVER or b == _NEVER:
        return max(a, b)
    top = max(a, b)
    less = np.float32(math.exp(np.float32(min(a, b) - top)))
    return top + top.dtype.type(np.log1p(less))


def _norm(logits: Array) -> Any:
    """log of the sum of exp, term by term in their type: equal paths stay equal to the last bit."""
    top, kind = logits.max(), logits.dtype.type
    total = kind(0)
    for value in (logits - top).tolist():
        total += kind(math.exp(value))
    return top + kind(math.log(total))


def _continue(prefix: _Prefix, logits: Array, norm: Any) -> None:
    """The same labels one step later: by a blank, or by the last label once more."""
    parent = prefix.parent
    if parent is not None:
        if parent.total != _NEVER:
            more = parent.old_blank if prefix.own == parent.own else parent.old_total
            prefix.label = _log_add(prefix.label, more)
        prefix.label = prefix.label + (logits[prefix.own] - norm)
    prefix.blank = prefix.old_total + logits[-1] - norm
    prefix.total = _log_add(prefix.blank, prefix.label)


def _step(best: _Best, logits: Array) -> _Best:
    """One time step: each prefix as it is, then with each label appended."""
    norm = _norm(logits)
    prefixes = best.ranked()
    best = _Best(best.limit)
    for prefix in prefixes:
        prefix.old_total, prefix.old_blank = prefix.total, prefix.blank
    for prefix in prefixes:
        _continue(prefix, logits, norm)
        best.push(prefix)
    for prefix in prefixes:
        if _worth(best, prefix.old_total):
            _grow(best, prefix, logits - norm)
    return best


def _worth(best: _Best, total: Any) -> bool:
    return bool(total > _NEVER and (len(best.items) < best.limit or total > best.worst().total))


def _grow(best: _Best, prefix: _Prefix, scores: Array) -> None:
    totals = scores[:-1] + prefix.old_total
    if prefix.own >= 0:
        totals[prefix.own] = scores[prefix.own] + prefix.old_blank
    floor = best.worst().total if len(best.items) >= best.limit else _NEVER
    # Others cannot be among the best: the worst only gets better. Known ones are still forgotten.
    for label in sorted({*np.flatnonzero(totals > floor).tolist(), *prefix.children}):
        child = prefix.children.get(label)
        if child is None:
            child = prefix.children[label] = _Prefix(prefix, label)
        if child.total != _NEVER:
            continue
        child.blank = _NEVER
        child.label = child.total = totals[label]
        if not _worth(best, child.total):
            child.forget()
            child.old_total = child.old_blank = _NEVER
            continue
        if len(best.items) == best.limit:
            best.worst().forget()
        best.push(child)


def _search(logits: Array, width: int) -> _Best:
    root = _Prefix(None, -1)
    root.total = root.blank = logits.dtype.type(0)
    best = _Best(width, [root])
    for row in logits:
        best = _step(best, row)
    return best


@kernel("CTCBeamSearchDecoder")
@quiet
def ctc_beam_search_decoder(call: Call, inputs: Array, lengths: Array) -> list[Array]:
    """The ``top_paths`` most probable label sequences of each example, with log probabilities.

    Outputs are, for each path, the indices, then values, then shapes of a sparse matrix.
    """
    check_logits(call, inputs, lengths)
    call.require(inputs.size, "the logits must not be empty", found=list(inputs.shape))
    width, count = int(call.attrs["beam_width"]), int(call.attrs["top_paths"])
    call.require(
        count <= width,
        "no more paths than the beam is wide may be asked for",
        found=f"top_paths {count}, beam_width {width}",
        needed="top_paths up to beam_width",
    )
    scores = np.zeros(check_size(call, (inputs.shape[1], count), inputs.dtype), inputs.dtype)
    paths: list[Sequence[_Prefix]] = []
    for b, length in enumerate(lengths.tolist()):
        best = _search(inputs[: max(length, 0), b], width)
        call.require(
            count <= len(best.items),
            f"example {b} must have as many label sequences as paths are asked for",
            found=len(best.items),
            needed=count,
        )
        paths.append(_Best(count, best.items).ranked())
        scores[b] = [p.total for p in paths[b]]
    merge = bool(call.attrs["merge_repeated"])
    triples = [decoded([found[k].labels(merge) for found in paths]) for k in range(count)]
    return [*(t[0] for t in triples), *(t[1] for t in triples), *(t[2] for t in triples), scores]
