"""The pages of settings and variables, and the check that nobody else reads a variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks import environment_reads

pytest.importorskip("drystone_base", reason="drystone is not installed")

from ci.scripts import settings_pages


def test_the_pages_are_up_to_date() -> None:
    assert settings_pages.outdated() == [], "run python -m ci.scripts.settings_pages"


def test_every_field_of_a_config_is_in_its_schema() -> None:
    from inspect import signature

    from drystone_base import Access, SessionConfig
    from drystone_base.api import config as session
    from drystone_base.core import plugin_settings as plugins
    from drystone_base.files import access as access
    from drystone_base.plugins import Settings
    from drystone_optimizer import OptimizerConfig
    from drystone_optimizer.core import options
    from drystone_subgraph import PartitionConfig
    from drystone_subgraph.contract import config as partition

    for kind, module in (
        (SessionConfig, session), (Access, access), (OptimizerConfig, options),
        (PartitionConfig, partition), (Settings, plugins),
    ):  # fmt: skip
        names = set(signature(kind).parameters)
        assert names == set(module.SETTINGS.settings), kind


def planted(tmp_path: Path, python: str, native: str) -> list[str]:
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "packages.toml").write_text(
        '[packages.p]\ndir = "p"\ndistribution = "d"\nimport_name = "q"\nlayer = 0\n'
        "depends_on = []\nowners = []\nnative = true\nwheel_kib = 1\ninstalled_kib = 1\n"
    )
    source = tmp_path / "p" / "src" / "q"
    source.mkdir(parents=True)
    (source / "m.py").write_text(python)
    (tmp_path / "p" / "x.cc").write_text(native)
    return environment_reads.find(tmp_path)


def test_a_variable_that_is_read_elsewhere_is_found(tmp_path: Path) -> None:
    found = planted(
        tmp_path,
        'A = Variable("DRYSTONE_A", 1)\nB = os.environ["DRYSTONE_B"]\n"set DRYSTONE_A=1"\n',
        'getenv("DRYSTONE_A"); getenv("DRYSTONE_C");',
    )
    assert len(found) == 2
    assert "m.py:2: DRYSTONE_B" in found[0]
    assert "no Variable states DRYSTONE_C" in found[1]
