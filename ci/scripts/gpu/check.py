"""Whether an op on the GPU gives what the reference in NumPy gives, and ran there."""

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np

import drystone_base as ds
from ci.scripts.gpu.cases import OpCase
from drystone_subgraph import executables

__all__ = ["differs", "problem_of"]

Array = np.ndarray[Any, Any]
_QUIET: Final = 1e-30


def problem_of(case: OpCase) -> str:
    """What is wrong with one op on the GPU, "" for nothing."""
    graph, fetches, feeds = case.graph()
    config = ds.SessionConfig(optimizer="off", subgraphs="off", executor="reference")
    there = ds.SessionConfig(optimizer="off", subgraphs="gpu", device_count={"GPU": 0})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want = ds.Session(graph.copy(), config).run(fetches, feeds)
        session = ds.Session(graph, there)
        got = session.run(fetches, feeds)
        states = executables(session)
        got = session.run(fetches, feeds)  # the same graph of work, a second time
    if not states:
        return "no region of the backend"
    if any(s.state != "ready" for s in states):
        return "; ".join(s.reason for s in states)
    for value, wanted in zip(got, want, strict=True):
        if said := differs(np.asarray(value), np.asarray(wanted), case.tolerance):
            return said
    return ""


def differs(got: Array, want: Array, tolerance: float) -> str:
    """How two arrays differ: dtype, shape, NaN, infinities, or by more than the tolerance."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype} {got.shape}, not {want.dtype} {want.shape}"
    if want.dtype.kind in "biu":
        wrong = int((got != want).sum())
        return f"{wrong} of {want.size} elements differ" if wrong else ""
    a, b = got.astype(np.float64).ravel(), want.astype(np.float64).ravel()
    if (np.isnan(a) != np.isnan(b)).any():
        return f"NaN at {int(np.isnan(a).sum())} places, not at {int(np.isnan(b).sum())}"
    infinite = np.isinf(a) | np.isinf(b)
    if (a[infinite] != b[infinite]).any():
        return "infinities differ"
    fine = ~(infinite | np.isnan(b))
    if not fine.any():
        return ""
    size = np.maximum(np.abs(b[fine]), min(1.0, float(np.abs(b[fine]).mean()) + _QUIET))
    worst = float((np.abs(a[fine] - b[fine]) / size).max())
    return f"differs by {worst:.3g} of its size" if worst > tolerance else ""
