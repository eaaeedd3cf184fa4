"""What the system may do to a process: no files left, no room, signals, half connections."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from drystone_network import Engine
from drystone_network.transports.engine import Happened

TAG = (7, 9)
LOCAL = {"tcp": "tcp://127.0.0.1:0", "unix": "unix://", "shm": "shm://"}
TRANSPORTS = pytest.mark.parametrize("transport", LOCAL)


def raw(address: str) -> socket.socket:
    """A plain connection to who listens there."""
    scheme, _, rest = address.partition("://")
    if scheme == "tcp":
        host, _, port = rest.rpartition(":")
        return socket.create_connection((host, int(port)), 5)
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(5)
    one.connect("\0" + (rest.removeprefix("@") if scheme == "unix" else f"drystone-shm-{rest}"))
    return one


def waited(engine: Engine, kind: str, seconds: float = 20.0) -> Happened:
    """The next event of a kind."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for event in engine.progress(0.1):
            if event.kind == kind:
                return event
    raise AssertionError(f"nothing was {kind}")


def exchanges(here: Engine, address: str) -> None:
    """Another engine connects, and its message comes."""
    with Engine(address.partition("://")[0]) as other:
        there = other.connect(address)
        here.receive(waited(here, "accepted").peer, TAG)
        other.send(there, TAG, [b"hello"])
        event = waited(here, "received")
        assert event.data is not None
        assert event.data.tobytes() == b"hello"


@TRANSPORTS
def test_connections_that_say_nothing_hold_up_nobody(transport: str) -> None:
    """Not those who knock beside them, and no more than a number of them are kept."""
    with Engine(transport) as here, ExitStack() as strangers:
        address = here.listen(LOCAL[transport])
        for _ in range(3):
            strangers.enter_context(raw(address))
        start = time.monotonic()
        exchanges(here, address)
        assert time.monotonic() - start < 1
        for _ in range(3):
            for _ in range(100):
                strangers.enter_context(raw(address))
            here.progress(0)
        exchanges(here, address)


LISTENER = """
import os, resource, sys, time
from drystone_network import Engine
engine = Engine(sys.argv[1])
print(engine.listen(sys.argv[2]), flush=True)
taken = len(os.listdir("/proc/self/fd"))
resource.setrlimit(resource.RLIMIT_NOFILE, (taken + 8, taken + 8))
sys.stdin.readline()
begun = time.process_time()
until = time.monotonic() + 0.5
while time.monotonic() < until:
    engine.progress(0.1)
print(time.process_time() - begun, flush=True)
engine.receive(0, (7, 9))
until = time.monotonic() + 20
while time.monotonic() < until:
    for event in engine.progress(0.1):
        if event.kind == "received":
            print(event.data.tobytes().decode(), flush=True)
            sys.exit()
"""


@TRANSPORTS
def test_a_process_without_files_left_waits_for_them(transport: str) -> None:
    """It does not turn in circles, and lets in who knocks when there are some again."""
    with subprocess.Popen(
        [sys.executable, "-c", LISTENER, transport, LOCAL[transport]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            address = process.stdout.readline().strip()
            with ExitStack() as strangers, Engine(transport) as other:
                for _ in range(40):
                    strangers.enter_context(raw(address))
                process.stdin.write("\n")
                process.stdin.flush()
                assert float(process.stdout.readline()) < 0.2
                there = other.connect(address)
                strangers.close()
                token = other.send(there, TAG, [b"hello"])
                if token:
                    waited(other, "sent")
                assert process.stdout.readline() == "hello\n"
        finally:
            process.kill()


WRITER = """
import signal, sys, time
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
from drystone_base.core.errors import DrystoneError
from drystone_network import Engine
engine = Engine(sys.argv[1])
peer = engine.connect(sys.argv[2])
print("there", flush=True)
until = time.monotonic() + 20
while time.monotonic() < until:
    try:
        engine.send(peer, (7, 9), [bytes(1 << 20)])
    except DrystoneError:
        break
    if any(event.kind == "lost" for event in engine.progress(0)):
        break
print("goes on", flush=True)
"""


@TRANSPORTS
def test_who_writes_to_one_who_is_gone_is_not_ended_by_a_signal(transport: str) -> None:
    with (
        Engine(transport) as here,
        subprocess.Popen(
            [sys.executable, "-c", WRITER, transport, here.listen(LOCAL[transport])],
            stdout=subprocess.PIPE, text=True,
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        here.disconnect(waited(here, "accepted").peer)
        assert process.stdout.readline() == "goes on\n"
        assert process.wait(20) == 0


@pytest.mark.parametrize("transport", ["tcp", "unix"])
def test_a_connection_that_is_half_closed_is_over(transport: str) -> None:
    """The other side has said that it will send no more: nothing is waited for any longer."""
    with Engine(transport) as here, raw(here.listen(LOCAL[transport])) as half:
        half.sendall(b"drystone-net 01\n")
        peer = waited(here, "accepted").peer
        here.receive(peer, TAG)
        half.shutdown(socket.SHUT_WR)
        event = waited(here, "lost", 5)
        assert (event.peer, event.code) == (peer, "UNAVAILABLE")


PAIR = """
from drystone_network import Engine
here, other = Engine("shm"), Engine("shm")
there = other.connect(here.listen("shm://"))
here.receive(tag=(7, 9))
other.send(there, (7, 9), [bytes(3 << 20)])
while True:
    other.progress(0)
    if any(e.kind == "received" and e.data.size == 3 << 20 for e in here.progress(0.01)):
        break
print("came")
"""


def test_shared_memory_needs_no_room_in_dev_shm() -> None:
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("only root can put another /dev/shm in the place of this one")
    script = 'mount -t tmpfs -o size=4k tmpfs /dev/shm && dd if=/dev/zero of=/dev/shm/x; exec "$@"'
    command = ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c", PAIR]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.stdout == "came\n", done.stderr
    assert "No space left" in done.stderr
