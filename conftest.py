"""What holds for every test: nothing waits for ever, whatever else the machine does."""

import signal
from importlib.util import find_spec

import pytest

SECONDS = 300.0
"""After which a test has failed; one that hangs in native code ends its process: .pytest.ini."""

# A shell starts background jobs with Ctrl-C ignored, and all that they start inherits that: tests
# that interrupt a process would wait for it for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

if find_spec("hypothesis"):  # tests of the examples do without
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "shared_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("shared_machine")


def pytest_configure(config: pytest.Config) -> None:
    """Give pytest-timeout, where it is installed, the limit for tests that state none."""
    if config.pluginmanager.hasplugin("timeout") and config.getoption("timeout") is None:
        config.option.timeout = SECONDS
