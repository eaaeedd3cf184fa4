"""Models: a loaded graph with its signatures and its state, ready to be called."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone_base.collector import no_cycle_collection
from drystone_base.errors import BadRequest, near_matches
from drystone_base.loaders import LoadedModel, Signature, load_model
from drystone_base.policy import Access, checkpoint_files
from drystone_base.session import Session, SessionConfig
from drystone_base.state import Variable

if TYPE_CHECKING:
    from drystone_base.cancellation import Cancellation
    from drystone_base.graph import Graph

__all__ = ["Model", "SignatureFunction", "load"]

_DEFAULT_SIGNATURES = ("serving_default", "default")


class SignatureFunction:
    """One signature of a model as a function of NumPy arrays.

    Positional arguments follow the order of ``signature.inputs``; the result maps output names to
    arrays. Raises ``BadRequest`` (``wrong-arguments``) for arguments that are missing or unknown.
    """

    def __init__(self, session: Session, name: str, signature: Signature) -> None:
        self.name = name
        self.signature = signature
        self._session = session

    def __repr__(self) -> str:
        inputs = ", ".join(f"{n}: {s.dtype}" for n, s in self.signature.inputs.items())
        return f"<signature {self.name!r} ({inputs}) -> {', '.join(self.signature.outputs)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, np.ndarray[Any, Any]]:
        """Outputs by name for inputs given in order, by name, or as one mapping."""
        whole = args[0] if len(args) == 1 and not kwargs else None
        given = self._bind((), whole) if isinstance(whole, Mapping) else self._bind(args, kwargs)
        outputs = {name: spec.tensor for name, spec in self.signature.outputs.items()}
        result: dict[str, np.ndarray[Any, Any]] = self._session.run(outputs, given)
        return result

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        inputs = self.signature.inputs
        named = dict(zip(inputs, args, strict=False))
        unknown = [n for n in kwargs if n not in inputs]
        twice = [n for n in kwargs if n in named]
        missing = [n for n in inputs if n not in named and n not in kwargs]
        problem = (
            (len(args) > len(inputs) and f"{len(args)} positional arguments")
            or (unknown and f"unknown: {', '.join(unknown)}")
            or (twice and f"given twice: {', '.join(twice)}")
            or (missing and f"missing: {', '.join(missing)}")
        )
        if problem:
            near = [m for n in unknown for m in near_matches(n, inputs)]
            raise BadRequest(
                f"signature {self.name!r} cannot be called like this",
                check="a call must give every input of the signature once",
                found=problem,
                needed=", ".join(inputs) or "no inputs",
                remedy=f"did you mean {', '.join(near)}?" if near else "see `drystone inspect`",
                code="wrong-arguments",
            )
        return {inputs[n].tensor: v for n, v in (named | dict(kwargs)).items()}


class Model:
    """A loaded model: call it, call one of its signatures, or run any tensors by name.

    Variables and tables are initialised when the model is made and keep their state from call to
    call.
    """

    def __init__(self, loaded: LoadedModel, config: SessionConfig | None = None) -> None:
        self.loaded = loaded
        self.session = Session(loaded.source, config)
        self._open_own_files()
        self.signatures = {
            name: SignatureFunction(self.session, name, signature)
            for name, signature in loaded.signatures.items()
        }
        self._initialise()

    def __repr__(self) -> str:
        return f"<Model {self.loaded.kind} {self.loaded.place!s}: {', '.join(self.signatures)}>"

    @property
    def graph(self) -> Graph:
        """The model's graph."""
        return self.loaded.graph

    def _open_own_files(self) -> None:
        """Let ops read the folder of the model."""
        self.session.access = self.session.access.with_read(self.loaded.folder)

    def _initialise(self) -> None:
        for name, value in self.loaded.variables.items():
            self._assign(name, value)
        for targets, feeds in self.loaded.init_steps:
            self.session.run(list(targets), feeds)
        if self.loaded.variables:  # the session has their values now
            self.loaded = replace(self.loaded, variables={})

    def _assign(self, name: str, value: np.ndarray[Any, Any]) -> None:
        """Give the resource variable of that name its restored value."""
        from drystone_base.dtypes import from_numpy

        dtype = from_numpy(value.dtype)
        variable = self.session.resources.get_or_create(
            "", "variable", name, lambda: Variable(name, dtype, value.shape)
        )
        variable.write(value)

    def default_signature(self) -> SignatureFunction:
        """``serving_default``, else ``default``, else the only one.

        Raises ``BadRequest`` (``no-default-signature``).
        """
        for name in _DEFAULT_SIGNATURES:
            if name in self.signatures:
                return self.signatures[name]
        if len(self.signatures) == 1:
            return next(iter(self.signatures.values()))
        raise BadRequest(
            "the model has no default signature",
            check="a model can be called directly when it has one default signature",
            found=", ".join(self.signatures) or "no signatures",
            needed="serving_default, or exactly one signature",
            remedy="call model.signatures[NAME](...) or model.run(fetches, feeds)",
            code="no-default-signature",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, np.ndarray[Any, Any]]:
        """Outputs of the default signature by name."""
        return self.default_signature()(*args, **kwargs)

    def run(
        self,
        fetches: Any,
        feeds: Mapping[str, Any] | None = None,
        *,
        cancellation: Cancellation | None = None,
    ) -> Any:
        """Values of any tensors by name (``node:0``), as :meth:`Session.run`."""
        return self.session.run(fetches, feeds, cancellation=cancellation)


def load(
    path: str | os.PathLike[str],
    *,
    tags: Iterable[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    config: SessionConfig | None = None,
    needed: Iterable[str] | None = None,
) -> Model:
    """Load a SavedModel directory, a GraphDef (``.pb``, ``.pbtxt``) or a MetaGraph with checkpoint.

    ``tags`` choose a MetaGraph of a SavedModel; ``checkpoint`` is the prefix to restore a MetaGraph
    from. Of a SavedModel's variables, those that none of the tensors and signatures ``needed``
    reaches stay unread and without a value (all are read by default). Ops of the model may read
    files of its own folder and of ``checkpoint``, and what ``config.access`` opens. Raises
    ``BadModelFile`` and ``GraphError`` for files that cannot be read, ``KernelError``
    (``access-denied``) where initialisation asks for others.
    """
    if checkpoint is not None:
        config = config or SessionConfig()
        access = (config.access or Access()).with_read(*checkpoint_files(checkpoint))
        config = replace(config, access=access)
    with no_cycle_collection():
        reached = None if config is None else config.access
        loaded = load_model(path, tags=tags, checkpoint=checkpoint, needed=needed, access=reached)
        return Model(loaded, config)
