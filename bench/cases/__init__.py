"""All cases: graphs made here, recorded models and training runs, large networks."""

from __future__ import annotations

from pathlib import Path

from bench.case import Case
from bench.cases.keras_steps import of_keras
from bench.cases.networks import networks as large
from bench.cases.recorded import recorded
from bench.cases.synthetic import synthetic

__all__ = ["all_cases"]


def all_cases(work: Path, models: Path | None) -> list[Case]:
    """Every case, files that are made under ``work``; ``models`` is the folder of recorded ones.

    Without that folder, or where it is not there, the models of ``integration_tests/data``.
    """
    return [*synthetic(work), *recorded(models), *large(), *of_keras()]
