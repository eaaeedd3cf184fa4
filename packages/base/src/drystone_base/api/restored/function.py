"""One function of a model's object graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from drystone_base.api.restored.arguments import Arguments, Leniency, Parameters, fill
from drystone_base.api.restored.structures import Composite, Structure, Tensor, leaves, pack, show
from drystone_base.core.errors import BadRequest
from drystone_base.core.printable import described, plain

if TYPE_CHECKING:
    from drystone_base.api.restored.running import Running

__all__ = ["RestoredFunction", "Trace"]

_SHOWN = 8


class Trace(NamedTuple):
    """A function as it was traced for certain arguments: the name of its graph, and structures.

    ``inputs``: a tuple of what goes by position and a dict of what goes by name.
    """

    function: str
    inputs: tuple[tuple[Structure, ...], dict[str, Structure]]
    outputs: Structure

    def fit(self, given: Arguments, leniency: Leniency) -> list[Any] | None:
        """The tensors that a call feeds; None for arguments of another trace."""
        into: list[Any] = []
        args, kwargs = self.inputs
        fits = fill(tuple(args), given.args, leniency, into)
        return into if fits and fill(kwargs, given.kwargs, leniency, into) else None

    def shapes(self) -> list[Any]:
        """The shape of each tensor that is fed."""
        return [
            shape
            for leaf in leaves(self.inputs)
            for shape in (
                [leaf.shape] if isinstance(leaf, Tensor)
                else [None] * leaf.parts if isinstance(leaf, Composite) else []
            )
        ]  # fmt: skip

    def results(self) -> int:
        """How many tensors its results are of."""
        found = list(leaves(self.outputs))
        parts = sum(leaf.parts for leaf in found if isinstance(leaf, Composite))
        return parts + sum(isinstance(leaf, Tensor) for leaf in found)

    def text(self) -> str:
        """What it takes, for people: ``(float32 [?, 3], True, mode='sum')``."""
        args, kwargs = self.inputs
        shown = [show(a) for a in args] + [f"{plain(k)}={show(v)}" for k, v in kwargs.items()]
        return f"({', '.join(shown)})"


class RestoredFunction:
    """A ``tf.function`` of a model, or one of its traces, as a function of arrays.

    Arguments go by position and by name, as in the program that exported it; arrays, nested lists,
    tuples and dicts of arrays, and Python values for which it was traced. Ragged and sparse tensors
    are tuples of the tensors that they consist of. The result has the structure of the original's.
    Variables are those of the model. Raises ``BadRequest`` (``wrong-arguments``) where no trace
    fits.
    """

    def __init__(
        self, name: str, parameters: Parameters, traces: Sequence[Trace], running: Running
    ) -> None:
        self.name = name
        self.traces = tuple(traces)
        self._parameters = parameters
        self._running = running

    def __repr__(self) -> str:
        texts = list(dict.fromkeys(trace.text() for trace in self.traces))
        shown, more = " or ".join(texts[:_SHOWN]), len(texts) - _SHOWN
        return f"<function {self.name!r} {shown}{f' and {more} more' if more > 0 else ''}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives for these arguments."""
        bound = self._parameters.bind(args, kwargs)
        if isinstance(bound, str):
            self._refuse(bound)
        fits = ((t, t.fit(bound, leniency)) for leniency in Leniency for t in self.traces)
        trace, values = next((fit for fit in fits if fit[1] is not None), (None, None))
        if trace is None or values is None:
            self._refuse(_given(bound))
        return pack(trace.outputs, iter(self._running.run(trace, values)))

    def _refuse(self, found: str) -> NoReturn:
        texts = list(dict.fromkeys(trace.text() for trace in self.traces))
        traced = "; ".join(texts[:_SHOWN]) + ("; ..." if len(texts) > _SHOWN else "")
        raise BadRequest(
            f"function {self.name!r} cannot be called like this",
            check="a call must fit one of the traces that were saved with the model",
            found=found,
            needed=traced or "no call: the function was never traced",
            remedy="convert the arguments, or export the function traced for such ones",
            code="wrong-arguments",
        )


def _given(bound: Arguments) -> str:
    shown = [_shown(a) for a in bound.args] + [f"{k}={_shown(v)}" for k, v in bound.kwargs.items()]
    return f"({', '.join(shown)})"


def _shown(value: Any) -> str:
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{value.dtype} {list(value.shape)}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_shown(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        items = ", ".join(_shown(v) for v in value[:_SHOWN])
        more = ", ..." if len(value) > _SHOWN else ""
        return f"[{items}{more}]" if isinstance(value, list) else f"({items}{more})"
    return described(value, 40)
