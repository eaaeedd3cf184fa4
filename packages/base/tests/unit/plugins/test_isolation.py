"""Optimizers in a process of their own: crashes, hangs, noise, memory, reuse."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from optimizing import small_graph

from drystone_base.core.errors import DrystoneError, PluginError
from drystone_base.graph import Graph
from drystone_base.host import _lib, optimizer
from drystone_base.host.library import open_library
from drystone_base.plugins import isolation
from drystone_base.plugins.isolation import Limits, OptimizerPlugin, load_isolated
from drystone_base.plugins.isolation_channel import BadMessage, Channel, Closed, Deadline

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

Isolate = Callable[..., OptimizerPlugin]
APPEND = 'append_node(graph, "n", "NoOp", optimized)'


@pytest.fixture(scope="module", autouse=True)
def no_workers_left() -> Iterator[None]:
    yield
    isolation.stop_workers()


@pytest.fixture(scope="module")
def library(compile_library: Callable[..., Path]) -> Callable[..., Path]:
    """``library("DEVICE", "statements")``: a file with such an optimizer."""

    def make(device: str, optimize: str = APPEND, **macros: str) -> Path:
        flags = [f'-DDEVICE="{device}"', f"-DOPTIMIZE={optimize}"]
        flags += [f"-D{macro}={text}" for macro, text in macros.items()]
        return compile_library("optimizer_variants.c", flags=flags)

    return make


@pytest.fixture(scope="module")
def isolate(library: Callable[..., Path]) -> Isolate:
    def make(device: str, optimize: str = APPEND, **macros: str) -> OptimizerPlugin:
        (found,) = load_isolated(library(device, optimize, **macros), f"p-{device}", "7.1")
        return found

    return make


def run(plugin: OptimizerPlugin, limits: Limits | None = None) -> bytes | None:
    graph = small_graph()
    return plugin.run(graph.to_bytes(), ["z:0"], ["x:0"], ["z", "x"], limits=limits)


def failure(plugin: OptimizerPlugin, limits: Limits | None = None) -> DrystoneError:
    with pytest.raises(DrystoneError) as caught:
        run(plugin, limits)
    return caught.value


def test_isolated_optimizer_gives_what_it_would_give_here(isolate: Isolate) -> None:
    plugin = isolate("ISO_SAME")
    data = run(plugin)
    assert data is not None
    assert [n.name for n in Graph.from_bytes(data)] == ["x", "y", "z", "n"]
    assert Graph.from_bytes(data)["x"].device == ""


def test_library_is_not_opened_in_this_process(isolate: Isolate) -> None:
    plugin = isolate("ISO_APART", "copy_graph(graph, optimized)")
    assert run(plugin) is None
    assert "ISO_APART" not in [o.device for o in optimizer.optimizers()]
    assert plugin.path not in Path("/proc/self/maps").read_text(encoding="ascii")
    assert plugin in isolation.optimizer_plugins()
    assert (plugin.isolation, plugin.only_isolated) == ("process", True)


def test_wishes_come_across(isolate: Isolate) -> None:
    init = "params->configs->remapping = TF_TriState_Off"
    assert isolate("ISO_WISH", AFTER_INIT=init).configs == {"remapping": "off"}


def test_inference_is_answered_in_the_child(isolate: Isolate) -> None:
    error = failure(isolate("ISO_ASK", 'report_item(item, "y", status)'))
    assert "preserve: x z; fetch: z:0; outputs of y: 1,0801" in error.found
    assert error.status == "ABORTED"


def test_process_is_used_again(isolate: Isolate) -> None:
    body = 'char n[16]; sprintf(n, "p%d", (int)getpid()); append_node(graph, n, "NoOp", optimized)'
    plugin = isolate("ISO_AGAIN", body, AFTER_INIT="(void)0")
    first, second = run(plugin), run(plugin)
    assert first == second
    assert first is not None
    assert f"p{os.getpid()}".encode() not in first


@pytest.mark.parametrize(
    ("name", "body", "found"),
    [
        ("ABORT", "abort()", "ended by SIGABRT"),
        ("SEGV", "*(volatile int*)item = *(volatile int*)8", "ended by SIGSEGV"),
        ("EXIT", "exit(3)", "exit status 3"),
        ("EXIT0", "exit(0)", "exit status 0"),
    ],
)
def test_crash_is_an_error_that_names_plugin_version_and_file(
    isolate: Isolate, name: str, body: str, found: str
) -> None:
    plugin = isolate(f"ISO_{name}", body)
    error = failure(plugin)
    assert isinstance(error, PluginError)
    assert error.code == "isolated-plugin-crashed"
    assert found in error.found
    assert (error.plugin, error.version, error.path) == (f"p-ISO_{name}", "7.1", plugin.path)
    assert plugin.path in str(error)


def test_last_words_of_a_crash_are_kept(isolate: Isolate) -> None:
    body = 'fprintf(stderr, "cannot go on: no licence\\n"); abort()'
    assert "it printed: cannot go on: no licence" in failure(isolate("ISO_WORDS", body)).found


def test_crash_of_one_graph_leaves_the_next_unharmed(isolate: Isolate, tmp_path: Path) -> None:
    mark = tmp_path / "crashed"
    body = (
        f'FILE* mark = fopen("{mark}", "r"); '
        f'if (mark == NULL) {{ fclose(fopen("{mark}", "w")); abort(); }} '
        f"fclose(mark); {APPEND}"
    )
    plugin = isolate("ISO_ONCE", body)
    assert failure(plugin).code == "isolated-plugin-crashed"
    assert run(plugin) is not None


def test_hang_ends_at_the_deadline_and_is_not_tried_again(isolate: Isolate) -> None:
    plugin = isolate("ISO_HANG", "for (volatile int k = 0;; ++k) {}")
    begin = time.monotonic()
    error = failure(plugin, Limits(deadline=0.5))
    assert error.code == "isolated-plugin-deadline"
    assert error.found == "no answer within 0.5 s"
    assert time.monotonic() - begin < 10
    begin = time.monotonic()
    assert failure(plugin, Limits(deadline=30)) is error
    assert time.monotonic() - begin < 1


def test_who_ran_out_of_the_callers_time_is_asked_again(isolate: Isolate, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    body = (
        f'FILE* mark = fopen("{mark}", "r"); '
        f'if (mark == NULL) {{ fclose(fopen("{mark}", "w")); '
        "for (volatile int k = 0;; ++k) {} } "
        f"fclose(mark); {APPEND}"
    )
    plugin = isolate("ISO_HURRIED", body)
    error = failure(plugin, Limits(deadline=60, ends=time.monotonic() + 0.5))
    assert error.code == "isolated-plugin-deadline"
    if not mark.exists():  # it was not even asked: its process takes that long to begin here
        mark.touch()
    assert run(plugin) is not None


def test_runaway_memory_is_stopped(isolate: Isolate) -> None:
    body = "for (;;) memset(malloc(1 << 20), 1, 1 << 20)"
    error = failure(isolate("ISO_MEMORY", body), Limits(deadline=60, memory=256 << 20))
    assert error.code in ("isolated-plugin-memory", "isolated-plugin-crashed")
    if error.code == "isolated-plugin-memory":
        assert error.needed == "at most 256 MiB"


def test_noise_on_standard_output_does_no_harm(isolate: Isolate) -> None:
    body = f'for (int k = 0; k < 100000; ++k) puts("noise DSW1 noise"); {APPEND}'
    assert run(isolate("ISO_NOISE", body)) is not None


def test_bytes_written_into_the_reply_are_found_out(isolate: Isolate) -> None:
    body = 'for (int fd = 3; fd < 999; ++fd) { if (write(fd, "garbage garbage garb", 20)) {} }'
    error = failure(isolate("ISO_FORGED", body, AFTER_INIT="(void)0"))
    assert error.code in ("isolated-plugin-reply", "isolated-plugin-crashed")


def test_bad_answer_is_the_same_error_as_here(isolate: Isolate) -> None:
    error = failure(isolate("ISO_EMPTY", "(void)graph"))
    assert "said OK but left the optimized graph empty" in error.found
    assert error.status == "INTERNAL"
    assert run(isolate("ISO_EMPTY2")) is not None


def test_library_that_fails_to_start_says_why(library: Callable[..., Path]) -> None:
    file = library("ISO_BAD", AFTER_INIT="params->struct_size = 0")
    with pytest.raises(PluginError) as caught:
        load_isolated(file)
    assert "struct_size is 0" in caught.value.found
    crash = library("ISO_BAD2", AFTER_INIT="abort()")
    with pytest.raises(PluginError) as caught:
        load_isolated(crash)
    assert caught.value.code == "isolated-plugin-crashed"


def test_taken_device_type_is_refused_naming_both(
    isolate: Isolate, library: Callable[..., Path]
) -> None:
    """S0-one-per-type: the second optimizer of a device type is refused."""
    first = isolate("ISO_TAKEN")
    second = library("ISO_TAKEN", AFTER_INIT="(void)status")
    with pytest.raises(PluginError) as caught:
        load_isolated(second)
    assert caught.value.code == "already-registered"
    assert first.path in str(caught.value)
    assert str(second) in str(caught.value)


def test_plugin_that_is_open_here_can_be_isolated_for_a_call(library: Callable[..., Path]) -> None:
    body = 'char n[16]; sprintf(n, "p%d", (int)getpid()); append_node(graph, n, "NoOp", optimized)'
    opened = open_library(library("ISO_BOTH", body, AFTER_INIT="(void)0"))
    opened.initialise("TF_InitGraph")
    (plugin,) = [p for p in isolation.optimizer_plugins() if p.device == "ISO_BOTH"]
    graph = small_graph().to_bytes()
    here, there = plugin.run(graph), plugin.run(graph, isolation="process")
    assert here is not None
    assert there is not None
    mine = f"p{os.getpid()}".encode()
    assert (mine in here, mine in there) == (True, False)


def test_environment_isolates_all(
    library: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_library(library("ISO_ENV", "copy_graph(graph, optimized)"))
    opened.initialise("TF_InitGraph")
    for value, expected in (("process", "process"), ("none", "none")):
        monkeypatch.setenv("DRYSTONE_PLUGIN_ISOLATION", value)
        (plugin,) = [p for p in isolation.optimizer_plugins() if p.device == "ISO_ENV"]
        assert plugin.isolation == expected


def test_library_without_optimizer_has_none_in_its_process(library: Callable[..., Path]) -> None:
    file = library("ISO_PLAIN", ENTRY="OtherEntry")
    with pytest.raises(PluginError) as caught:
        load_isolated(file)
    assert caught.value.code == "plugin-no-entry"
    assert str(file) not in [plugin.path for plugin in isolation.optimizer_plugins()]


def test_nodes_for_the_plugins_own_kernels_must_be_made_here(
    library: Callable[..., Path],
) -> None:
    """They may hold addresses of the process that made them."""
    opened = open_library(library("ISO_OPS"))
    opened.initialise("TF_InitGraph")
    (plugin,) = [p for p in isolation.optimizer_plugins() if p.device == "ISO_OPS"]
    with_ops = replace(plugin, ops=frozenset({"NoOp"}), isolation="process")
    with pytest.raises(PluginError) as caught:
        run(with_ops)
    assert caught.value.code == "isolated-plugin-ops"
    assert "node 'n' has op 'NoOp'" in str(caught.value)
    assert with_ops.run(small_graph().to_bytes(), isolation="none") is not None
    assert run(replace(with_ops, ops=frozenset({"Other"}))) is not None


_PARENT = """
import os, sys
from drystone_base.graph import Graph
from drystone_base.plugins import isolation, isolation_pool
(plugin,) = isolation.load_isolated(sys.argv[1])
graph = Graph()
graph.add("NoOp", "z")
try:
    plugin.run(graph.to_bytes(), ["z"])
except Exception as error:
    assert "(" in sys.argv[2], error
print(next(iter(isolation_pool._workers.values())).process.pid, flush=True)
if sys.argv[2] == "stop":
    isolation_pool.stop_workers()
    print("stopped", flush=True)
elif sys.argv[2]:
    isolation.stop_workers()  # of whom nothing is left
os._exit(0)
"""


@pytest.mark.parametrize(
    "how", ["", "stop", "abort()", "kill(0, SIGKILL)", "kill(getppid(), SIGKILL)"]
)
def test_all_that_a_plugin_has_started_ends_with_its_process(
    library: Callable[..., Path], tmp_path: Path, how: str
) -> None:
    """Also who has left its process group and lost its parent; and it with the process here."""
    note = tmp_path / "daemon"
    body = (
        "if (fork() == 0) { setsid(); if (fork() == 0) { "
        f'FILE* file = fopen("{note}.", "w"); fprintf(file, "%d", getpid()); fclose(file); '
        f'rename("{note}.", "{note}"); '
        f"for (int k = 0; k < 99; ++k) sleep(1); }} _exit(0); }} "
        f'while (access("{note}", R_OK) != 0) sleep(0); '
        f"{how if '(' in how else '(void)0'}; {APPEND}"
    )
    device = "ISO_ORPHAN_" + "".join(filter(str.isalnum, how)).upper()
    file = library(device, body, AFTER_INIT="(void)0")
    done = subprocess.run(
        [sys.executable, "-c", _PARENT, str(file), how],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=100,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    pids = [int(done.stdout.split()[0]), int(note.read_text(encoding="ascii"))]
    if how:
        assert [pid for pid in pids if _state(pid) != "Z"] == []
    for _ in range(100):
        if all(_state(pid) == "Z" for pid in pids):
            return
        time.sleep(0.1)
    pytest.fail(f"processes {pids} are still there")


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split(") ")[1][0]
    except OSError:
        return "Z"


def test_process_that_cannot_be_started_is_an_error(
    library: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    open_files = len(os.listdir("/proc/self/fd"))
    with pytest.raises(PluginError) as caught:
        load_isolated(library("ISO_NO_PYTHON"))
    assert caught.value.code == "isolated-plugin-not-started"
    assert "No such file" in caught.value.found
    assert len(os.listdir("/proc/self/fd")) == open_files


# ---- the channel -------------------------------------------------------------------------------


@pytest.fixture
def channels() -> Iterator[tuple[Channel, Channel]]:
    a, b = os.pipe(), os.pipe()
    for fd in (*a, *b):
        os.set_blocking(fd, False)
    one, other = Channel(a[0], b[1]), Channel(b[0], a[1])
    yield one, other
    for channel in (one, other):
        if channel.target >= 0:
            os.close(channel.target)
        os.close(channel.source)


def soon() -> float:
    return time.monotonic() + 0.2


def test_messages_come_through(channels: tuple[Channel, Channel]) -> None:
    one, other = channels
    one.send({"a": "\udcff"}, b"bytes", until=soon())
    assert other.receive(longest=10, until=soon()) == ({"a": "\udcff"}, b"bytes")


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense nonsense nonsense",
        b"DSW1\xff\xff\xff\xff" + b"\x00" * 8,
        b"DSW1\x02\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00[]",
        b"DSW1\x02\x00\x00\x00" + b"\x00" * 8 + b"[]",
        b"DSW1\x02\x00\x00\x00" + b"\x00" * 8 + b"{]",
    ],
)
def test_bytes_that_are_no_message(channels: tuple[Channel, Channel], data: bytes) -> None:
    one, other = channels
    os.write(one.target, data)
    with pytest.raises(BadMessage):
        other.receive(longest=10, until=soon())


def test_waiting_ends(channels: tuple[Channel, Channel]) -> None:
    one, other = channels
    with pytest.raises(Deadline):
        other.receive(longest=10, until=soon())
    with pytest.raises(Deadline):
        one.send({}, b"x" * (1 << 20), until=soon())
    os.close(one.target)
    one.target = -1
    with pytest.raises((Closed, BadMessage)):
        other.receive(longest=1 << 30, until=soon())
