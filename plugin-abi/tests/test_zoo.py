"""A zoo of bad plugins: each gives its own message, and the process that loads it lives on.

S2-blame: every text names the library and the file. Each plugin is loaded in a process of its own,
which then still answers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

KINDS = [
    "no_entry",
    "missing_symbol",
    "zero_size",
    "future_version",
    "throws",
    "exits",
    "aborts",
    "crashes",
    "writes_past",
    "hangs",
    "garbage",
    "twice",
    "leaks",
    "no_optimize",
    "throws_later",
    "drops_fetch",
    "says_no",
    "good",
    "hangs_later",
    "registers_later",
]

TRIAL_SECONDS = 60 if "san.so" in os.environ.get("LD_PRELOAD", "") else 5
"""More under a sanitizer, where a process takes that long to begin."""

LOAD = """
import json, sys, warnings
from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import load_library

answer = {"loaded": [], "errors": [], "warnings": []}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for path in sys.argv[2:]:
        try:
            plugin = load_library(path, policy=sys.argv[1])
            answer["loaded"].append(plugin.name)
            answer["warnings"] += plugin.warnings()
        except DrystoneError as error:
            answer["errors"].append([error.code, str(error)])
print(json.dumps(answer))  # the process is alive
"""

OPTIMIZE = """
import json, sys, warnings
from drystone_base import Graph, Session
from drystone_base.core.dtypes import FLOAT32
from drystone_base.plugins import load_library

load_library(sys.argv[2], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", device="/device:ZOO:0", attrs={"dtype": FLOAT32, "shape": (2,)})
graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    value = Session(graph).run("y:0", {"x:0": [1, 2]})
print(json.dumps({"value": value.tolist(), "warnings": [str(w.message) for w in caught]}))
"""


@pytest.fixture
def zoo(compile_library: Callable[..., Path]) -> Callable[..., Path]:
    """Build one of the bad plugins; its optimizer is for devices of type ZOO."""

    def build(kind: str, *flags: str) -> Path:
        number = KINDS.index(kind) + 1
        return compile_library("zoo.cc", flags=[f"-DBAD={number}", '-DDEVICE="ZOO"', *flags])

    return build


@pytest.fixture
def child(tmp_path: Path) -> Callable[..., Any]:
    """Run a program in a process of its own and return its answer; it must end well."""

    def run(program: str, *arguments: Path | str) -> Any:
        settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
        settings |= {"XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        settings["DRYSTONE_PLUGIN_PROBE_SECONDS"] = str(TRIAL_SECONDS)
        done = subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)],
            capture_output=True,
            text=True,
            env=settings,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


def refusal(child: Callable[..., Any], path: Path, policy: str = "allow_unverified") -> list[str]:
    """Code and text of the one error."""
    answer = child(LOAD, policy, path)
    assert answer["loaded"] == []
    (error,) = answer["errors"]
    assert str(path) in error[1]
    assert path.stem in error[1]
    code, text = error
    return [code, text]


@pytest.mark.parametrize(
    ("kind", "code", "found"),
    [
        ("no_entry", "plugin-no-entry", "no entry symbol"),
        (
            "missing_symbol",
            "plugin-init-failed",
            "called TF_NobodyHasThis, a function that neither the host nor a library of",
        ),
        (
            "zero_size",
            "plugin-init-failed",
            "TP_OptimizerRegistrationParams.struct_size is 0; it must be set",
        ),
        (
            "future_version",
            "plugin-init-failed",
            "version 9.0.1 of the plugin does not fit this host, which needs major version 0",
        ),
        ("throws", "plugin-init-failed", "TF_InitGraph: thrown by the entry function"),
        ("exits", "plugin-probe-exited", "it ended the process with exit status 7"),
        (
            "aborts",
            "plugin-probe-crashed",
            "signal 6 (SIGABRT); it printed: drystone: SIGABRT while TF_InitGraph of plugin ",
        ),
        (
            "crashes",
            "plugin-probe-crashed",
            "signal 11 (SIGSEGV); it printed: drystone: SIGSEGV while TF_InitGraph of plugin ",
        ),
        (
            "writes_past",
            "plugin-init-failed",
            "the plugin wrote outside the TP_OptimizerConfigs of 92 bytes that it states",
        ),
        ("hangs", "plugin-probe-hung", f"it did not end within {TRIAL_SECONDS} s"),
        (
            "no_optimize",
            "plugin-init-failed",
            "TP_Optimizer lacks required members: optimize_func; the plugin must set them",
        ),
        ("says_no", "plugin-failed", "no licence was found"),
    ],
)
def test_each_is_refused_with_its_own_message(
    zoo: Callable[..., Path], child: Callable[..., Any], kind: str, code: str, found: str
) -> None:
    got, text = refusal(child, zoo(kind))
    assert got == code
    assert found in text


def test_a_good_one_loads(zoo: Callable[..., Path], child: Callable[..., Any]) -> None:
    assert len(child(LOAD, "allow_unverified", zoo("good"))["loaded"]) == 1


def changed(path: Path, folder: Path, change: Callable[[bytearray], Any]) -> Path:
    """A copy with other bytes."""
    data = bytearray(path.read_bytes())
    change(data)
    copy = folder / path.name
    copy.write_bytes(data)
    return copy


def test_another_architecture(
    zoo: Callable[..., Path], child: Callable[..., Any], tmp_path: Path
) -> None:
    def to_aarch64(data: bytearray) -> None:
        data[18:20] = (183).to_bytes(2, "little")

    code, text = refusal(child, changed(zoo("good"), tmp_path, to_aarch64))
    assert code in ("plugin-wrong-platform", "plugin-wrong-processor")
    assert "aarch64" in text.lower()


def test_a_truncated_file(
    zoo: Callable[..., Path], child: Callable[..., Any], tmp_path: Path
) -> None:
    def halve(data: bytearray) -> None:
        del data[len(data) // 2 :]

    code, text = refusal(child, changed(zoo("good"), tmp_path, halve))
    assert code == "plugin-not-a-library"
    assert "caused by" in text or "found:" in text


@pytest.mark.parametrize("version", ["0.9", "2.0", "99.1"])
def test_an_old_and_a_future_abi(
    zoo: Callable[..., Path], child: Callable[..., Any], version: str
) -> None:
    """Row E14. S2-compatible: what it was built for is read before the library is opened."""
    magic = r"\000S\\s\":^p*L}"
    records = f"{magic}TF_PLAT_STR_VERSION=1.0{magic}DRYSTONE_ABI_VERSION={version}"
    code, text = refusal(child, zoo("aborts", f'-DRECORDS="{records}"'))
    assert code == "plugin-wrong-abi"
    assert version in text


def test_two_for_one_device_type(zoo: Callable[..., Path], child: Callable[..., Any]) -> None:
    """S0-one-per-type: the second one is refused with both files in the text; the first stays."""
    first, second = zoo("good"), zoo("leaks")
    answer = child(LOAD, "allow_unverified", first, second)
    assert len(answer["loaded"]) == 1
    ((_, text),) = answer["errors"]
    assert str(first) in text
    assert str(second) in text


def test_registering_twice(zoo: Callable[..., Path], child: Callable[..., Any]) -> None:
    """The first registration stays; the second one is reported and costs nothing else.

    S2-several.
    """
    answer = child(LOAD, "allow_unverified", zoo("twice"))
    assert len(answer["loaded"]) == 1
    assert any("is registered already" in text for text in answer["warnings"])


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("garbage", "GraphDef"),
        ("throws_later", "thrown by optimize"),
        ("drops_fetch", "y"),
        (
            "registers_later",
            (
                "registered in entry functions only, such as TF_InitKernel; this was "
                "while optimize_func of"
            ),
        ),
    ],
)
def test_bad_answers_leave_the_graph_as_it_was(
    zoo: Callable[..., Path], child: Callable[..., Any], kind: str, cause: str
) -> None:
    """One warning that names plugin and file; the graph goes on unoptimized."""
    path = zoo(kind)
    answer = child(OPTIMIZE, "-", path)
    assert answer["value"] == [-1, -2]
    (text,) = answer["warnings"]
    assert str(path) in text
    assert cause in text


def test_developer_mode_lets_an_unsigned_one_in(
    zoo: Callable[..., Path], child: Callable[..., Any]
) -> None:
    """Row E16. S2-developer: visibly, and a library that fails a check stays out all the same."""
    program = LOAD.replace("policy=sys.argv[1]", 'policy="default", developer_mode=True')
    answer = child(program, "-", zoo("good"), zoo("says_no"))
    assert len(answer["loaded"]) == 1
    assert any("signature" in text for text in answer["warnings"])
    assert [code for code, _ in answer["errors"]] == ["plugin-failed"]


def test_nobody_loads_by_default(zoo: Callable[..., Path], child: Callable[..., Any]) -> None:
    """Row E15. S2-signed: unsigned, without developer mode, even a good one stays out, unopened."""
    for kind in ("good", "aborts"):
        code, _ = refusal(child, zoo(kind), "default")
        assert code == "plugin-unsigned"


# the process's state -----------------------------------------------------------------------------

STATE = """
import json, sys
from drystone_base.plugins import configure, load_library

configure(probe_seconds=0)
answer = {}
for path in sys.argv[1:]:
    answer[path] = load_library(path, policy="allow_unverified").warnings()
print(json.dumps(answer))
"""

CHANGES = [
    ("flush_denormals()", "the floating-point mode (rounding, denormals)"),
    ("umask(0123)", "the umask, from 0"),
    ('if (chdir("/") != 0) abort()', "the working folder"),
    ("signal(SIGINT, ignore)", "the handler of signal 2 (Interrupt)"),
    (
        "sigset_t s; sigemptyset(&s); sigaddset(&s, SIGINT); pthread_sigmask(SIG_BLOCK, &s, NULL)",
        "which signals are blocked",
    ),
    (
        "struct rlimit r; getrlimit(7, &r); r.rlim_cur = 99; setrlimit(7, &r)",
        "the limit of open files",
    ),
    ('setlocale(LC_ALL, "C")', "the locale, from "),
    ('setenv("ZOO", "1", 1)', "the environment variable ZOO, which was not set"),
    ("close(1)", "standard output"),
    ('int f = open("/dev/null", O_RDWR); dup2(f, 2); close(f)', "standard error"),
    ('prctl(PR_SET_NAME, "mine")', "the thread's name"),
]


def test_what_a_plugin_changes_is_put_back_with_a_remark(
    child: Callable[..., Any], compile_library: Callable[..., Path]
) -> None:
    """Its JSON is whole, though each prints to standard output and one closes that."""
    expected = {}
    for number, (change, told) in enumerate(CHANGES):
        device = f'-DDEVICE="ZOO_STATE_{number}"'
        flags = [device, "-DWHEN=kEntry", f"-DCHANGES=(void)change_all;{change}"]
        expected[str(compile_library("host_state.c", flags=flags))] = told
    answer = child(STATE, *expected)
    for path, told in expected.items():
        said = " ".join(text for text in answer[path] if "it changed" in text)
        assert said.startswith(f"while TF_InitGraph ran it changed {told}")
        assert said.endswith("; that was put back")


# processes of their own --------------------------------------------------------------------------

ISOLATED = """
import json, sys
from drystone_base import Graph, Session
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import load_library

answer = {"errors": []}
for number, path in enumerate(sys.argv[1:]):
    assert load_library(path, policy="allow_unverified", isolation="unsigned").is_isolated
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    graph.add(f"Zoo{number}", "y", [x])
    graph.add("Neg", "z", [x], attrs={"T": FLOAT32})
    try:
        Session(graph).run("y:0", {"x:0": [1, 2]})
    except DrystoneError as error:
        answer["errors"].append([error.code, error.status, str(error)])
    assert Session(graph).run("z:0", {"x:0": [1, 2]}).tolist() == [-1, -2]
print(json.dumps(answer))  # the process is alive
"""

ENDS = [
    ("kCompute", "raise(SIGSEGV)", "compute", "ended by SIGSEGV"),
    ("kCompute", "abort()", "compute", "ended by SIGABRT"),
    ("kCompute", "exit(3)", "compute", "exit status 3"),
    ("kCompute", "_exit(0)", "compute", "exit status 0"),
    ("kCreate", "raise(SIGFPE)", "create", "ended by SIGFPE"),
]


def test_isolated_kernels_that_end_their_process(
    child: Callable[..., Any], compile_library: Callable[..., Path]
) -> None:
    """Five parts that name plugin, node and call; the session's process goes on."""
    paths = []
    for number, (when, ending, _, _) in enumerate(ENDS):
        names = [f'-DDEVICE="ZOO_ISOLATED_{number}"', f'-DOP="Zoo{number}"', f"-DWHEN={when}"]
        flags = [*names, f"-DCHANGES=(void)change_all;{ending}"]
        paths.append(compile_library("host_state.c", flags=flags))
    errors = child(ISOLATED, *paths)["errors"]
    for number, (_, _, call, found) in enumerate(ENDS):
        code, status, text = errors[number]
        assert (code, status) == ("isolated-plugin-crashed", "ABORTED")
        assert text.startswith(f"node 'y' (Zoo{number}) failed in isolated kernel 'Zoo{number}' of")
        assert str(paths[number]) in text
        assert f"in its own process while {call} of node 'y' (op Zoo{number}) ran: {found}" in text
        assert all(part in text for part in ("check: ", "found: ", "needed: ", "remedy: "))
