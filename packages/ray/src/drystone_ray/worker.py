"""One process of a training: its group, its share of the data, its checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_network import Group, all_reduce, data_parallel
from drystone_ray.checkpoints import newest, write

__all__ = ["Worker"]


class Worker:
    """What the function that :func:`drystone_ray.train` runs is given, in each process.

    ``rank`` is the process's number from 0, ``size`` how many there are, ``group`` the
    :class:`drystone_network.Group` that they form.
    """

    def __init__(
        self, group: Group, folder: Path | None, report: Callable[[dict[str, Any]], None]
    ) -> None:
        self.group = group
        self.rank, self.size = group.rank, group.size
        self._folder = folder
        self._report = report

    def __repr__(self) -> str:
        return f"<Worker {self.rank} of {self.size}>"

    def data_parallel(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """``step``, of whose results every process gets the mean over all processes."""
        return data_parallel(step, self.group)

    def all_reduce(self, value: Any, op: str = "mean") -> Any:
        """The element-wise ``op`` of the arrays of all processes."""
        return all_reduce(value, op, self.group)

    def share(self, rows: int) -> slice:
        """This process's rows of so many: all of one size, but the first ones have one row more."""
        each, more = divmod(rows, self.size)
        start = self.rank * each + min(self.rank, more)
        return slice(start, start + each + (self.rank < more))

    def restore(self, store: ds.Model | ds.VariableStore) -> int:
        """Give the variables the newest checkpoint's values; its step, 0 where there is none."""
        if self._folder is None:
            return 0
        step, prefix = newest(self._folder)
        chosen = int(self.group.broadcast(np.asarray(step)))
        if prefix is not None and chosen == step:
            ds.restore_checkpoint(store, prefix)
        elif chosen != step:
            raise ds.CheckpointError(
                f"worker {self.rank} cannot go on from step {chosen}",
                check="every process must find the same checkpoint",
                found=f"step {step} in {self._folder}",
                needed=f"step {chosen}, which worker 0 found",
                remedy="give a folder that every node of the Ray cluster shares",
                code="checkpoint-not-shared",
            )
        return chosen

    def save(self, store: ds.Model | ds.VariableStore, step: int) -> None:
        """Write a checkpoint of a step, by the first process; the others wait until it is there.

        Without a folder it does nothing.
        """
        if self._folder is None:
            return
        if self.rank == 0:
            write(store, self._folder, step)
        self.group.barrier()

    def report(self, **values: Any) -> None:
        """Tell the driver of the training: numbers by name. Those of the first process arrive."""
        if self.rank == 0:
            self._report({name: _plain(value) for name, value in values.items()})


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    return array.item() if array.size == 1 else array
