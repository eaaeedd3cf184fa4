"""Toggles that plugins request, written into the struct of an old, a new and a future host."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import pytest

OFF, ON = 1, 2
NAMES = re.findall(
    r"\w+",
    """
    model_pruning implementation_selector function_optimization common_subgraph_elimination
    arithmetic_optimization debug_stripper constant_folding shape_optimization auto_mixed_precision
    auto_mixed_precision_onednn_bfloat16 auto_mixed_precision_mkl pin_to_host_optimization
    layout_optimizer remapping loop_optimization dependency_optimization auto_parallel
    memory_optimization scoped_allocator_optimization
""",
)
ADDED = NAMES.index("auto_mixed_precision_onednn_bfloat16")


@pytest.fixture(scope="module")
def library(compile_library: Callable[..., Path]) -> ctypes.CDLL:
    return ctypes.CDLL(str(compile_library("sdk_configs.cc", flags=["-std=c++17", "-O1"])))


def written(library: ctypes.CDLL, size: int, name: str, *, on: bool = False) -> dict[int, int]:
    """Where a tri-state was set, counted from the first one, and to what."""
    room = ctypes.create_string_buffer(200)
    library.probe_turn_off(room, ctypes.c_size_t(size), NAMES.index(name), int(on))
    states = [int.from_bytes(room.raw[at : at + 4], "little") for at in range(16, 196, 4)]
    return {at: state for at, state in enumerate(states) if state}


@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize("size", [92, 120])
def test_every_pass_has_its_place(library: ctypes.CDLL, name: str, size: int) -> None:
    assert written(library, size, name) == {NAMES.index(name): OFF}
    assert written(library, size, name, on=True) == {NAMES.index(name): ON}


@pytest.mark.parametrize("name", NAMES[1:])
def test_hosts_before_tensorflow_2_10_have_one_member_fewer(
    library: ctypes.CDLL, name: str
) -> None:
    place = NAMES.index(name)
    expected = {} if place == ADDED else {place - (place > ADDED): OFF}
    assert written(library, 88, name) == expected


def test_model_pruning_is_stated_the_other_way_round(library: ctypes.CDLL) -> None:
    assert written(library, 92, "model_pruning") == {0: ON}
    assert written(library, 92, "model_pruning", on=True) == {0: OFF}


def test_nothing_is_written_behind_a_short_struct(library: ctypes.CDLL) -> None:
    assert written(library, 20, "remapping") == {}
    assert written(library, 20, "model_pruning") == {0: ON}
