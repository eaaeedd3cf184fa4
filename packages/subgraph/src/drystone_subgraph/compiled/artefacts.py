"""Executables that outlive a process: artefacts made ahead of time, and the user's cache.

Both are folders of files (:mod:`.store`). The name of a file says what is computed: the region,
shapes and dtypes, constants and weights, threads; and who compiled it: backend, its version, and
what the processor can do. So nothing is ever taken for something else. An artefact of another
version or machine is refused with the reason, and where none fits, that is said once; the cache has
no entry then.
"""

from __future__ import annotations

import hashlib
import json
import platform
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_abi.protos import FunctionDef
from drystone_base import __version__
from drystone_base.core.machine import features
from drystone_base.files.store import BadFile, Store, cache_store
from drystone_base.graph import FunctionLibrary
from drystone_subgraph.contract.c_attrs import written_attrs
from drystone_subgraph.contract.environment import EXECUTABLE_CACHE, EXECUTABLE_CACHE_BYTES
from drystone_subgraph.contract.executable import CompileRequest, Executable, Handle
from drystone_subgraph.contract.failure import warn_of
from drystone_subgraph.regions.callees import called_functions

if TYPE_CHECKING:
    from drystone_subgraph.contract.backend import SubgraphBackend

__all__ = ["Artefacts", "digest", "region_key"]

_SHOWN: Final = 3
_LOCK: Final = threading.Lock()
_TOLD: Final[set[Path]] = set()
"""Folders of artefacts of which was said that something is missing."""

_COMPARED: Final = ("backend", "backend_version", "machine")


@cache
def _machine() -> str:
    """What code for this machine depends on."""
    flags = " ".join(sorted(features()))
    return f"{platform.machine()} {hashlib.sha256(flags.encode()).hexdigest()[:16]}"


def region_key(
    function: FunctionDef,
    library: FunctionLibrary,
    request: CompileRequest,
    known: dict[int, bytes],
) -> str:
    """A name for what an executable computes, whatever its operator is called.

    ``known``: what :func:`digest` gave of constants, by the number of their input; it is added to.
    """
    nameless = FunctionDef()
    nameless.CopyFrom(function)
    nameless.signature.name = ""
    found = hashlib.sha256(nameless.SerializeToString(deterministic=True))
    called = called_functions(function.node_def, library)
    found.update(called.SerializeToString(deterministic=True))
    for k, given in enumerate(request.inputs):
        found.update(repr((given.dtype.number, given.shape, given.is_weight)).encode())
        if given.value is None:
            continue
        of_value = known.get(k) or digest(given.value)
        if not given.is_weight:
            known[k] = of_value
        found.update(of_value)
    found.update(written_attrs(request.attrs) or b"")
    found.update(repr((request.threads, [t.number for t in request.output_types])).encode())
    return found.hexdigest()[:40]


def digest(value: np.ndarray[Any, Any]) -> bytes:
    """What tells an array from others of its shape and dtype.

    Of the hashes that Python has, SHA-256 is the fastest one that is not broken, where the
    processor computes it (``python -m bench.alone.hashes``).
    """
    if value.dtype.hasobject:
        return hashlib.sha256(repr(value.tolist()).encode()).digest()
    plain = np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    return hashlib.sha256(plain).digest()


class Artefacts:
    """Where an operator looks for executables, and where it leaves those that it compiles.

    ``folder``: of artefacts, or "". Those are looked at first; ``writes``: new ones go there.
    """

    def __init__(self, folder: str, writes: bool) -> None:
        self.given = Store(Path(folder)) if folder else None
        self.cache = (
            None if writes else cache_store("executable", EXECUTABLE_CACHE, EXECUTABLE_CACHE_BYTES)
        )
        self.target = self.given if writes else self.cache

    def load(
        self, backend: SubgraphBackend, key: str, request: CompileRequest
    ) -> Executable | Handle | None:
        """An executable that was kept; None, and perhaps a warning, where there is none."""
        facts = _facts(backend)
        for store in (self.given, self.cache):
            if store is None:
                continue
            name = _name(key, facts)
            try:
                found = store.read(name)
                if found is not None:
                    return backend.load(request, bytes(found[1]))
            except Exception as error:
                why = str(error) if isinstance(error, BadFile) else (
                    f"{backend.name!r} cannot load it: {type(error).__name__}: {error}"
                )  # fmt: skip
                _warn(f"an executable of {request.name!r} was not used: {why}")
                if store is self.cache:
                    store.discard(name)
            else:
                if store is self.given and store is not self.target:
                    self._explain(store, key, facts, request)
        return None

    def _explain(
        self, store: Store, key: str, facts: dict[str, str], request: CompileRequest
    ) -> None:
        """Say why artefacts for the same region are not used, or once that there are none."""
        others = [r for k in store.like(key) if (r := _differences(k, facts))]
        if not others:
            _tell_unmatched(store, facts, request)
        else:
            _warn(
                f"the artefact of {request.name!r} in {store.folder} was not used: {others[0]}; "
                "compile it again with `drystone partition --compile`"
            )

    def keep(
        self,
        backend: SubgraphBackend,
        key: str,
        request: CompileRequest,
        made: Executable | Handle,
    ) -> bool:
        """Keep a new executable, where the backend can say what it is; whether it is kept."""
        if self.target is None:
            return False
        facts = _facts(backend)
        about = {
            "operator": request.name,
            "made_by": f"drystone-base {__version__}",
            "shapes": [list(i.shape) for i in request.inputs],
        }
        try:
            self.target.write(_name(key, facts), facts | about, [backend.save(made)])
        except Exception as error:  # a run does without
            _warn(f"an executable of {request.name!r} is not kept: {type(error).__name__}: {error}")
            return False
        return True


def _facts(backend: SubgraphBackend) -> dict[str, str]:
    return {
        "backend": backend.name,
        "backend_version": str(backend.version),
        "machine": _machine(),
    }


def _name(key: str, facts: dict[str, str]) -> str:
    who = json.dumps([facts[name] for name in _COMPARED]).encode()
    return f"{key}-{hashlib.sha256(who).hexdigest()[:16]}"


def _differences(found: dict[str, Any], needed: dict[str, str]) -> str:
    rows: Iterator[str] = (
        f"{name.replace('_', ' ')} is {found.get(name)!r}, needed is {needed[name]!r}"
        for name in _COMPARED
        if found.get(name) != needed[name]
    )
    return "; ".join(rows)


def _tell_unmatched(store: Store, facts: dict[str, str], request: CompileRequest) -> None:
    """Say, once for a folder, what was looked for and what is there."""
    with _LOCK:
        if store.folder in _TOLD:
            return
        _TOLD.add(store.folder)
    shapes = [list(given.shape) for given in request.inputs]
    wanted = f"{request.name!r} of {facts['backend']!r} for {shapes}, threads={request.threads}"
    _warn(
        f"no artefact in {store.folder} fits a region, which is compiled: looked for {wanted}; "
        f"found {_contents(store)}; needed is the same region, with the same constants and "
        "weights, of a graph that the same packages have prepared: compile it here with "
        "`drystone partition --compile` (drystone_subgraph.executables says what was loaded)"
    )


def _contents(store: Store) -> str:
    """What is in a folder of artefacts, with the first few of them."""
    if not store.folder.is_dir():
        return "no such folder"
    names = sorted(path.stem for path in store.folder.glob(f"*.{store.kind}"))
    first = [
        f"{k.get('operator')!r} of {k.get('backend')!r} for {k.get('shapes')}"
        for name in names[:_SHOWN]
        for k in store.like(name)
    ]
    rest = ["..."] if len(names) > _SHOWN else []
    return f"{len(names)} executables" + (f" ({', '.join(first + rest)})" if names else "")


def _warn(text: str) -> None:
    warn_of(text, stacklevel=3)
