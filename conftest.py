"""What holds for every test: nothing waits for ever, whatever else the machine does."""

import gc
import os
import signal
import tempfile
from collections.abc import Callable
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
    """Leave tests to the night as their marks say; which ones hangs on their names alone."""
    _leave(items, "tests_in_gate", lambda test: test.partition("::")[0], lambda test: test)
    _leave(items, "cases_in_gate", lambda test: test, lambda _: "")


def _leave(
    items: list[pytest.Item],
    mark: str,
    group_of: Callable[[str], str],
    one_of: Callable[[str], str],
) -> None:
    """Keep every nth of each group of marked tests, or of the cases of each."""
    groups: dict[str, dict[str, list[pytest.Item]]] = {}
    for item in items:
        if item.get_closest_marker(mark) and not item.get_closest_marker("nightly"):
            test = item.nodeid.partition("[")[0]
            some = groups.setdefault(group_of(test), {})
            some.setdefault(one_of(test) or item.nodeid, []).append(item)
    for some in groups.values():
        for k, name in enumerate(sorted(some)):
            for item in some[name]:
                found = item.get_closest_marker(mark)
                if found and k % found.args[0]:
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
