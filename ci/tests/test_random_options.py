"""Random graphs draw every setting of the optimizer, and find what a session computes wrongly."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("drystone_optimizer")

from ci.scripts import random_graphs, random_options
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.settings import Kind, Setting
from drystone_base.graph import Graph
from drystone_base.placement import parse_device
from drystone_optimizer import OptimizerConfig
from drystone_optimizer.core.config import PASSES
from drystone_optimizer.core.options import SETTINGS
from drystone_optimizer.passes.layout_optimizer import conversion

CONFIGS = 400


@pytest.fixture(scope="module", autouse=True)
def generators() -> None:
    random_graphs.use_generators()


@pytest.fixture(autouse=True)
def checks_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the script sets for its processes is not left in that of the tests."""
    monkeypatch.setenv("DRYSTONE_VERIFY_PASSES", "1")


def graph_of(count: int) -> Graph:
    graph = Graph()
    for k in range(count):
        node = graph.add("Placeholder", f"x{k}", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
        graph.add("Neg", f"n{k}", [node], attrs={"T": FLOAT32})
    return graph


def drawn() -> list[OptimizerConfig]:
    rng, graph = np.random.default_rng(0), graph_of(2)
    return [random_options.draw_config(rng, graph) for _ in range(CONFIGS)]


def test_every_setting_takes_several_values() -> None:
    configs = drawn()
    for one in fields(OptimizerConfig):
        if one.name == "custom_optimizers":
            continue  # a config turns the toggles on that they name, and keeps none
        values = {str(getattr(config, one.name)) for config in configs}
        assert len(values) > 1 or one.name in random_options.FIXED, one.name
    rng, graph = np.random.default_rng(0), graph_of(1)
    assert any(random_options.draw_value("custom_optimizers", rng, graph) for _ in range(20))
    for name in PASSES:
        assert {config.toggle(name).value for config in configs} >= {"on", "off", "default"}
    for name, words in (("numeric", 3), ("cpu_layout_conversion", 4), ("memory_mode", 6)):
        assert len({getattr(config, name) for config in configs}) == words


def test_a_new_setting_is_drawn_or_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, graph = np.random.default_rng(0), graph_of(0)
    settings = dict(SETTINGS.settings)
    settings["word"] = Setting("word", Kind(str, "'a' or 'b'", ("a", "b")), "")
    settings["bytes"] = Setting("bytes", Kind(int, "a whole number"), "")
    monkeypatch.setattr(SETTINGS, "settings", settings)
    assert {random_options.draw_value("word", rng, graph) for _ in range(20)} == {"a", "b"}
    with pytest.raises(KeyError):
        random_options.draw_value("bytes", rng, graph)


def test_devices_are_spelled_in_all_ways() -> None:
    kinds = {parse_device(text).type for text in random_options.DEVICES}
    assert kinds >= {None, "CPU", "GPU", "gpu", "TPU", "NONSENSE"}
    seen: set[str] = set()
    rng, graph = np.random.default_rng(0), graph_of(20)
    for _ in range(200):
        twin = graph.copy()
        random_options.ask_for_devices(rng, twin)
        seen.update(node.device for node in twin)
    assert seen == set(random_options.DEVICES)


@pytest.mark.parametrize("seed", range(15))
def test_seeds_agree(seed: int) -> None:
    found = random_graphs.with_options(seed)
    assert not found.problem, f"{found.passes}: {found.problem}"
    assert found.kind == random_graphs.KINDS[seed % 5]


def test_a_transpose_too_many_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The layout pass once left its own transpose where it had taken out the user's."""

    def bring_all_back(self: Any, node: Any, k: int, rank: int) -> None:
        there, back = self._order(rank)
        for user, at in self.ctx.users((node, k)):
            if self._goes_there(user, at, there):
                self.graph.redirect((user, 0), (node, k))
                self.ctx.drop(user)
        users = self.ctx.users((node, k))
        if users:
            self._redirect(users, (self._transpose(node, (node, k), back, "from_layout"), 0))

    monkeypatch.setattr(conversion.Conversion, "_bring_back", bring_all_back)
    found = [random_graphs.with_options(seed) for seed in range(1, 300, 5)]
    assert {one.kind for one in found} == {"images"}
    assert any("is [" in one.problem for one in found)


def test_findings_end_in_the_log_and_the_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def finds(seed: int) -> random_graphs.Found:
        return random_graphs.Found(seed, "images", "remapping=off", "wrong" if seed == 8 else "")

    monkeypatch.setattr(random_graphs, "with_options", finds)
    log = tmp_path / "log"
    words = ["--options", "--first", "7", "--count", "3", "--jobs", "1", "--log", str(log)]
    assert random_graphs.main(words) == 1
    text = log.read_text()
    assert "3 seeds from 7 on" in text
    assert "seed 8: images, remapping=off: wrong" in text
    assert "3 graphs (3 of images), seeds up to 10; 1 differ;" in text
    assert text.splitlines()[0] in capsys.readouterr().out
    monkeypatch.setattr(random_graphs, "CHUNK", 1)
    assert random_graphs.main([*words, "--seconds", "0", "--first", "1"]) == 0
    assert "1 graphs (1 of images), seeds up to 2; 0 differ;" in log.read_text()
