"""Plans in files: found by what they were made from, written when a session makes one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.core.dtypes import from_number
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.plan_cache.arrays import BOUNDARY, Places, read_constants
from drystone_base.executor.plan_cache.cache_key import cache_key
from drystone_base.executor.plan_cache.folder import store
from drystone_base.executor.plan_cache.records import discard_record, read_record, write_record
from drystone_base.loaders.load_manifest import write_loading

if TYPE_CHECKING:
    from drystone_base.api.config import SessionConfig
    from drystone_base.executor.encode import Encoded
    from drystone_base.executor.native import Program
    from drystone_base.files.store import Store
    from drystone_base.loaders._graph_file import GraphFile
    from drystone_base.loaders.load_manifest import Loading

__all__ = ["CachedPlan", "CachedPlans"]

_MOST_BYTES: Final = 1 << 28
"""Of constants that a plan holds beside those in the model: more take longer than they save."""
_MOST_CONSTANTS: Final = 1 << 13


class CachedPlan(NamedTuple):
    """A plan from a file: what the native executor loads, and what feeds must be."""

    program: Program
    feeds: list[tuple[str, int, tuple[int, ...] | None]]
    """Of each feed: name, number of its dtype, shape."""
    copies: bool
    """Whether feeds are copied: a kernel may hold them."""
    has_value: list[bool]
    """Of each fetch: whether it is a tensor."""


class CachedPlans:
    """The plans of one model's file for sessions of one config. Nothing here raises."""

    def __init__(
        self, file: GraphFile, config: SessionConfig, where: Store, made_by: list[Any]
    ) -> None:
        self._file, self._config, self._store, self._made_by = file, config, where, made_by

    @classmethod
    def of(cls, file: GraphFile, config: SessionConfig) -> CachedPlans | None:
        """Those of a file; None where they are not cached."""
        where = store()
        made_by = None if where is None else cache_key(config)
        return None if where is None or made_by is None else cls(file, config, where, made_by)

    def _made_from(self, fetches: Sequence[str], feeds: Sequence[str]) -> list[Any] | None:
        """What a plan is made from; None until the file has been hashed."""
        key = self._file.key()
        return None if key is None else [*key, list(fetches), list(feeds), self._made_by]

    def find(self, fetches: Sequence[str], feeds: Sequence[str]) -> CachedPlan | None:
        """The plan of these fetches from these feeds; None where there is none."""
        made_from = self._made_from(fetches, feeds)
        found = None if made_from is None else read_record(self._store, made_from)
        if found is None:
            return None
        facts, data = found
        try:
            begin = facts["constants_at"]
            constants = read_constants(facts["constants"], data[begin:], self._file.data)
            plan = bytes(data[: facts["plan_size"]])
            rows = [(n, t, None if s is None else tuple(s)) for n, t, s in facts["feeds"]]
            copies = bool(facts["copies"])
            has_value = [bool(value) for value in facts["has_value"]]
            program = _program(plan, constants, facts["kernels"], facts["outputs"])
        except (DrystoneError, LookupError, TypeError, ValueError, OSError):
            self.discard(fetches, feeds)
            return None
        self._note_file()  # other variables than when the plan was made, or another file
        return CachedPlan(program, rows, copies, has_value)

    def discard(self, fetches: Sequence[str], feeds: Sequence[str]) -> None:
        """Forget a plan."""
        made_from = self._made_from(fetches, feeds)
        if made_from is not None:
            discard_record(self._store, made_from)

    def keep(
        self,
        fetches: Sequence[str],
        feeds: Sequence[str],
        rows: Sequence[tuple[str, int, Sequence[int] | None]],
        encoded: Encoded,
        *,
        has_value: Sequence[bool],
        copies: bool,
    ) -> None:
        """Keep a plan that needs little of Python's, later.

        ``rows`` says of each feed what :class:`CachedPlan` does. Where making the plan has changed
        what plans depend on, or shown that it must not be cached, it is not.
        """
        if cache_key(self._config) != self._made_by:
            return
        kernels = _kernels(encoded)
        if kernels is None or len(encoded.constants) > _MOST_CONSTANTS:
            return
        facts = {
            "feeds": list(rows),
            "copies": copies,
            "has_value": list(has_value),
            "kernels": kernels,
            "outputs": encoded.outputs,
        }
        from drystone_base.executor.plan_cache.background import BACKGROUND

        BACKGROUND.add(partial(self._write, (list(fetches), list(feeds)), facts, encoded))
        self._note_file()

    def _write(
        self,
        signature: tuple[list[str], list[str]],
        facts: dict[str, Any],
        encoded: Encoded,
    ) -> None:
        places = Places(self._file.data)
        for attr, (_, dtype) in zip(encoded.attrs, encoded.constants, strict=True):
            if not places.add(attr, dtype) or places.size > _MOST_BYTES:
                return
        plan = encoded.plan.SerializeToString()
        padding = bytes(-len(plan) % BOUNDARY)
        sizes = {"plan_size": len(plan), "constants_at": len(plan) + len(padding)}
        facts = facts | sizes | {"constants": places.rows, "model": self._file.path()}
        if self._file.settle() and (made_from := self._made_from(*signature)) is not None:
            write_record(self._store, made_from, facts, [plan, padding, *places.parts])

    def _note_file(self) -> None:
        """Spare processes that take plans of this file from hashing and from reading it."""
        loading, self._file.loading = self._file.loading, None
        if loading is None and not self._file.is_to_note():
            return
        from drystone_base.executor.plan_cache.background import BACKGROUND

        BACKGROUND.add(partial(_note_file, self._file, loading))


def _note_file(file: GraphFile, loading: Loading | None) -> None:
    key = file.key_of_loading() if file.settle() else None
    if loading is not None and key is not None:
        write_loading(file.where, key, loading, file.path())


def _kernels(encoded: Encoded) -> list[Sequence[Any]] | None:
    """The kernels of Python's that a plan needs; None where one cannot be cached."""
    if not encoded.kernels:
        return []
    from drystone_base.executor.plan_cache.kernels import kernel_rows

    return kernel_rows(encoded.kernels)


def _program(
    plan: bytes,
    constants: list[tuple[Any, int]],
    rows: Sequence[Sequence[Any]],
    outputs: Sequence[Sequence[int]],
) -> Program:
    from drystone_base.executor.native import Program

    if not rows:
        return Program(plan, constants)
    from drystone_base.executor.calling import compute, needs_run
    from drystone_base.executor.numpy_kernels import tell_of_heavy
    from drystone_base.executor.plan_cache.kernels import read_kernels

    dtypes = [tuple(map(int, own)) for own in outputs]
    kernels = [
        kernel._replace(output_types=tuple(map(from_number, own)))
        for kernel, own in zip(read_kernels(rows), dtypes, strict=True)
    ]
    tell_of_heavy(kernel.op for kernel in kernels)
    return Program(plan, constants, dtypes, partial(compute, kernels), needs_run(kernels))
