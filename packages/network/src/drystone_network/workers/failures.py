"""Errors of tasks, and their way from one process to another."""

from __future__ import annotations

from typing import Any, Final

from drystone_base.core import errors
from drystone_base.core.errors import BadRequest, DrystoneError, HostError
from drystone_network.cluster.spec import Task

__all__ = [
    "bad_frame", "cluster_differs", "from_fields", "insecure", "refused_token", "task_busy",
    "task_lost", "task_unreachable", "to_fields", "unproven", "version_differs",
]  # fmt: skip

_KINDS: Final = {name: getattr(errors, name) for name in errors.__all__ if name[0].isupper()}


def task_lost(
    task: Task, found: object, inner: BaseException | None = None, edges: str = ""
) -> HostError:
    """The error of a run one of whose tasks is gone; ``edges`` says what was waited for."""
    return HostError(
        f"{task} was lost during the run",
        check="every task of a run stays until the run has ended",
        found=f"{found}{edges and f'; {edges}'}",
        needed="a task that answers",
        remedy="start the task again, restore its variables from a checkpoint, and run again",
        code="task-lost",
        status="UNAVAILABLE",
        inner=inner,
    )


def task_unreachable(task: object, address: str, found: object) -> HostError:
    """The error of a task that nobody answers for."""
    return HostError(
        f"{task} cannot be reached at {address}",
        check="a task of the cluster answers at its address",
        found=found,
        needed="a worker that listens there, with the same token and TLS settings",
        remedy="start it: drystone worker --job JOB --task N --cluster CLUSTER.json",
        code="task-unreachable",
        status="UNAVAILABLE",
    )


def insecure(task: Task, found: str, needed: str, remedy: str) -> BadRequest:
    """The error of a process that would listen where anybody could use it."""
    return BadRequest(
        f"{task} does not listen where other machines reach it",
        check="a task that others reach is told so, and has a token",
        found=found,
        needed=f"{needed}, or an address of this machine alone",
        remedy=f"{remedy} DRYSTONE_CLUSTER_TOKEN",
        code="insecure-worker",
        status="PERMISSION_DENIED",
    )


def cluster_differs(task: Task, theirs: str, ours: str) -> BadRequest:
    """The error of a task that was started with another description of the cluster."""
    return BadRequest(
        f"{task} was started with another cluster",
        check="all tasks are started with the same description of the cluster",
        found=theirs,
        needed=ours,
        remedy="start the task again with the description that the others have",
        code="cluster-differs",
        status="FAILED_PRECONDITION",
    )


def task_busy(task: object, address: str, found: object) -> HostError:
    """The error of a request that a task has no thread for."""
    return HostError(
        f"{task} at {address} answers as many requests as it can",
        check="a task has a thread for each request, runs among them",
        found=found,
        needed="fewer runs at once",
        remedy="run fewer graphs at once, or on more tasks, and try again",
        code="task-busy",
        status="RESOURCE_EXHAUSTED",
    )


def unproven(task: Task, address: str) -> HostError:
    """The error of a connection for data that was not taken."""
    return HostError(
        f"{task} does not take values at {address}",
        check="tasks that exchange values share a token",
        found="the connection was closed, or not answered",
        needed="the same token on all tasks of the cluster",
        remedy="give all tasks the same DRYSTONE_CLUSTER_TOKEN",
        code="cluster-token",
        status="UNAUTHENTICATED",
    )


def refused_token(where: str) -> BadRequest:
    """The error of a client whose token is not the cluster's."""
    return BadRequest(
        f"{where} refuses the token",
        check="a client has the token of the cluster",
        found="another token, or none",
        needed="the token that the workers were started with",
        remedy="set DRYSTONE_CLUSTER_TOKEN",
        code="cluster-token",
        status="UNAUTHENTICATED",
    )


def version_differs(task: Task, theirs: object, ours: object) -> BadRequest:
    """The error of a task that speaks another version."""
    return BadRequest(
        f"{task} runs another version of drystone-network",
        check="all tasks of a cluster speak the same version of the protocol",
        found=f"version {theirs}",
        needed=f"version {ours}",
        remedy="install the same drystone-network on all machines",
        code="cluster-version",
        status="FAILED_PRECONDITION",
    )


def bad_frame(found: object) -> BadRequest:
    """The error of a request that is none."""
    return BadRequest(
        "a request to a worker cannot be understood",
        check="a request is one that drystone-network makes",
        found=found,
        needed="a client of the same version",
        remedy="install the same drystone-network on all machines",
        code="bad-frame",
    )


def to_fields(error: BaseException) -> dict[str, Any]:
    """An error as what goes to another process."""
    if not isinstance(error, DrystoneError):
        error = HostError(
            "a task failed in a way that was not foreseen",
            check="a task answers requests",
            found=f"{type(error).__name__}: {error}",
            remedy="report this to drystone",
            status="INTERNAL",
        )
    return {"kind": type(error).__name__, **error.fields()}


def from_fields(fields: dict[str, Any]) -> DrystoneError:
    """The error that another process has sent."""
    kind = _KINDS.get(str(fields.get("kind")), HostError)
    text = {k: str(fields.get(k, "")) for k in ("check", "found", "needed", "remedy", "code")}
    details = {str(k): str(v) for k, v in dict(fields.get("details") or {}).items()}
    error: DrystoneError = kind(
        str(fields.get("what", "")), **text, status=str(fields.get("status", "")), details=details
    )
    return error
