"""Which tasks a cluster has, by job, and the address of each."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, Self

from drystone_base.core.errors import BadRequest
from drystone_base.core.printable import described
from drystone_network.cluster.hosts import canonical

__all__ = ["ClusterSpec", "Task"]

_JOB: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")
_ADDRESS: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9._-]+):(\d{1,5})")
_MOST_TASKS: Final = 4096
_EXAMPLE: Final = '{"worker": ["127.0.0.1:2222", "127.0.0.1:2223"]}'


@dataclass(frozen=True, order=True)
class Task:
    """One process of a cluster."""

    job: str
    index: int

    def __str__(self) -> str:
        return f"/job:{self.job}/replica:0/task:{self.index}"

    def device(self, kind: str = "CPU", number: int = 0) -> str:
        """The whole name of a device of it."""
        return f"{self}/device:{kind}:{number}"

    @classmethod
    def of_device(cls, device: str) -> Task:
        """The task that a whole device name is of."""
        job, _, task = device.split("/")[1:4]
        return cls(job.partition(":")[2], int(task.partition(":")[2]))


class ClusterSpec:
    """The tasks of a cluster: ``{"worker": ["host:port", ...], "ps": {0: "host:port"}}``.

    Equal specs have the same tasks at the same addresses. Raises ``BadRequest`` (``bad-cluster``).
    Source: TensorFlow's ``ClusterSpec``, whose JSON and ``TF_CONFIG`` are read as they are.
    """

    def __init__(self, jobs: Mapping[str, Sequence[str] | Mapping[int, str]]) -> None:
        self._addresses: dict[Task, str] = {}
        if not isinstance(jobs, Mapping) or not jobs:
            _refuse("a cluster has jobs by name", described(jobs))
        for job, tasks in jobs.items():
            self._add_job(job, tasks)
        if len(self._addresses) > _MOST_TASKS:
            _refuse(f"a cluster has at most {_MOST_TASKS} tasks", len(self._addresses))
        seen: dict[str, Task] = {}
        for task, address in self._addresses.items():
            place = canonical(address)
            if place in seen:
                _refuse("every task has an address of its own",
                        f"{address} is that of {seen[place]} and of {task}")  # fmt: skip
            seen[place] = task

    def _add_job(self, job: object, tasks: object) -> None:
        if not isinstance(job, str) or not _JOB.fullmatch(job):
            _refuse("a job's name is letters, digits and _", described(job))
        if isinstance(tasks, Mapping):
            pairs = [(_index(job, index), address) for index, address in tasks.items()]
        elif isinstance(tasks, Sequence) and not isinstance(tasks, str | bytes):
            pairs = list(enumerate(tasks))
        else:
            _refuse(f"tasks of job {job!r} are a list, or a mapping by number", described(tasks))
        if not pairs:
            _refuse("a job has tasks", f"none of job {job!r}")
        for index, address in sorted(pairs):
            found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
            if found is None or not 0 < int(found[2]) < 65536:
                _refuse(f"the address of task {index} of job {job!r} is HOST:PORT",
                        described(address))  # fmt: skip
            self._addresses[Task(job, index)] = address

    @classmethod
    def from_json(cls, text: str | bytes | os.PathLike[str]) -> Self:
        """A cluster from JSON text, or the path of a file with it."""
        if isinstance(text, os.PathLike):
            text = _read(Path(text))
        return cls(_parsed(text))

    @classmethod
    def from_tf_config(cls, text: str | None = None) -> tuple[Self, Task]:
        """The cluster and this process's task from ``TF_CONFIG``, or a text like it."""
        given = os.environ.get("TF_CONFIG", "") if text is None else text
        if not given.strip():
            _refuse("TF_CONFIG states the cluster and the task", "it is not set")
        found = _parsed(given)
        task = found.get("task") if isinstance(found, dict) else None
        if not isinstance(task, dict) or not isinstance(task.get("type"), str):
            _refuse('TF_CONFIG has "cluster" and "task": {"type": ..., "index": ...}', given)
        spec = cls(found.get("cluster", {}))
        own = Task(task["type"], _index(task["type"], task.get("index", 0)))
        spec.address(own)
        return spec, own

    @property
    def jobs(self) -> list[str]:
        """Names of the jobs, sorted."""
        return sorted({task.job for task in self._addresses})

    def tasks(self, job: str | None = None) -> list[Task]:
        """All tasks, or those of one job, sorted."""
        return sorted(task for task in self._addresses if job in (None, task.job))

    def address(self, task: Task) -> str:
        """Where a task listens; raises ``BadRequest`` (``unknown-task``)."""
        found = self._addresses.get(task)
        if found is None:
            raise BadRequest(
                f"{task} is not in the cluster",
                check="a task is one that the cluster names",
                found=str(task),
                needed=", ".join(map(str, self.tasks()[:8])),
                remedy="name one of these, or add the task to the cluster",
                code="unknown-task",
                status="NOT_FOUND",
            )
        return found

    def as_dict(self) -> dict[str, dict[int, str]]:
        """Addresses by job and number."""
        out: dict[str, dict[int, str]] = {}
        for task in self.tasks():
            out.setdefault(task.job, {})[task.index] = self._addresses[task]
        return out

    def to_json(self) -> str:
        """The cluster as JSON that :meth:`from_json` reads."""
        return json.dumps({job: {str(k): a for k, a in tasks.items()}
                           for job, tasks in self.as_dict().items()})  # fmt: skip

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks())

    def __len__(self) -> int:
        return len(self._addresses)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._addresses == other._addresses

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._addresses.items())))

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()})"


def _index(job: str, given: object) -> int:
    text = str(given)
    if isinstance(given, bool) or not (isinstance(given, int | str) and text.isdecimal()):
        _refuse(f"a task of job {job!r} has a number from 0 on", described(given))
    return int(text)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(
            f"the cluster's file {path} cannot be read",
            check="a cluster is described in a file of JSON",
            found=str(error),
            needed=_EXAMPLE,
            remedy="check the path",
            code="bad-cluster",
            status="NOT_FOUND",
            inner=error,
        ) from error


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        _refuse(f"a cluster is JSON: {error}", described(text))


def _refuse(check: str, found: object) -> NoReturn:
    raise BadRequest(
        "the cluster cannot be understood",
        check=check,
        found=found,
        needed=_EXAMPLE,
        remedy="correct the cluster's description",
        code="bad-cluster",
    )
