"""Runs that are stopped: by another thread, by Ctrl-C, by a deadline; in loops without end."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from endless import KINDS, endless

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import KernelError
from drystone_base.graph import Graph
from drystone_base.host import available
from drystone_base.state.cancellation import Cancellation

EXECUTORS = ["reference", *(["native"] if available() else [])]


def session_of(graph: Graph, executor: str, deadline: float | None = None) -> Session:
    config = SessionConfig(executor=executor, deadline=deadline)  # type: ignore[arg-type]
    return Session(graph, config)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_another_thread_stops_a_run(executor: str, kind: str) -> None:
    session = session_of(endless(kind), executor)
    session.run("out:0", {"flag:0": False})
    stop = Cancellation()
    threading.Timer(0.05, stop.cancel).start()
    with pytest.raises(KernelError, match="the run was cancelled") as caught:
        session.run("out:0", {"flag:0": True}, cancellation=stop)
    assert (caught.value.code, caught.value.status) == ("run-cancelled", "CANCELLED")
    assert "new Cancellation" in str(caught.value)
    session.run("out:0", {"flag:0": False}, cancellation=Cancellation())


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_cancelled_cancellation_stops_later_runs(executor: str) -> None:
    stop = Cancellation()
    stop.cancel()
    assert stop.cancelled
    session = session_of(endless("kernels"), executor)
    with pytest.raises(KernelError, match="run-cancelled"):
        session.run("out:0", {"flag:0": True}, cancellation=stop)
    with pytest.raises(KernelError, match="run-cancelled"):
        session.make_callable("out:0", ["flag:0"], cancellation=stop)(True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_deadline_ends_a_loop(executor: str, kind: str) -> None:
    session = session_of(endless(kind), executor, deadline=0.1)
    with pytest.raises(KernelError, match="deadline-exceeded"):
        session.run("out:0", {"flag:0": True})
    session.run("out:0", {"flag:0": False})


def test_an_op_that_waits_is_stopped() -> None:
    graph = Graph()
    queue = graph.add("FIFOQueueV2", "queue", attrs={"component_types": [FLOAT32]})
    attrs = {"component_types": [FLOAT32], "timeout_ms": -1}
    graph.add("QueueDequeueV2", "out", [queue], attrs=attrs)
    for executor in EXECUTORS:
        stop = Cancellation()
        call = session_of(graph, executor, deadline=60).make_callable("out:0", cancellation=stop)
        threading.Timer(0.3, stop.cancel).start()
        with pytest.raises(KernelError, match="the run was cancelled while node 'out'"):
            call()


PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
from endless import endless
from drystone_base.api.session import Session, SessionConfig

session = Session(endless(sys.argv[2]), SessionConfig(executor=sys.argv[1]))
session.run("out:0", {"flag:0": False})
print("ready", flush=True)
try:
    session.run("out:0", {"flag:0": True})
except KeyboardInterrupt:
    print("interrupted", flush=True)
session.run("out:0", {"flag:0": False})
print("usable", flush=True)
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_ctrl_c_stops_a_run_of_the_main_thread(executor: str, kind: str) -> None:
    folders = [str(Path(__file__).parents[2]), *sys.path]
    program = f"import sys; sys.path[:0] = {folders!r}\n{PROGRAM}"
    command = [sys.executable, "-c", program, executor, kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        threading.Timer(0.2, lambda: child.send_signal(signal.SIGINT)).start()
        out, _ = child.communicate(timeout=60)
    assert out.split() == ["interrupted", "usable"]
    assert child.returncode == 0


@pytest.mark.parametrize("executor", EXECUTORS)
def test_one_cancellation_stops_the_runs_of_many_threads(executor: str) -> None:
    session = session_of(endless("kernels"), executor)
    stop = Cancellation()
    failed: list[str] = []

    def work() -> None:
        try:
            session.run("out:0", {"flag:0": True}, cancellation=stop)
        except KernelError as error:
            failed.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    stop.cancel()
    for thread in threads:
        thread.join(60)
    assert failed == ["run-cancelled"] * 3
