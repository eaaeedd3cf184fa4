"""An actor that holds a session: the model's variables stay in it from call to call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.actor import ActorHandle

import drystone_base as ds
from drystone_ray.checkpoints import newest, write
from drystone_ray.prediction import ModelSource, load_model

__all__ = ["SessionActor", "session_actor"]

Array = np.ndarray[Any, Any]


class SessionActor:
    """A model in an actor; :func:`session_actor` makes one.

    With a folder of ``checkpoints``, which every node of the Ray cluster can read and write, the
    actor begins with the newest one: so does the process that replaces it when it is lost.
    """

    def __init__(
        self,
        model: ModelSource,
        checkpoints: str | os.PathLike[str] | None = None,
        threads: int | None = None,
    ) -> None:
        self._model = load_model(model, threads)
        self._folder = None if checkpoints is None else Path(checkpoints)
        self._step = 0
        if self._folder is not None:
            self._step, prefix = newest(self._folder)
            if prefix is not None:
                ds.restore_checkpoint(self._model, prefix)

    def call(self, inputs: Mapping[str, Any], signature: str | None = None) -> dict[str, Array]:
        """The outputs of a signature; raises as the signature does."""
        if signature is None:
            return self._model.default_signature()(inputs)
        return self._model.signatures[signature](inputs)

    def run(self, fetches: Any, feeds: Mapping[str, Any] | None = None) -> Any:
        """Tensors by name, as :meth:`drystone.Session.run` gives them."""
        return self._model.session.run(fetches, feeds)

    def save(self, step: int) -> str:
        """Write a checkpoint of a step; gives its prefix.

        Raises ``BadRequest`` (``no-checkpoint-folder``).
        """
        if self._folder is None:
            raise ds.BadRequest(
                "the actor cannot write a checkpoint",
                check="an actor that saves must have a folder for checkpoints",
                found="no folder",
                needed="a folder that every node of the Ray cluster can read and write",
                remedy="session_actor(model, checkpoints=FOLDER)",
                code="no-checkpoint-folder",
            )
        prefix = write(self._model, self._folder, step)
        self._step = step
        return str(prefix)

    def step(self) -> int:
        """The step of the checkpoint that was written or restored last; 0 without one."""
        return self._step


def session_actor(
    model: ModelSource,
    *,
    checkpoints: str | os.PathLike[str] | None = None,
    threads: int = 1,
    restarts: int = -1,
    **options: Any,
) -> ActorHandle[SessionActor]:
    """A new actor whose methods are those of :class:`SessionActor`.

    A lost one is replaced up to ``restarts`` times (-1: always). ``options`` are those of Ray's
    ``ActorClass.options``, such as ``name=``. ::

        actor = drystone_ray.session_actor("saved_model/")
        ray.get(actor.call.remote({"x": x}))
    """
    made = ray.remote(SessionActor).options(num_cpus=threads, max_restarts=restarts, **options)
    source = model if isinstance(model, ds.Model) else os.fspath(model)
    folder = None if checkpoints is None else os.fspath(checkpoints)
    handle: ActorHandle[SessionActor] = made.remote(source, folder, threads)
    return handle
