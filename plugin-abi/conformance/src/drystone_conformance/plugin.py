"""The pytest plugin: options, which suites run, skips by capability, the report."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from drystone_conformance.capabilities import Capabilities, read_capabilities
from drystone_conformance.subject import MODULES, Subject

__all__ = ["needs"]

SUITES = Path(__file__).parent / "suites"
_SUBJECT = pytest.StashKey[Subject]()
_RESULTS = pytest.StashKey[list[dict[str, Any]]]()


def needs(flag: str) -> pytest.MarkDecorator:
    """Mark a test as needing a capability: skipped with the author's reason where it is closed."""
    return pytest.mark.capability(flag)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of ``pytest --plugin``."""
    group = parser.getgroup("drystone", "conformance of a plugin library")
    group.addoption(
        "--plugin", metavar="PATH", help="library to test; without other arguments runs its suites"
    )
    group.addoption(
        "--plugin-lacks", metavar="FILE", help="TOML file: [lacks] capability = 'reason'"
    )
    group.addoption(
        "--plugin-root",
        metavar="SCHEME=URI",
        action="append",
        default=[],
        help="folder that tests of a file system may fill (default SCHEME://conformance)",
    )
    group.addoption(
        "--subgraph-backend",
        metavar="NAME",
        action="append",
        default=[],
        help="instead of --plugin: a backend of an installed Python package; may be repeated",
    )
    group.addoption(
        "--filesystem",
        metavar="URI",
        action="append",
        default=[],
        help="instead of --plugin: a folder of a filesystem that an installed package serves",
    )
    group.addoption("--plugin-report", metavar="FILE", help="write the results as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Make the subject, and choose our suites when no other tests were asked for."""
    config.addinivalue_line("markers", "capability(flag): needs a capability of the plugin")
    config.addinivalue_line("markers", "module(name): tests what one module offers")
    path = config.getoption("--plugin")
    backends = tuple(config.getoption("--subgraph-backend"))
    folders = tuple(config.getoption("--filesystem"))
    if path is None and not backends and not folders:
        return
    config.stash[_SUBJECT] = _make_subject(config, path, backends, folders)
    config.stash[_RESULTS] = []
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        kind = "" if path is not None else "subgraph" if backends else "filesystem"
        config.args[:] = (
            sorted(map(str, SUITES.glob(f"test_{kind}*.py"))) if kind else [str(SUITES)]
        )


def _make_subject(
    config: pytest.Config, name: str | None, backends: tuple[str, ...], folders: tuple[str, ...]
) -> Subject:
    path = Path(name or (*backends, *folders)[0])
    if name is not None and not path.is_file():
        raise pytest.UsageError(f"--plugin: no such file: {path}")
    lacks = config.getoption("--plugin-lacks")
    beside = path.with_suffix(".lacks.toml") if name is not None else Path()
    try:
        if lacks is not None:
            capabilities = read_capabilities(Path(lacks))
        else:
            capabilities = read_capabilities(beside) if beside.is_file() else Capabilities()
        roots = dict(item.split("=", 1) for item in config.getoption("--plugin-root"))
        roots |= {uri.split("://", 1)[0]: uri for uri in folders}
    except (OSError, ValueError) as error:
        raise pytest.UsageError(str(error)) from error
    if name is not None:
        return Subject(path, capabilities, roots)
    return Subject(path, capabilities, roots, backends, () if backends else tuple(roots))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what is tested."""
    if _SUBJECT not in config.stash:
        return []
    subject = config.stash[_SUBJECT]
    lines = [f"plugin: {subject.name}"]
    for module in MODULES:
        kinds = {kind: len(subject.registered(kind)) for kind in MODULES[module]}
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        lines.append(f"  {module}: {counts or 'not offered'}")
    lines += [f"  lacks {flag}: {why}" for flag, why in subject.capabilities.closed.items()]
    return lines


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the suites of modules that the library does not offer."""
    if _SUBJECT not in config.stash:
        return
    subject = config.stash[_SUBJECT]
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        mark = item.get_closest_marker("module")
        offered = mark is None or subject.offers(mark.args[0])
        (kept if offered else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what the author says the plugin lacks."""
    if _SUBJECT not in item.config.stash:
        return
    capabilities = item.config.stash[_SUBJECT].capabilities
    scheme = item.callspec.params.get("scheme", "") if hasattr(item, "callspec") else ""
    for mark in item.iter_markers("capability"):
        reason = capabilities.why_not(mark.args[0], scheme)
        if reason:
            pytest.skip(f"lacks {mark.args[0]}: {reason}")


@pytest.fixture(scope="session")
def subject(request: pytest.FixtureRequest) -> Subject:
    """The library that ``--plugin`` names."""
    if _SUBJECT not in request.config.stash:
        pytest.fail("these tests need --plugin PATH")
    return request.config.stash[_SUBJECT]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each thing that the library registered: scheme, device type, kernel."""
    if _SUBJECT not in metafunc.config.stash:
        return
    found = metafunc.config.stash[_SUBJECT]
    kinds = {"scheme": "schemes", "device_type": "devices", "optimizer_type": "optimizers"}
    kinds |= {"profiler_type": "profilers", "pass_name": "passes"}
    kinds |= {"subgraph_backend": "subgraph"}
    for name, kind in kinds.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, found.registered(kind))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, Any]:  # a wrapper: pluggy runs the others at the yield
    """Remember one row per test."""
    report: Any = yield
    results = item.config.stash.get(_RESULTS, None)
    if results is not None and (report.when == "call" or report.outcome != "passed"):
        row = {"test": item.nodeid.split("suites/")[-1], "outcome": report.outcome}
        if report.when != "call":
            row["when"] = report.when
        if report.outcome != "passed":
            row["reason"] = _reason(report)
        results.append(row | {"seconds": round(call.duration, 4)})
    return report


def _reason(report: Any) -> str:
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(report.longreprtext)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report."""
    file = session.config.getoption("--plugin-report")
    if file is None or _SUBJECT not in session.config.stash:
        return
    text = json.dumps(_report(session.config), indent=2, ensure_ascii=False)
    Path(file).write_text(text + "\n", encoding="utf-8")


def _report(config: pytest.Config) -> dict[str, Any]:
    from drystone_abi import ABI_VERSION
    from drystone_base import host
    from drystone_conformance import __version__

    subject, results = config.stash[_SUBJECT], config.stash[_RESULTS]
    counts = {o: sum(r["outcome"] == o for r in results) for o in ("passed", "failed", "skipped")}
    return {
        "plugin": subject.name,
        "conforms": bool(results) and not counts["failed"],
        "counts": counts,
        "offers": {m: subject.offers(m) for m in MODULES},
        "lacks": dict(subject.capabilities.closed),
        "suite_version": __version__,
        "host_version": host.version(),
        "abi_version": str(ABI_VERSION),
        "machine": f"{platform.system()} {platform.machine()}",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "results": results,
    }


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line that answers the author's question."""
    if _SUBJECT not in config.stash:
        return
    results = config.stash[_RESULTS]
    failed = sum(r["outcome"] == "failed" for r in results)
    name = config.stash[_SUBJECT].name.rpartition("/")[2]
    if results and not failed:
        terminalreporter.write_line(f"{name} conforms: every promise that was tested holds")
    else:
        terminalreporter.write_line(f"{name} does not conform yet: {failed} tests failed")
