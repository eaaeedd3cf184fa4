"""Processes that answer cases, and may die or hang at any: a new one goes on with the next.

``python -m extremes.process tensorflow`` (or ``plain``, ``cpu``: see ``verdicts.BACKENDS``) takes
pickled requests on standard input and writes pickled frames, each with a tag, to standard output.
"""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeAlias

from oracle import Case
from parity.judge import Verdict

__all__ = ["Ours", "Tensorflow", "Worker"]

Answer: TypeAlias = list[Any] | str

MEMORY = 8 << 30  # less than 2^31 floats take
STARTING = 120.0  # seconds until a process is ready
END = "end"
NEEDS = (
    "it needs tensorflow, drystone-base and drystone-cpu; DRYSTONE_DEVELOPER_MODE=1 where the "
    "latter is not installed beside drystone-base"
)


class Worker:
    """One process, started when needed; ``ask`` gives its frames for a request."""

    def __init__(self, role: str, patience: float, **environment: str) -> None:
        self.role, self.patience = role, patience
        self.starts = 0
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def send(self, request: Any) -> None:
        """Hand a request over; its frames are read before the next one is sent."""
        process = self._running()
        assert process.stdin
        try:
            process.stdin.write(pickle.dumps(request))
            process.stdin.flush()
        except BrokenPipeError:
            pass  # which reading its answer will show

    def frames(self) -> Iterator[Any]:
        """The frames of the request; the last is ``("died", how)`` if the process ended."""
        process = self._running()
        assert process.stdout
        try:
            while select.select([process.stdout], [], [], self.patience)[0]:
                frame = pickle.load(process.stdout)
                if frame == END:
                    return
                yield frame
        except (EOFError, pickle.UnpicklingError):
            status = process.wait()
            self._process = None
            name = signal.Signals(-status).name if status < 0 else f"status {status}"
            yield "died", f"crash: {name}"
            return
        self.close()
        yield "died", f"hang: no answer in {self.patience:.0f} s"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-m", "extremes.process", self.role]
            path = os.pathsep.join(sys.path)
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                bufsize=0, env={**os.environ, "PYTHONPATH": path, **self._environment},
            )  # fmt: skip
            self.starts += 1
            assert self._process.stdout
            select.select([self._process.stdout], [], [], STARTING)
            try:
                pickle.load(self._process.stdout)
            except EOFError as error:
                raise RuntimeError(f"the process {self.role!r} does not start: {NEEDS}") from error
        return self._process


class Tensorflow:
    """TensorFlow's answers, with its plain kernels (or those of oneDNN) and no GPU."""

    def __init__(self, patience: float, onednn: bool = False) -> None:
        self._worker = Worker(
            "tensorflow", patience, TF_ENABLE_ONEDNN_OPTS=str(int(onednn)),
            TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1",
        )  # fmt: skip

    def send(self, item: Case) -> None:
        """Ask for a case."""
        self._worker.send(("answer", item))

    def answer(self) -> Answer:
        """Outputs, a refusal, or text that begins with ``skip``."""
        for frame in self._worker.frames():
            return f"skip: TensorFlow: {frame[1]}" if frame[0] == "died" else self._whole(frame[1])
        return "skip: no answer"

    def refuses_in_graph(self, item: Case) -> bool:
        """Whether TensorFlow refuses the case where shapes are inferred before it runs."""
        self._worker.send(("graph", item))
        found = list(self._worker.frames())
        return found == [("graph", True)]

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def _whole(self, answer: Answer) -> Answer:
        list(self._worker.frames())  # up to the end
        return answer


class Ours:
    """Verdicts of the executors of one process."""

    def __init__(self, role: str, patience: float) -> None:
        off = {} if role == "cpu" else {"DRYSTONE_PLUGINS_DISABLE": "*"}
        self._worker = Worker(role, patience, OPENBLAS_NUM_THREADS="1", **off)

    def send(self, item: Case, want: Answer) -> None:
        """Ask for the verdicts on a case."""
        self._worker.send((item, want))

    def verdicts(self) -> Iterator[tuple[str, Verdict]]:
        """By executor; that during which the process ended is the last."""
        running = ""
        for tag, value in self._worker.frames():
            if tag == "runs":
                running = value
            elif tag == "died":
                yield running, Verdict("differs", text=value, way=value.partition(":")[0])
            else:
                yield running, value

    def close(self) -> None:
        """End the process."""
        self._worker.close()


def _serve_tensorflow(kind: str, item: Case) -> Iterator[Any]:
    import oracle
    from parity.live import answer_to
    from tensorflow.python.eager import context

    if kind == "answer":
        context.context().clear_kernel_cache()  # a seeded kernel goes on where it was
        yield kind, answer_to(item)
    else:
        yield kind, oracle.refuses_in_graph(item)


def _serve_ours(role: str) -> Callable[[Case, Answer], Iterator[Any]]:
    from extremes.verdicts import BACKENDS, verdict

    def serve(item: Case, want: Answer) -> Iterator[Any]:
        for backend in BACKENDS[role]:
            yield "runs", backend
            yield "verdict", verdict(item, want, backend)

    return serve


def _main(role: str, out: BinaryIO) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if role == "tensorflow":
        import tensorflow  # noqa: F401 - so that the first case does not wait for it

        serve: Callable[..., Iterator[Any]] = _serve_tensorflow
    else:
        from drystone_base import plugins
        from drystone_base.executor.selection import registered

        plugins.ensure_loaded()
        if role == "cpu" and not registered():
            sys.exit(NEEDS)
        serve = _serve_ours(role)
    pickle.dump("ready", out)
    out.flush()
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        for frame in serve(*request):
            out.write(pickle.dumps(frame))
            out.flush()
        out.write(pickle.dumps(END))
        out.flush()


if __name__ == "__main__":
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not land among the answers
    _main(sys.argv[1], channel)
