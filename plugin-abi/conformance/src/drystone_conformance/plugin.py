"""The pytest plugin: options, which suites run, skips by capability, the report."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from drystone_conformance.capabilities import Capabilities, read_capabilities
from drystone_conformance.children import Outcome, run_suites
from drystone_conformance.progress import doing, tell, write_to
from drystone_conformance.subject import MODULES, Subject

__all__ = ["needs"]

SUITES = Path(__file__).parent / "suites"
_SECONDS = 600.0
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
        help="folder that tests of a file system may fill (default SCHEME://conformance), or "
        "address at which tests of a transport listen (default SCHEME://, else "
        "SCHEME://127.0.0.1:0)",
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
    group.addoption(
        "--plugin-numeric",
        choices=("exact", "reassociates", "approximate"),
        help="how far a value may change (optimizers: reassociates; passes are not asked)",
    )
    group.addoption(
        "--plugin-seconds",
        metavar="S",
        type=float,
        default=_SECONDS,
        help=f"how long a test may take before its process is ended (default {_SECONDS:g})",
    )
    group.addoption("--plugin-child", metavar="FOLDER", help=argparse.SUPPRESS)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Test a library in processes of its own; this one only says what came of it."""
    path, option = config.getoption("--plugin"), config.option
    inside = config.getoption("--plugin-child") is not None
    if path is None or inside or option.help or option.version or option.collectonly:
        return None
    if not Path(path).is_file():
        raise pytest.UsageError(f"--plugin: no such file: {path}")
    chosen = config.args_source is pytest.Config.ArgsSource.ARGS
    suites = [] if chosen else sorted(SUITES.glob("test_*.py"))
    arguments = _without_report(config.invocation_params.args)
    seconds, most = config.getoption("--plugin-seconds"), int(option.maxfail or 0)
    outcome = run_suites(arguments, suites, seconds, lambda text: print(text, flush=True), most)
    if outcome.refused:
        return outcome.refused
    file = config.getoption("--plugin-report")
    if file is not None:
        _write(Path(file), _whole(path, outcome.facts, outcome.rows))
    print(_verdict(path, outcome))
    return 0 if outcome.rows and not outcome.failed else 1


def _without_report(arguments: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The arguments for another process, which does not write the report."""
    given, kept = [os.fspath(one) for one in arguments], []
    while given:
        word = given.pop(0)
        if word == "--plugin-report":
            del given[:1]
        elif not word.startswith("--plugin-report="):
            kept.append(word)
    return kept


def _verdict(path: str, outcome: Outcome) -> str:
    """One line that answers the author's question."""
    name = Path(path).name
    if outcome.rows and not outcome.failed:
        return f"{name} conforms: every promise that was tested holds"
    deaths = f", {outcome.deaths} of them ended the process" if outcome.deaths else ""
    return f"{name} does not conform yet: {outcome.failed} tests failed{deaths}"


def pytest_configure(config: pytest.Config) -> None:
    """Make the subject, and choose our suites when no other tests were asked for."""
    config.addinivalue_line("markers", "capability(flag): needs a capability of the plugin")
    config.addinivalue_line("markers", "module(name): tests what one module offers")
    path = config.getoption("--plugin")
    backends = tuple(config.getoption("--subgraph-backend"))
    folders = tuple(config.getoption("--filesystem"))
    if path is None and not backends and not folders:
        return
    child = config.getoption("--plugin-child")
    if child is not None:
        write_to(os.path.join(child, "progress"))
    config.stash[_SUBJECT] = _make_subject(config, path, backends, folders)
    config.stash[_RESULTS] = []
    if child is not None:
        with doing("loading the library"):
            tell("facts", _facts(config.stash[_SUBJECT]))
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
    subject, done = config.stash[_SUBJECT], _done_before(config)
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        mark = item.get_closest_marker("module")
        offered = mark is None or subject.offers(mark.args[0])
        (kept if offered and item.nodeid not in done else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def _done_before(config: pytest.Config) -> frozenset[str]:
    """Tests that another process has run."""
    child = config.getoption("--plugin-child")
    if child is None:
        return frozenset()
    return frozenset(Path(child, "done").read_text(encoding="utf-8").splitlines())


def pytest_runtest_logstart(nodeid: str) -> None:
    """Say which test runs, before it can end the process."""
    tell("test", nodeid)


def pytest_runtest_logfinish() -> None:
    """And that it has come back."""
    tell("test", "")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what the author says the plugin lacks."""
    if _SUBJECT not in item.config.stash:
        return
    capabilities = item.config.stash[_SUBJECT].capabilities
    params = item.callspec.params if hasattr(item, "callspec") else {}
    one = params.get("scheme") or params.get("pass_name") or ""
    for mark in item.iter_markers("capability"):
        reason = capabilities.why_not(mark.args[0], one)
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
    kinds |= {"subgraph_backend": "subgraph", "transport": "network"}
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
        tell("row", results[-1])
    return report


def _reason(report: Any) -> str:
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(report.longreprtext)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, unless another process does."""
    file = session.config.getoption("--plugin-report")
    if file is None or _SUBJECT not in session.config.stash:
        return
    subject, rows = session.config.stash[_SUBJECT], session.config.stash[_RESULTS]
    _write(Path(file), _whole(subject.name, _facts(subject), rows))


def pytest_unconfigure() -> None:
    """Say that the process came to its end."""
    tell("end", True)


def _write(file: Path, report: dict[str, Any]) -> None:
    text = json.dumps(report, indent=2, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


def _facts(subject: Subject) -> dict[str, Any]:
    """What the library offers and lacks."""
    offers = {module: subject.offers(module) for module in MODULES}
    return {"offers": offers, "lacks": dict(subject.capabilities.closed)}


def _whole(name: str, facts: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The report: what was tested, by which versions, and a row per test."""
    from drystone_abi import ABI_VERSION
    from drystone_base import host
    from drystone_conformance import __version__

    counts = {o: sum(r["outcome"] == o for r in rows) for o in ("passed", "failed", "skipped")}
    return {
        "plugin": name,
        "conforms": bool(rows) and not counts["failed"],
        "counts": counts,
        **facts,
        "suite_version": __version__,
        "host_version": host.version(),
        "abi_version": str(ABI_VERSION),
        "machine": f"{platform.system()} {platform.machine()}",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "results": rows,
    }


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The answer, where this process runs all tests."""
    if _SUBJECT not in config.stash or config.getoption("--plugin-child") is not None:
        return
    found = Outcome(rows=config.stash[_RESULTS])
    terminalreporter.write_line(_verdict(config.stash[_SUBJECT].name, found))
