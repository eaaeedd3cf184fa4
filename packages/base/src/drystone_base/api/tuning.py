"""Threads and precision, which people look for first, as a session's config has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NoReturn

from drystone_base.api.config import SessionConfig
from drystone_base.core.errors import BadRequest

__all__ = ["PRECISIONS", "tuned"]

PRECISIONS: Final = ("float32", "bfloat16", "float16")
"""What layers may be computed in; ``float32`` keeps the types that the graph states."""


def tuned(
    config: SessionConfig | None, threads: int | None = None, precision: str | None = None
) -> SessionConfig | None:
    """``config`` with so many threads and layers of that precision; None leaves either as it is.

    ``threads``: of one kernel, and how many kernels run at once (0: one per core). ``precision``:
    one of ``PRECISIONS``; in 16 bits, layers and what follows them lose digits, while sums are held
    in float32. Raises ``BadRequest`` (``bad-threads``, ``bad-precision``).
    """
    if threads is not None:
        config = replace(
            config or SessionConfig(), intra_op_threads=threads, inter_op_threads=threads
        )
    if precision is None:
        return config
    if precision not in PRECISIONS:
        _refuse(precision, f"{precision!r}", "name one of these")
    if precision == "float32":
        return config
    config = config or SessionConfig()
    return replace(config, optimizer=_lowered(config.optimizer, precision))


def _lowered(optimizer: Any, precision: str) -> Any:
    """What ``SessionConfig.optimizer`` says with a pass on that computes layers in 16 bits."""
    from drystone_base.modules import stage

    if optimizer == "off":
        _refuse(
            precision,
            'SessionConfig(optimizer="off")',
            "leave out optimizer='off': a pass of the optimizer is what changes types",
        )
    stages = stage("precision")
    if not stages:
        _refuse(
            precision,
            "no installed package that changes types",
            "pip install drystone-optimizer",
        )
    for lower in stages:
        optimizer = lower(optimizer, precision)
    return optimizer


def _refuse(precision: str, found: str, remedy: str) -> NoReturn:
    raise BadRequest(
        f"the model cannot be run with precision {precision!r}",
        check="the precision must be one that the session's optimizer brings about",
        found=found,
        needed=", ".join(PRECISIONS),
        remedy=remedy,
        code="bad-precision",
    )
