"""Columns of batches and the inputs and outputs of a signature: which is which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

import drystone_base as ds

if TYPE_CHECKING:
    from drystone_base.api.model import SignatureFunction

__all__ = ["Columns", "columns_of"]

Array = np.ndarray[Any, Any]


class Columns(NamedTuple):
    """The column of each input and each output, those that are kept, and the stated batch size."""

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    keep: tuple[str, ...]
    batch_size: int | None
    only: bool
    """Whether the one input may take the one column of a batch, whatever its name."""

    def feeds(self, batch: Mapping[str, Array]) -> dict[str, Array]:
        """The arrays of the inputs."""
        given = [name for name in batch if name not in self.keep]
        names = self.inputs
        if self.only and len(given) == 1:
            names = dict.fromkeys(names, given[0])
        missing = [column for column in (*names.values(), *self.keep) if column not in batch]
        if missing:
            _refuse(
                "a batch cannot be given to the model",
                check="a batch must have a column for each input, and those to keep",
                found=f"no column {', '.join(missing)}; columns: {', '.join(batch)}",
                needed=", ".join((*names.values(), *self.keep)),
                remedy="say which column an input takes: inputs={INPUT: COLUMN}",
            )
        return {name: np.asarray(batch[column]) for name, column in names.items()}

    def result(
        self, batch: Mapping[str, Array], found: Mapping[str, Array], rows: int
    ) -> dict[str, Array]:
        """The new columns, and those that are kept."""
        out: dict[str, Array] = {column: batch[column] for column in self.keep}
        for name, column in self.outputs.items():
            value = np.asarray(found[name])
            if not value.ndim or len(value) != rows:
                raise ds.BadRequest(
                    f"output {name!r} cannot become a column",
                    check="an output must have one row for each row of its batch",
                    found=f"shape {list(value.shape)} for {rows} rows",
                    needed=f"a first dimension of {rows}",
                    remedy="leave it out: outputs={OUTPUT: COLUMN} of the others",
                    code="batch-mismatch",
                )
            out[column] = value
        return out


def columns_of(
    function: SignatureFunction,
    inputs: Mapping[str, str] | None,
    outputs: Mapping[str, str] | None,
    keep: Sequence[str],
) -> Columns:
    """The columns of a signature, by what the caller states and the names that it has.

    Raises ``BadRequest`` (``wrong-columns``).
    """
    due = [name for name, spec in function.inputs.items() if not spec.optional]
    taken = {name: name for name in due} | dict(inputs or {})
    given = dict(outputs) if outputs is not None else {name: name for name in function.outputs}
    for kind, stated, known in (
        ("inputs", taken, function.inputs),
        ("outputs", given, function.outputs),
    ):
        unknown = [name for name in stated if name not in known]
        if unknown:
            _refuse(
                f"{kind} of signature {function.name!r} cannot be columns",
                check=f"{kind}= must name {kind} of the signature",
                found=", ".join(map(repr, unknown)),
                needed=", ".join(known),
                remedy="`drystone inspect MODEL` shows the signature",
            )
    twice = [name for name in given.values() if name in keep]
    if twice:
        _refuse(
            f"outputs of signature {function.name!r} cannot be columns",
            check="an output must not have the name of a column that is kept",
            found=", ".join(twice),
            needed="another name",
            remedy="rename it: outputs={OUTPUT: COLUMN}",
        )
    only = inputs is None and len(taken) == 1
    return Columns(taken, given, tuple(keep), _batch_size(function, taken), only)


def _batch_size(function: SignatureFunction, taken: Mapping[str, str]) -> int | None:
    """The rows that every input states; None where one of them leaves it open."""
    sizes = {shape[0] if (shape := function.inputs[name].shape) else None for name in taken}
    size = sizes.pop() if len(sizes) == 1 else None
    return size if size is not None and size > 0 else None


def _refuse(what: str, **parts: Any) -> NoReturn:
    raise ds.BadRequest(what, code="wrong-columns", **parts)
