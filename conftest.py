"""What holds for every test: nothing waits for ever, whatever else the machine does."""

import gc
import os
import signal
import tempfile
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
    """Give workers one folder for what tests compile, and pytest-timeout the usual limit."""
    if "COMPILED_FOR_TESTS" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="drystone-compiled-")
        config.add_cleanup(folder.cleanup)
        os.environ["COMPILED_FOR_TESTS"] = folder.name
    if config.pluginmanager.hasplugin("timeout") and config.getoption("timeout") is None:
        config.option.timeout = SECONDS


@pytest.hookimpl(tryfirst=True)  # before nightly ones are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave cases to the night as `cases_in_gate` says; which ones hangs on their names alone."""
    cases: dict[str, list[tuple[str, pytest.Item, int]]] = {}
    for item in items:
        mark = item.get_closest_marker("cases_in_gate")
        if mark and not item.get_closest_marker("nightly"):
            test = item.nodeid.partition("[")[0]
            cases.setdefault(test, []).append((item.nodeid, item, mark.args[0]))
    for some in cases.values():
        for k, (_, item, nth) in enumerate(sorted(some, key=lambda case: case[0])):
            if k % nth:
                item.add_marker("nightly")


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
