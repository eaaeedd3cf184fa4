"""What coverage-guided fuzzing has kept, and a few inputs of one's own, through every target."""

from __future__ import annotations

import random
import tarfile
from pathlib import Path

import pytest
from model_targets import TARGETS, seeds

from drystone_base.kernels import _limits

CORPUS = Path(__file__).parent / "corpus"
SHOWN = 150


def kept(name: str) -> list[bytes]:
    """The corpus of a target."""
    with tarfile.open(CORPUS / f"{name}.tar.xz") as archive:
        files = [archive.extractfile(member) for member in archive]
        return [file.read() for file in files if file is not None]


# A run whose time is over is stopped wherever its thread is, callbacks of a tool's included.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_corpus(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "byte_limit", lambda: 1 << 28)  # as on a small machine
    every = kept(name)
    assert every
    shown = SHOWN if name == "load" else SHOWN // 3  # runs take longer
    some = random.Random(1).sample(every, min(shown, len(every)))
    for data in [*seeds(name), *some]:
        TARGETS[name](data)
