"""Row B25: what turning passes off costs is shown, and too much of it fails."""

from __future__ import annotations

import pytest

from bench.alone import turned_off_passes
from bench.alone.turned_off_passes import Row, main


def test_it_measures_with_and_without_the_passes(capsys: pytest.CaptureFixture[str]) -> None:
    off = ["--off", "constant_folding", "remapping", "arithmetic_optimization"]
    assert main([*off, "--worse", "1e9", "--seconds", "0"]) == 0
    out = capsys.readouterr().out
    _, dense, towers, last = out.splitlines()
    nodes = dense.split()[2:4]
    assert int(nodes[0]) < int(nodes[1]), "more nodes are left without them"
    assert towers.startswith("towers")
    assert last.endswith("1e+09 is too much")


def test_too_much_of_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Row("a", (3, 3), (1e-6, 2e-6)), Row("b", (3, 3), (2e-6, 2e-6))]
    monkeypatch.setattr(turned_off_passes, "measure", lambda *_: rows)
    assert rows[0].ratio == 2
    assert main(["--worse", "1.5"]) == 0
    assert main(["--worse", "1.4"]) == 1
