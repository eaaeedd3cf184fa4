"""What is measured: one graph with arrays to feed and answers to expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["GROUPS", "Case"]

GROUPS = {
    "calls": "Calls from Python",
    "loops": "Loops",
    "text": "Strings and hashes",
    "models": "Models",
    "networks": "Large networks",
    "networks-batch": "Large networks, 16 examples at a time",
    "networks-threads": "Large networks, 2 threads",
    "networks-batch-threads": "Large networks, 16 examples at a time, 2 threads",
    "networks-bfloat16": "Large networks in bfloat16",
    "networks-bfloat16-batch": "Large networks in bfloat16, 16 examples at a time",
    "networks-bfloat16-threads": "Large networks in bfloat16, 2 threads",
    "networks-bfloat16-batch-threads": "Large networks in bfloat16, 16 examples, 2 threads",
    "training": "Training steps",
    "training-keras": "Training steps of Keras models",
}
"""Groups of cases in the order of the tables, with their headings."""


@dataclass(frozen=True)
class Case:
    """One graph in every form that a runtime may take, and one set of arrays.

    ``forms`` maps ``graphdef``, ``savedmodel``, ``metagraph`` and ``onnx`` to files, ``torch`` to
    the name of a function of the torch worker, ``keras`` to one of ``bench.keras_models``.
    ``arrays`` is an ``.npz`` file; ``inputs`` and ``outputs`` map tensor names to keys in it. A
    case with ``train_op`` is a training step: its inputs have a leading dimension of steps, its
    one output is the loss of each, and ``init_op``
    brings the variables back. Answers may differ from the recorded ones by ``tolerance``.
    ``answers`` is the file of the outputs where that is another than ``arrays``. ``threads`` and
    ``precision`` are the case's own (0: those that were asked for), ``least`` the fewest batches of
    calls of a slot, ``rounds`` the most slots.
    """

    name: str
    group: str
    title: str
    forms: Mapping[str, str]
    arrays: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    tolerance: float = 1e-4
    quick: bool = True
    train_op: str = ""
    init_op: str = ""
    answers: str = ""
    threads: int = 0
    precision: str = "float32"
    least: int = 3
    rounds: int = 100

    def data(self) -> dict[str, Any]:
        """The case as plain data, for a worker."""
        return asdict(self)

    @property
    def file(self) -> Path | None:
        """The file in one of TensorFlow's formats."""
        for form in ("graphdef", "savedmodel", "metagraph"):
            if form in self.forms:
                return Path(self.forms[form])
        return None
