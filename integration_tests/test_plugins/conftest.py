"""An environment that plugins are put into and taken out of."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv, install, make_environment


@pytest.fixture(scope="session")
def env(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path]) -> InstalledEnv:
    """Our wheels, the conformance suites among them, a test runner, and what signing needs.

    Tests leave no plugin in it, so one does for all of a worker.
    """
    environment = make_environment(tmp_path_factory.mktemp("plugins") / "env")
    install(environment, *wheels, "pytest>=8", "pynacl>=1.5")
    return environment
