"""TensorFlow's answers to random cases, from a process of its own.

Some cases end TensorFlow's process (a failed check, memory): then only that case is lost, and a new
process goes on with the next. Run as a module it is that process: tasks come on standard input,
answers leave on standard output, pickled.
"""

from __future__ import annotations

import os
import pickle
import resource
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, TypeAlias

from oracle import Case

from parity.draft import draw_case
from parity.judge import Verdict, judge

__all__ = ["Task", "answer_to", "answers"]

Task: TypeAlias = tuple[str, int]
Answer: TypeAlias = list[Any] | str

NO_KERNEL = (
    "not in the list of allowed values",
    "has constraint on attr",
    "was expected to be a",
    "type constraint",
    "must be at least minimum",
)
PATIENCE = 60.0
MEMORY = 12 << 30


def answers(tasks: Sequence[Task]) -> Iterator[tuple[Task, Answer, Verdict]]:
    """TensorFlow's answer and the verdict on ours, for each case named by op and seed."""
    position = 0
    while position < len(tasks):
        stage = "start"
        for frame in _frames(tasks[position:]):
            if isinstance(frame, str):
                stage = frame
                continue
            yield tasks[position], *frame
            position, stage = position + 1, "start"
        if position < len(tasks):
            lost = stage in ("start", "theirs") or _survives_alone(tasks[position])
            text = "skip: TensorFlow aborts" if lost else "our kernel ended the process"
            yield tasks[position], text, Verdict("skipped" if lost else "differs", text=text)
            position += 1


def _survives_alone(task: Task) -> bool:
    """Whether our kernel runs a case in a process without TensorFlow, which may have hurt it."""
    code = (
        "import sys, oracle; from parity.draft import draw_case; "
        "oracle.ours(draw_case(sys.argv[1], int(sys.argv[2])))"
    )
    command = [sys.executable, "-c", code, task[0], str(task[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        ended = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0


def _frames(tasks: Sequence[Task]) -> Iterator[Any]:
    """What one process sends until it ends, by itself or after too long a silence."""
    command = [sys.executable, "-m", "parity.live"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        bufsize=0,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(pickle.dumps(list(tasks)))
        process.stdin.close()
        try:
            while select.select([process.stdout], [], [], PATIENCE)[0]:
                yield pickle.load(process.stdout)
        except (EOFError, pickle.UnpicklingError):
            pass
        finally:
            process.kill()


def _serve(out: BinaryIO) -> None:
    """Answer every task on standard input."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for name, seed in pickle.load(sys.stdin.buffer):
        try:
            item = draw_case(name, seed)
        except Exception as error:
            text = f"rule failed: {type(error).__name__}: {error}"
            _send(out, ("skip: " + text, Verdict("broken", text=text)))
            continue
        _send(out, "theirs")
        want = answer_to(item)
        _send(out, "ours")
        verdict = judge(item, want)
        if verdict.kind == "differs" and not isinstance(want, str) and _only_in_graph(item):
            want = "InvalidArgumentError"
            verdict = judge(item, want)
        _send(out, (want, verdict))


def _only_in_graph(item: Case) -> bool:
    """Whether we refuse what TensorFlow refuses once shapes are inferred."""
    import oracle

    try:
        return isinstance(oracle.ours(item), str) and oracle.refuses_in_graph(item)
    except Exception:  # our kernel raised what it should not; that is reported already
        return False


def _send(out: BinaryIO, frame: Any) -> None:
    out.write(pickle.dumps(frame))
    out.flush()


def answer_to(item: Case) -> Answer:
    """As :func:`oracle.theirs`; cases that never reach a kernel of TensorFlow are skipped."""
    import oracle

    try:
        answer = oracle.theirs(item)
    except Exception as error:
        return f"skip: Python refuses: {type(error).__name__}: {error}"[:160]
    said = getattr(answer, "message", "")
    if answer == "NotFoundError" or any(sign in said for sign in NO_KERNEL):
        return "skip: no TensorFlow kernel"
    return answer


if __name__ == "__main__":
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not land among the answers
    _serve(channel)
