"""Which kernels of plugins rewrites look at: those for the CPU."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from drystone_base.executor import selection
from drystone_optimizer.core.native_kernels import keeps_native, of_plugins, runs_here


class Kernel(NamedTuple):
    """What is asked of a kernel here."""

    device: str


def test_kernels_for_devices_of_plugins_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin with an Exp for its device must not keep Exp(x) - 1 from becoming Expm1 here."""
    both = {"Exp": (Kernel("NPU"),), "Sqrt": (Kernel("NPU"), Kernel("CPU")), "Mine": ()}
    monkeypatch.setattr("drystone_optimizer.core.native_kernels.ENTRY_FUNCTIONS", [1])
    monkeypatch.setattr(selection, "registered", lambda: both)
    assert list(of_plugins()) == ["Sqrt"]
    assert len(of_plugins()) == 1
    assert of_plugins()["Sqrt"] == [Kernel("CPU")]
    assert keeps_native("Exp", "Expm1")
    assert not keeps_native("Sqrt", "Rsqrt")
    assert not runs_here("Mine")
