"""Batch inference: a model over the batches of a Ray dataset."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import drystone_base as ds
from drystone_ray.columns import columns_of

if TYPE_CHECKING:
    from ray.data import Dataset

__all__ = ["ModelSource", "RayPredictor", "load_model", "predict"]

Array = np.ndarray[Any, Any]
ModelSource: TypeAlias = "str | os.PathLike[str] | ds.Model"


class RayPredictor:
    """A model as the class of ``Dataset.map_batches``: one instance, and one session, per actor.

    ``model`` is a path that every node of the Ray cluster can read, or a model that was loaded from
    one. ``inputs`` maps inputs of the signature to columns, ``outputs`` outputs to new columns; by
    default both have the same names, and the only input takes the only column. Columns of ``keep``
    come out beside the outputs. Batches of any size will do: where the signature states a batch
    size, a batch is cut into pieces of it, and the last one is filled up. Ray's blocks are fed as
    they are, without a copy.

    Raises ``BadRequest``: ``wrong-columns`` for names that the signature or a batch lacks,
    ``batch-mismatch`` for an output that has not one row per row of its batch. ::

        dataset.map_batches(RayPredictor, fn_constructor_kwargs={"model": path}, concurrency=2)
    """

    def __init__(
        self,
        model: ModelSource,
        *,
        signature: str | None = None,
        inputs: Mapping[str, str] | None = None,
        outputs: Mapping[str, str] | None = None,
        keep: Sequence[str] = (),
        threads: int | None = None,
    ) -> None:
        self.model = load_model(model, threads)
        self.function = (
            self.model.default_signature()
            if signature is None
            else self.model.signatures[signature]
        )
        self._columns = columns_of(self.function, inputs, outputs, keep)

    def __repr__(self) -> str:
        return f"<RayPredictor of {self.function!r}>"

    def __call__(self, batch: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs of a batch, with the columns that are kept."""
        feeds = self._columns.feeds(batch)
        rows = next((len(value) for value in feeds.values()), 0)
        found = self._run(feeds, rows)
        return self._columns.result(batch, found, rows)

    def _run(self, feeds: Mapping[str, Array], rows: int) -> dict[str, Array]:
        size = self._columns.batch_size
        if size is None or rows == size:
            return self.function(feeds)
        pieces = [
            self.function({name: _filled(a[k : k + size], size) for name, a in feeds.items()})
            for k in range(0, max(rows, 1), size)
        ]
        return {
            name: np.concatenate([piece[name] for piece in pieces])[:rows] for name in pieces[0]
        }


def _filled(piece: Array, size: int) -> Array:
    """The rows, and zeros or empty strings up to the size."""
    if len(piece) == size:
        return piece
    out = np.zeros((size, *piece.shape[1:]), piece.dtype)
    if piece.dtype == object:
        out[...] = b""
    out[: len(piece)] = piece
    return out


def load_model(model: ModelSource, threads: int | None = None) -> ds.Model:
    """The model in this process: as it is, or loaded with so many threads for its kernels."""
    return model if isinstance(model, ds.Model) else ds.load(model, threads=threads)


def predict(
    dataset: Dataset,
    model: ModelSource,
    *,
    signature: str | None = None,
    inputs: Mapping[str, str] | None = None,
    outputs: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
    batch_size: int = 32,
    actors: int | tuple[int, int] = 1,
    threads: int = 1,
) -> Dataset:
    """A lazy dataset of what the model says of each row, computed by ``actors``.

    The first arguments are those of :class:`RayPredictor`. ``actors`` is a number, or the least and
    the most between which Ray scales; each takes ``threads`` processors. An actor that is lost is
    replaced and what it had begun is computed again, so each row comes out once. The names are
    checked here, before anything runs. Raises as :class:`RayPredictor` and :func:`drystone.load`.
    """
    arguments: dict[str, Any] = {
        "signature": signature,
        "inputs": inputs,
        "outputs": outputs,
        "keep": tuple(keep),
    }
    RayPredictor(model, **arguments)  # raises here what would be raised in each actor
    return dataset.map_batches(
        RayPredictor,
        fn_constructor_args=(model if isinstance(model, ds.Model) else os.fspath(model),),
        fn_constructor_kwargs={**arguments, "threads": threads},
        batch_size=batch_size,
        batch_format="numpy",
        zero_copy_batch=True,
        concurrency=actors,
        num_cpus=threads,
    )
