"""Fixtures of the integration tests: the wheels under test and an environment made of them.

Run through `nox -s integration`, or with `pytest integration_tests --wheels FOLDER` on wheels made
by `nox -s build`. Tests reach drystone through `installed_env` only, in child processes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv, shared_environment


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the wheels under test are."""
    parser.addoption("--wheels", type=Path, help="folder with the wheels under test")


@pytest.fixture(scope="session")
def wheels(request: pytest.FixtureRequest) -> list[Path]:
    """The wheels under test, but for drystone-cpu's, which `env_with_cpu` has."""
    return [wheel for wheel in every_wheel(request) if not wheel.name.startswith("drystone_cpu-")]


def every_wheel(request: pytest.FixtureRequest) -> list[Path]:
    """What is in the folder of wheels."""
    folder: Path | None = request.config.getoption("--wheels")
    if folder is None:
        pytest.fail("integration tests need built wheels: run `nox -s integration`", pytrace=False)
    found = sorted(folder.resolve().glob("*.whl"))
    if not found:
        pytest.fail(f"no wheels in {folder}: run `nox -s build`", pytrace=False)
    return found


@pytest.fixture(scope="session")
def installed_env(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path]) -> InstalledEnv:
    """An environment with every wheel but drystone-cpu's, their dependencies and nothing else."""
    return shared_environment(tmp_path_factory, "installed", *wheels)


@pytest.fixture(scope="session")
def env_with_cpu(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> InstalledEnv:
    """An environment with every built wheel."""
    return shared_environment(tmp_path_factory, "with-cpu", *every_wheel(request))


@pytest.fixture(scope="session")
def shared_models() -> Path | None:
    """Folder of further recorded models beside the checkout, or None where there is none."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "models"
    return folder if (folder / "index.json").exists() else None
