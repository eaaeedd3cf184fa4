"""What ``drystone cache`` does, without its tables."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from drystone_base.core.environment import PLAN_CACHE
from drystone_base.core.errors import BadRequest
from drystone_base.core.installed import forget, points, unsettled_seconds
from drystone_base.executor.plan_cache import contents as plan_cache
from drystone_base.executor.plan_cache.folder import store

__all__ = ["clear", "contents", "warm"]

_NOT_CACHED = "see docs/reference/plan-cache.md; `drystone explain` names kernels in Python"


def contents() -> dict[str, Any]:
    """The folder, "" where the cache is off, and its entries."""
    where = store()
    found = [] if where is None else plan_cache.entries(where)
    return {
        "folder": "" if where is None else str(where.folder),
        "entries": [entry._asdict() for entry in found],
    }


def clear(model: str) -> dict[str, int]:
    """How many files were removed, and their bytes; raises ``BadRequest``."""
    where = store()
    try:
        files, size = (0, 0) if where is None else plan_cache.clear(where, model)
    except OSError as error:
        raise _cannot_write(str(error.filename or where), error) from error
    return {"files": files, "bytes": size}


def warm(
    models: Sequence[Path], into: Path, names: Sequence[str], threads: int | None
) -> list[dict[str, Any]]:
    """Each signature with whether its plan is in the folder now; raises as loading does."""
    with _cached_in(into):
        return [row for model in models for row in _warm(model, names, threads)]


@contextmanager
def _cached_in(folder: Path) -> Iterator[None]:
    """Have the plan cache in a folder, whose files every user may read afterwards."""
    from drystone_base.executor.plan_cache.background import BACKGROUND

    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".draft-{os.urandom(8).hex()}"
        probe.touch(0o600)
        probe.unlink()
    except OSError as error:
        raise _cannot_write(str(folder), error) from error
    os.environ[PLAN_CACHE.name] = str(folder.resolve())
    time.sleep(unsettled_seconds())  # of what was installed just now nothing would be noted
    forget()
    points("drystone.modules")
    yield
    BACKGROUND.finish()
    folder.chmod(0o755)
    for file in folder.iterdir():
        file.chmod(0o644)


def _cannot_write(path: str, error: OSError) -> BadRequest:
    return BadRequest(
        f"the plan cache cannot be written: {path}",
        check="a folder of the plan cache must be one that this user may write to",
        found=error.strerror or str(error),
        needed="a folder, and room in it",
        remedy="choose another folder, or make it writable: chmod u+w FOLDER",
        code="cannot-write",
        status="FAILED_PRECONDITION",
        inner=error,
    )


def _warm(path: Path, names: Sequence[str], threads: int | None) -> list[dict[str, Any]]:
    from drystone_base.api.cached_plans import CachedPlans
    from drystone_base.api.model import load
    from drystone_base.executor.plan_cache.background import BACKGROUND

    made = []
    with load(path, threads=threads) as model:
        for name in names or list(model.signatures):
            fetches, feeds = model.signatures[name].request()
            model.session.make_callable(fetches, feeds)
            BACKGROUND.finish()
            file = model.loaded.source.file
            plans = None if file is None else CachedPlans.of(file, model.session.config)
            is_cached = plans is not None and plans.find(fetches, feeds) is not None
            reason = "" if is_cached else _NOT_CACHED
            made.append(
                {"model": str(path), "signature": name, "fetches": fetches, "feeds": feeds,
                 "cached": is_cached, "reason": reason}
            )  # fmt: skip
    return made
