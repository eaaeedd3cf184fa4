"""What a store answers that a model is asked of: an error of ours, whatever went wrong there."""

from __future__ import annotations

from pathlib import Path

import pytest

import drystone_base as ds
from drystone_base.core.errors import HostError
from drystone_base.files import uris
from drystone_base.host import filesystem


@pytest.mark.parametrize("status", [*sorted(uris._BY_STATUS), "INTERNAL", "DATA_LOSS"])
@pytest.mark.parametrize("name", ["m.pb", "m", "model.json", "m.meta"])
def test_a_store_that_fails_is_told(
    monkeypatch: pytest.MonkeyPatch, status: str, name: str
) -> None:
    def fails(path: object) -> bool:
        raise HostError(
            "stat failed", check="the host's call must succeed", found="store: no route",
            status=status,
        )  # fmt: skip

    for asked in ("exists", "is_directory", "stat"):
        monkeypatch.setattr(filesystem, asked, fails)
    with pytest.raises(ds.BadModelFile) as caught:
        ds.load(f"https://example.invalid/{name}")
    said = caught.value
    missing = status == "NOT_FOUND"
    assert said.code == ("file-not-found" if missing else "file-unreadable")
    assert missing or (said.found == "store: no route" and said.status == status)
    assert "check the address" in said.remedy or missing


def test_a_disk_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(self: Path) -> bool:
        raise OSError(5, "Input/output error", str(self))

    monkeypatch.setattr(Path, "exists", fails)
    with pytest.raises(ds.BadModelFile, match="Input/output error") as caught:
        ds.load(tmp_path / "m")
    assert caught.value.code == "file-unreadable"
