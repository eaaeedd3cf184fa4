"""Results in files: any name of an output, any name of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.cli._values import read_arrays, read_npz, write_npz
from drystone_base.core.errors import BadRequest
from drystone_base.files.writing import Draft, replace_file

ENDS = ("", "#", "#bytes", "#lengths", "#bytes#", "#lengths##", ".npy")
NAMES = st.lists(st.sampled_from(("", "a", "A", "..", "/", "\\", *ENDS)), max_size=3).map("".join)


def value(kind: int) -> Any:
    text = np.empty(2, object)
    text[:] = [b"one\0", b""]
    return (np.arange(3, dtype=np.uint8), np.array([1, 2]), text)[kind]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, st.integers(0, 2).map(value), max_size=6))
def test_outputs_of_any_names_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, arrays: dict[str, Any]
) -> None:
    file = tmp_path_factory.mktemp("out") / "out.npz"
    write_npz(file, arrays)
    found = read_npz(file)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].tolist() == array.tolist(), name
    assert read_arrays(file).keys() == arrays.keys()


def test_one_array_without_a_name_is_not_an_archive(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(2))
    assert read_arrays(tmp_path / "x.npy")[""].tolist() == [1, 1]
    with pytest.raises(BadRequest, match="cannot be read") as caught:
        read_npz(tmp_path / "x.npy")
    assert "one array without a name" in str(caught.value)


@pytest.mark.parametrize("letter", ["a", "漢"])
@pytest.mark.parametrize("room", [0, 1, 16, 17, 18])
def test_names_of_files_may_be_as_long_as_the_system_lets_them(
    letter: str, room: int, tmp_path: Path
) -> None:
    file = tmp_path / (letter * ((251 - room) // len(letter.encode())) + ".npz")
    write_npz(file, {"x": np.ones(2)})
    replace_file(file, [b"other"])
    with Draft(file) as left:
        os.close(os.dup(left.file.fileno()))
        left.file.close()  # as of a writer that was killed
    assert len(list(tmp_path.iterdir())) == 2
    write_npz(file, {"x": np.ones(2)})
    assert list(tmp_path.iterdir()) == [file]
