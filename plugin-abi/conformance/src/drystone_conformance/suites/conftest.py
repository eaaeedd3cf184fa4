"""What several suites need."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from drystone_base.host import filesystem as fs
from drystone_conformance.subject import Subject


@pytest.fixture
def folder(subject: Subject, scheme: str) -> Iterator[str]:
    """A folder of this test's own in a filesystem, emptied afterwards."""
    place = f"{subject.root(scheme)}/{uuid.uuid4().hex}"
    if not subject.capabilities.why_not("filesystem.directories", scheme):
        fs.create_directory(place, parents=True)
    yield place
    if not subject.capabilities.why_not("filesystem.delete", scheme):
        fs.delete_tree(place)
