"""Plans are taken only from files that nobody else could have written."""

from __future__ import annotations

from pathlib import Path

import pytest
from cached_plans import Cached


@pytest.fixture
def kept(tmp_path: Path) -> Cached:
    return Cached(tmp_path)


def test_plans_that_others_may_write_to_are_not_taken(kept: Cached) -> None:
    kept.run()
    before = kept.files()
    for file in before:
        file.chmod(0o620)
    kept.run()  # refused, removed and written again
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in kept.files())


def test_a_record_under_the_name_of_another_is_not_taken(kept: Cached) -> None:
    kept.run()
    first, second = sorted(kept.files())
    data = first.read_bytes()
    second.write_bytes(data)
    kept.run()
    assert second.read_bytes() != data
