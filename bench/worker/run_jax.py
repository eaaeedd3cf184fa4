"""JAX: Keras's steps of training, compiled by XLA for the CPU."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from bench.worker._form import Prepared, choose
from bench.worker._keras_step import prepare as keras_step

__all__ = ["prepare", "start"]


def start() -> None:
    """Import it; the number of threads is that of the variables of its process."""
    one = os.environ.get("OMP_NUM_THREADS") == "1"
    if one:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    import jax  # noqa: F401


def prepare(case: Mapping[str, Any], threads: int) -> Prepared:
    """The step; one thread is one core, which is what the runtime asks for the number of them."""
    if threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    choose(case, "keras")
    return keras_step(case, "jax")
