"""What holds for every test: nothing waits for ever, whatever else the machine does."""

import gc
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


_module: list[object] = [None]
"""The module whose tests run."""


def pytest_collection_finish() -> None:
    """Tests and their modules stay: a collection of garbage need not look at them, each time.

    Thousands of tests make a heap that takes a third of a second to look through.
    """
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """So does what the modules before this one have left in caches."""
    module = getattr(item, "module", None)
    if module is not _module[0]:
        _module[0] = module
        gc.collect()
        gc.freeze()
