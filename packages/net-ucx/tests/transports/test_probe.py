"""What `drystone network probe` learns where there is no UCX, or no hardware."""

from __future__ import annotations

from pathlib import Path

import pytest

from drystone_net_ucx import probe


def test_what_is_there_and_why_the_rest_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = tmp_path / "libucp.so.0"
    monkeypatch.setattr(probe, "ensure_loaded", lambda: None)
    monkeypatch.setattr(probe, "_opened", lambda only: (only != "ib", str(library)))
    monkeypatch.setattr(probe, "_ADAPTERS", tmp_path / "infiniband")
    found = {name: (there, said) for name, there, said in probe.capabilities()}
    assert found["tcp"] == found["shm"] == (True, str(library))
    assert found["verbs"] == (False, f"no RDMA adapter: nothing is in {tmp_path / 'infiniband'}")
    (tmp_path / "infiniband" / "mlx5_0").mkdir(parents=True)
    found = {name: (there, said) for name, there, said in probe.capabilities()}
    assert "there is no libuct_ib.so.0" in found["verbs"][1]
    assert not found["gdr"][0] or Path("/dev/gdrdrv").exists()


def test_without_ucx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRYSTONE_UCX_LIBRARY", "/nowhere/libucp.so.0")
    opens, said = probe._opened("tcp")
    assert not opens
    assert said
