"""The metapackage hands out the public names of its set and nothing else."""

from __future__ import annotations

import pytest

import drystone
import drystone_base
import drystone_base.tracing.operations
import drystone_estimator
import drystone_filesystem
import drystone_network
import drystone_optimizer
import drystone_subgraph


def test_names_are_those_of_base_and_the_further_packages() -> None:
    further = ["config", "io", "ops", "optimizer", "subgraph"]
    assert drystone.__all__ == [*drystone_base.__all__, *further]
    assert set(dir(drystone)) == {*drystone_base.__all__, *further, "__version__"}
    assert drystone.io is drystone_filesystem
    assert drystone.ops is drystone_base.tracing.operations
    assert drystone.optimizer is drystone_optimizer
    assert drystone.subgraph is drystone_subgraph


def test_packages_beside_the_set_are_there_where_they_are_installed() -> None:
    assert drystone.distributed is drystone_network
    assert drystone.estimator is drystone_estimator
    assert "estimator" not in drystone.__all__


def test_a_name_is_the_same_object_and_kept() -> None:
    name = next(name for name in drystone_base.__all__ if not name.startswith("_"))
    assert getattr(drystone, name) is getattr(drystone_base, name)
    assert name in vars(drystone)


def test_star_import_gives_every_name() -> None:
    names: dict[str, object] = {}
    exec("from drystone import *", names)
    assert set(drystone_base.__all__) <= set(names)


def test_other_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="module 'drystone' has no attribute 'dtypes_'"):
        drystone.dtypes_  # noqa: B018
