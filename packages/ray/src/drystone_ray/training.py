"""Data-parallel training by a group of Ray actors: started, watched and started again."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import ray
from ray.exceptions import RayActorError, RayTaskError

import drystone_base as ds
from drystone_network import ClusterSpec, join
from drystone_ray.checkpoints import newest
from drystone_ray.worker import Worker

__all__ = ["Trained", "train"]

_OF_OTHERS: Final = frozenset({"task-lost", "task-unreachable", "no-group"})
"""Codes of errors that a process has because another one is gone."""
_PATIENCE: Final = 10.0
"""Seconds in which the lost actor must be found once another has missed it."""
_POLL: Final = 0.5


class Trained(NamedTuple):
    """What a training gave: the loop's result in each process, by rank.

    ``restarts`` says how often actors were lost and the training went on from a checkpoint,
    ``checkpoint`` is the prefix of the newest one.
    """

    results: list[Any]
    restarts: int
    checkpoint: Path | None


class _Process:
    """The actor: one process of a group."""

    def __init__(self) -> None:
        self._told: list[dict[str, Any]] = []

    def place(self) -> str:
        """An address of this machine at which nobody listens."""
        host = ray.util.get_node_ip_address()
        with socket.socket() as probe:
            probe.bind((host, 0))
            return f"{host}:{probe.getsockname()[1]}"

    def run(
        self,
        loop: Callable[[Worker], Any],
        places: Sequence[str],
        rank: int,
        token: str,
        folder: str | None,
        seconds: float,
    ) -> Any:
        """Join the group, and run the loop."""
        cluster = ClusterSpec({"worker": list(places)})
        with join(cluster, "worker", rank, token=token, seconds=seconds) as group:
            shared = None if folder is None else Path(folder)
            return loop(Worker(group, shared, self._told.append))

    def told(self) -> list[dict[str, Any]]:
        """What the loop has reported since this was asked last."""
        found, self._told[:] = list(self._told), []
        return found


def train(
    loop: Callable[[Worker], Any],
    *,
    workers: int = 2,
    folder: str | os.PathLike[str] | None = None,
    restarts: int = 3,
    seconds: float = 60.0,
    progress: Callable[[dict[str, Any]], None] | None = None,
    **options: Any,
) -> Trained:
    """Run ``loop(worker)`` in so many actors, whose collectives are those of drystone-network.

    When an actor is lost, all are started again, up to ``restarts`` times, and a loop that begins
    with :meth:`Worker.restore` goes on from the newest checkpoint in ``folder``, which every node
    of the Ray cluster shares. ``seconds`` is how long processes wait for each other. ``progress``
    is called with what :meth:`Worker.report` says in the first process. ``options`` are those of
    Ray's ``ActorClass.options`` (``num_cpus`` is 1 by default).

    Raises what the loop raises; ``HostError`` (``actors-lost``) where actors were lost more often.
    ::

        def loop(worker):
            with ds.VariableStore() as store:
                step = worker.data_parallel(make_step())
            for number in range(worker.restore(store), 1000):
                loss = step(*batch(number, worker.share(64)))
                if number % 100 == 99:
                    worker.save(store, number + 1)
            return loss


        drystone_ray.train(loop, workers=4, folder="/shared/run")
    """
    _check(workers, restarts)
    shared = None if folder is None else os.path.abspath(folder)
    for lost in range(restarts + 1):
        processes = [
            ray.remote(_Process)
            .options(**{"num_cpus": 1, "max_restarts": 0, "max_concurrency": 2} | options)
            .remote()
            for _ in range(workers)
        ]
        try:
            results = _run(processes, loop, shared, seconds, progress)
        except RayActorError as error:
            if lost == restarts:
                raise _lost(restarts, error) from error
            continue
        finally:
            for process in processes:
                ray.kill(process)
        return Trained(results, lost, None if shared is None else newest(shared)[1])
    raise AssertionError


def _run(
    processes: Sequence[Any],
    loop: Callable[[Worker], Any],
    folder: str | None,
    seconds: float,
    progress: Callable[[dict[str, Any]], None] | None,
) -> list[Any]:
    """The results of one group; raises ``RayActorError`` where one of its actors is lost."""
    places = ray.get([process.place.remote() for process in processes])
    token = secrets.token_hex(16)
    running = [
        process.run.remote(loop, places, rank, token, folder, seconds)
        for rank, process in enumerate(processes)
    ]
    waiting = list(running)
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1, timeout=_POLL)
        if progress is not None:
            for said in ray.get(processes[0].told.remote()):
                progress(said)
        for one in done:
            _settle(one, waiting)
    return list(ray.get(running))


def _settle(done: Any, waiting: Sequence[Any]) -> None:
    """Raise what a process ended with: where it only misses another, what that one ended with."""
    try:
        ray.get(done)
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, ds.DrystoneError) and cause.code in _OF_OTHERS:
            _find_lost(waiting)
        raise cause if isinstance(cause, Exception) else error from None


def _find_lost(waiting: Sequence[Any]) -> None:
    until = time.monotonic() + _PATIENCE
    while waiting and time.monotonic() < until:
        done, waiting = ray.wait(list(waiting), num_returns=1, timeout=_POLL)
        for one in done:
            try:
                ray.get(one)
            except RayActorError:
                raise
            except RayTaskError as error:
                cause = error.cause
                if not (isinstance(cause, ds.DrystoneError) and cause.code in _OF_OTHERS):
                    raise cause from None


def _check(workers: int, restarts: int) -> None:
    for name, value, least in (("workers", workers, 1), ("restarts", restarts, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ds.BadRequest(
                f"{name}={value!r} means nothing",
                check=f"{name}= must be a number of {'actors' if name == 'workers' else 'times'}",
                found=repr(value),
                needed=f"an integer from {least}",
                remedy=f"leave it out, or give {name}={max(least, 2)}",
                code="bad-argument",
            )


def _lost(restarts: int, error: RayActorError) -> ds.HostError:
    return ds.HostError(
        "the training ended, because actors were lost again and again",
        check="actors must not be lost more often than restarts= allows",
        found=f"{restarts + 1} times; the last time: {str(error).splitlines()[0]}",
        needed=f"at most {restarts}",
        remedy="look at Ray's logs for why they end; what is in the newest checkpoint is kept",
        code="actors-lost",
        status="ABORTED",
    )
