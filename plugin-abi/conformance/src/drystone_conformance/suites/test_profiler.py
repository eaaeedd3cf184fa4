"""Profilers: start, stop, collect, in any order that a user could try."""

from __future__ import annotations

import contextlib

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import profiler

pytestmark = pytest.mark.module("profiler")


def test_a_profile_is_collected(profiler_type: str) -> None:
    profiler.start(profiler_type)
    profiler.stop(profiler_type)
    assert isinstance(profiler.collect(profiler_type), bytes)


def test_it_can_be_started_again(profiler_type: str) -> None:
    for _ in range(3):
        profiler.start(profiler_type)
        profiler.stop(profiler_type)


def test_stopping_what_was_not_started_is_no_crash(profiler_type: str) -> None:
    with contextlib.suppress(HostError):
        profiler.stop(profiler_type)
    profiler.start(profiler_type)
    profiler.stop(profiler_type)
