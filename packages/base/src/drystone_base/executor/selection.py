"""Which kernel runs a node: the reference kernel, or one that a plugin registered.

The rule: of the kernels for the CPU whose label is the node's ``_kernel`` attribute and whose type
constraints hold, the one of highest priority. Reference kernels have no label, fit every dtype and
count as priority -1, so that a plugin's 0 (the default) beats them and its -2 yields. Of equals the
one that was registered first runs. The reference executor leaves out drystone's own plugins, which
are held against it. Control flow is the executor's own: no kernel runs it.
:func:`explain` shows how the rule comes out, candidate by candidate. A session asks once for each
set of fetches and feeds: what it has run before keeps its kernels when a plugin is loaded later.

Nodes run on the CPU unless they were placed on a device of a plugin that has a kernel for them
(:mod:`drystone_base.executor.plugin_devices`). Nothing here is imported before a plugin library has
been opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.core.dtypes import DType, from_number
from drystone_base.core.errors import GraphError, UnsupportedOp
from drystone_base.core.payloads import at_node
from drystone_base.core.registered import ENTRY_FUNCTIONS, ISOLATED_KERNELS
from drystone_base.kernels._registry import KERNELS

if TYPE_CHECKING:
    from drystone_base.graph import Node

__all__ = [
    "REFERENCE_PRIORITY",
    "Candidate",
    "Verdict",
    "candidate_of",
    "candidates",
    "chosen_kernel",
    "explain",
    "kernel_devices",
    "registered",
    "select",
]

REFERENCE_PRIORITY: Final = -1
"""What a reference kernel counts as beside the kernels of plugins."""

_REFERENCE: Final = "drystone-base"


class Candidate(NamedTuple):
    """One kernel of an op, as it was registered.

    ``constraints`` lists attributes with the dtypes they may hold; ``library`` is a plugin's file.
    ``id`` is the host's number for it; None: the reference kernel. ``isolated``: it runs in the
    process of its plugin, whose host has that number.
    """

    op: str
    name: str
    device: str
    priority: int
    label: str
    constraints: tuple[tuple[str, tuple[DType, ...]], ...]
    host_memory: tuple[str, ...]
    is_async: bool
    library: str
    id: int | None
    isolated: bool = False

    @property
    def is_reference(self) -> bool:
        """Whether this is the kernel of drystone itself."""
        return self.id is None


class Verdict(NamedTuple):
    """What became of one candidate, and why."""

    candidate: Candidate
    chosen: bool
    reason: str


class _ByOp(Mapping[str, tuple[Candidate, ...]]):
    """Kernels by op; the host is asked for those of an op once, as a graph has few ops."""

    def __init__(self, ask: Callable[[str | None], list[dict[str, Any]]]) -> None:
        self._ask = ask
        self._made: dict[str, tuple[Candidate, ...]] = {}

    def __getitem__(self, op: str) -> tuple[Candidate, ...]:
        found = self._made.get(op)
        if found is None:
            rows = () if "\0" in op else self._ask(op)  # which would end the name there
            found = self._made[op] = tuple(candidate_of(row) for row in rows)
        if not found:
            raise KeyError(op)
        return found

    @cached_property
    def _ops(self) -> dict[str, None]:
        return dict.fromkeys(row["op"] for row in self._ask(None))

    @cached_property
    def devices(self) -> frozenset[str]:
        """The types of devices that there are kernels for."""
        return frozenset(row["device"] for row in self._ask(None))

    def __iter__(self) -> Iterator[str]:
        return iter(self._ops)

    def __len__(self) -> int:
        return len(self._ops)


class _Cache:
    """The host's list, as of the last time that a library registered something."""

    def __init__(self) -> None:
        self.generation = -1
        self.by_op = _ByOp(_none)


def _none(_op: str | None) -> list[dict[str, Any]]:
    return []


_CACHE: Final = _Cache()


def kernel_devices() -> frozenset[str]:
    """The types of devices that plugins have registered kernels for."""
    registered()
    return _CACHE.by_op.devices


def registered() -> Mapping[str, tuple[Candidate, ...]]:
    """The kernels of plugins by op, in order of registration; does not open the host library."""
    now = len(ENTRY_FUNCTIONS)
    if now != _CACHE.generation:
        _CACHE.by_op = _ByOp(_asked_of_host if now else _none)
        _CACHE.generation = now
    return _CACHE.by_op


def _asked_of_host(op: str | None) -> list[dict[str, Any]]:
    from drystone_base.host.kernels import list_kernels

    isolated = ISOLATED_KERNELS.values() if op is None else [ISOLATED_KERNELS.get(op, [])]
    return [*list_kernels(op), *chain.from_iterable(isolated)]


def candidate_of(row: dict[str, Any]) -> Candidate:
    """A kernel as ``list_kernels`` tells it."""
    constraints = tuple((c["attr"], _dtypes(c["types"])) for c in row["constraints"])
    return Candidate(
        row["op"], row["name"], row["device"], row["priority"], row["label"], constraints,
        tuple(row["host_memory"]), row["is_async"], row["library"], row["id"],
        row.get("isolated", False),
    )  # fmt: skip


def _dtypes(numbers: list[int]) -> tuple[DType, ...]:
    """The dtypes of these numbers; those that no node can have are left out."""
    known = []
    for number in numbers:
        try:
            known.append(from_number(number))
        except GraphError:
            continue
    return tuple(known)


def candidates(
    op: str, device_type: str, attrs: Mapping[str, Any], label: str = "", *, own: bool = True
) -> list[Candidate]:
    """The kernels that fit a node of ``op`` with these attributes, the one that runs it first.

    Without ``own``, kernels of drystone's own plugins are left out.
    """
    known = _all(op) if own else _without_own(_all(op))
    fitting = [k for k in known if not _misfit(k, device_type, attrs, label)]
    return sorted(fitting, key=lambda k: -k.priority)  # stable: of equals the first registered


def select(
    op: str, device_type: str, attrs: Mapping[str, Any], label: str = "", *, own: bool = True
) -> Candidate | None:
    """The kernel that runs a node, None when there is none; ``own`` as for :func:`candidates`."""
    found = candidates(op, device_type, attrs, label, own=own)
    return found[0] if found else None


def explain(
    op: str, device_type: str = "CPU", attrs: Mapping[str, Any] | None = None, label: str = ""
) -> list[Verdict]:
    """Every kernel of an op with what becomes of it, the best one first.

    Without ``attrs`` the answer is for every dtype: several kernels may be used, each for some.
    """
    from drystone_base.executor.plan import runs_itself

    known = _all(op)
    if runs_itself(op):
        return [Verdict(k, False, "not used: the executor runs this op itself") for k in known]
    misfits = {k: _misfit(k, device_type, attrs, label) for k in known}
    ranked = sorted((k for k in known if not misfits[k]), key=lambda k: -k.priority)
    exact = attrs is not None
    verdicts = [_judge(k, ranked[:place], exact=exact) for place, k in enumerate(ranked)]
    return verdicts + [Verdict(k, False, misfits[k]) for k in known if misfits[k]]


def chosen_kernel(node: Node, *, own: bool = True) -> Candidate | None:
    """Which kernel of a plugin runs the node; None for the reference kernel.

    Without ``own``, kernels of drystone's own plugins are left out. Raises ``UnsupportedOp``
    (``op-not-implemented``) when no kernel fits, with the reason of each.
    """
    attrs = node.full_attrs()
    label = attrs.get("_kernel", "")
    chosen = select(node.op, "CPU", attrs, label, own=own)
    if chosen is None:
        raise _none_fits(node, explain(node.op, "CPU", attrs, label))
    return None if chosen.is_reference else chosen


def _none_fits(node: Node, verdicts: list[Verdict]) -> UnsupportedOp:
    reasons = [f"{v.candidate.name}: {v.reason.removeprefix('not used: ')}" for v in verdicts]
    return UnsupportedOp(
        f"node {node.name!r} cannot run: no kernel of op {node.op!r} fits it",
        details=at_node(node.name, node.op),
        check="every op that a fetch reaches must have a kernel for the node's label and dtypes",
        found="; ".join(reasons),
        needed="one that fits",
        remedy=f"`drystone plugins explain {node.op}` lists the kernels; change the node's dtypes",
    )


def _all(op: str) -> list[Candidate]:
    """Kernels of plugins in order of registration, and the reference kernel."""
    found = list(registered().get(op, ()))
    if op in KERNELS.index or KERNELS.find(op) is not None:
        found.append(
            Candidate(
                op, op, "CPU", REFERENCE_PRIORITY, "", (), (), False, _REFERENCE, None
            )
        )  # fmt: skip
    return found


def _without_own(known: list[Candidate]) -> list[Candidate]:
    """The kernels but those of drystone's own plugins, which the reference kernel stands for."""
    from drystone_base.plugins._manager import manager

    if not any(k.is_reference for k in known):
        return known
    own = manager.own_libraries()
    return [k for k in known if k.library not in own]


def _misfit(
    kernel: Candidate, device_type: str, attrs: Mapping[str, Any] | None, label: str
) -> str:
    """Why a kernel cannot run a node; "" when it can."""
    if kernel.device != device_type:
        return f"not used: it is for device {kernel.device}, the node runs on {device_type}"
    if kernel.label != label:
        return f"not used: its label is {kernel.label!r}, the node's _kernel is {label!r}"
    if attrs is None:
        return ""
    for name, allowed in kernel.constraints:
        held = attrs.get(name)
        given = held if isinstance(held, list) else [held]
        wrong = [t for t in given if not isinstance(t, DType) or t.base not in allowed]
        if wrong or not given:
            shown = ", ".join(map(str, given)) or "empty"
            needed = " or ".join(map(str, allowed)) or "none"
            return f"not used: {name} is {shown}, it needs {needed}"
    return _stays(kernel, attrs) if kernel.isolated else ""


def _stays(kernel: Candidate, attrs: Mapping[str, Any]) -> str:
    """Why a node's values cannot go to the process of an isolated kernel."""
    from drystone_base.plugins.isolation_kernels import what_stays

    found = ", ".join(dict.fromkeys(what_stays(kernel.op, attrs)))
    return f"not used: it is isolated, and {found} means nothing in its process" if found else ""


def _judge(kernel: Candidate, better: list[Candidate], *, exact: bool) -> Verdict:
    """What becomes of a kernel that fits, beside those that come before it.

    ``exact``: the node's dtypes are known, so that one kernel wins them all.
    """
    rivals = [b for b in better if exact or _overlap(b, kernel)]
    beaten = next((b for b in rivals if exact or _covers(b, kernel)), None)
    if beaten is not None:
        return Verdict(kernel, False, f"not used: {_against(kernel, beaten)}")
    where = "" if exact else _types(kernel)
    if not rivals:
        return Verdict(kernel, True, f"used{where}: priority {kernel.priority} is the highest")
    losses = "; ".join(f"not{_types(b)}: {_against(kernel, b)}" for b in rivals)
    return Verdict(kernel, True, f"used{where}, but {losses}")


def _against(kernel: Candidate, winner: Candidate) -> str:
    if kernel.priority == winner.priority:
        return f"{_name(winner)} has the same priority and was registered first"
    return f"its priority {kernel.priority} is below the {winner.priority} of {_name(winner)}"


def _overlap(a: Candidate, b: Candidate) -> bool:
    """Whether some node fits both."""
    other = dict(b.constraints)
    return all(set(types) & set(other.get(name, types)) for name, types in a.constraints)


def _covers(a: Candidate, b: Candidate) -> bool:
    """Whether every node that fits ``b`` fits ``a``."""
    other = dict(b.constraints)
    return all(name in other and set(other[name]) <= set(types) for name, types in a.constraints)


def _types(kernel: Candidate) -> str:
    """The dtypes that a kernel is for."""
    parts = [f"{name} = {' or '.join(map(str, types))}" for name, types in kernel.constraints]
    return f" where {', '.join(parts)}" if parts else ""


def _name(kernel: Candidate) -> str:
    if kernel.is_reference:
        return "the reference kernel"
    return f"kernel {kernel.name} of {kernel.library}" + (", isolated" if kernel.isolated else "")
