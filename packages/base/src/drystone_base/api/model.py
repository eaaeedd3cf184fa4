"""Models: a loaded graph with its signatures and its state, ready to be called."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

import numpy as np

from drystone_base.api.session import Session, SessionConfig
from drystone_base.api.session_graph import closed_source
from drystone_base.api.tuning import tuned
from drystone_base.core.arguments import blame, checked
from drystone_base.core.errors import BadRequest, DrystoneError, near_matches
from drystone_base.core.gc_pause import paused_gc
from drystone_base.core.named import Named
from drystone_base.core.printable import described, plain
from drystone_base.files.access import Access, checkpoint_files
from drystone_base.files.uris import local_text
from drystone_base.loaders import LoadedModel, Signature, TensorSpec, load_model
from drystone_base.state.variables import Variable

if TYPE_CHECKING:
    from drystone_base.api.restored import ObjectGraph, RestoredFunction
    from drystone_base.graph import Graph
    from drystone_base.state.cancellation import Cancellation

__all__ = ["Model", "SignatureFunction", "load"]

_DEFAULT_SIGNATURES = ("serving_default", "default")


class _Origin(NamedTuple):
    """What a model was loaded from, and with: enough to load it again in another process."""

    path: str
    tags: tuple[str, ...] | None
    checkpoint: str | None
    config: SessionConfig | None
    needed: tuple[str, ...] | None

    def load(self) -> Model:
        """The model, with the state that its files have."""
        return load(
            self.path,
            tags=self.tags,
            checkpoint=self.checkpoint,
            config=self.config,
            needed=self.needed,
        )

    def load_signature(self, name: str) -> SignatureFunction:
        """A signature of the model."""
        return self.load().signatures[name]


class SignatureFunction:
    """One signature of a model as a function of NumPy arrays.

    Several positional arguments follow the order that the model states for the function that was
    exported (``signature.positional``); without one, inputs are given by name. Optional ones may be
    left out. The result maps output names to arrays. Raises ``BadRequest`` (``wrong-arguments``)
    for arguments that are missing, unknown, or without an order.
    """

    def __init__(
        self, session: Session, name: str, signature: Signature, origin: _Origin | None = None
    ) -> None:
        self.name = name
        self.signature = signature
        self._session = session
        self._origin = origin

    def __repr__(self) -> str:
        inputs = ", ".join(f"{plain(n)}: {s.dtype}" for n, s in self.signature.inputs.items())
        outputs = ", ".join(map(plain, self.signature.outputs))
        return f"<signature {self.name!r} ({inputs}) -> {outputs}>"

    @property
    def inputs(self) -> Mapping[str, TensorSpec]:
        """Tensor, dtype and shape of each input, in order."""
        return self.signature.inputs

    @property
    def outputs(self) -> Mapping[str, TensorSpec]:
        """The same of the outputs."""
        return self.signature.outputs

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _Origin.load_signature, (_pickled(self._origin, self._session), self.name)

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, np.ndarray[Any, Any]]:
        """Outputs by name for inputs given in order, by name, or as one mapping."""
        whole = args[0] if len(args) == 1 and not kwargs else None
        try:
            by_name = ((), whole) if isinstance(whole, Mapping) else (args, kwargs)
            given = self._bind(*by_name)
        except DrystoneError:
            raise
        except Exception as error:
            blame(SignatureFunction.__call__, error, self, *args, **kwargs)
        outputs = {name: spec.tensor for name, spec in self.signature.outputs.items()}
        result: dict[str, np.ndarray[Any, Any]] = self._session.run(outputs, given)
        return result

    def request(self) -> tuple[list[str], list[str]]:
        """What a call that gives every required input fetches and feeds: names of tensors."""
        inputs = self.signature.inputs.values()
        given = dict.fromkeys((spec.tensor for spec in inputs if not spec.optional), 0)
        feeds = given | self.signature.left_out(given)
        return [spec.tensor for spec in self.signature.outputs.values()], list(feeds)

    def _order(self, count: int, kwargs: Mapping[str, Any]) -> Sequence[str]:
        """The inputs that positional arguments are, in their order; raises where there is none."""
        inputs = self.signature.inputs
        if self.signature.positional or count > len(inputs):
            return self.signature.positional or list(inputs)
        due = [name for name, spec in inputs.items() if not spec.optional] or list(inputs)
        left = [name for name in due if name not in kwargs]
        if count and (count > 1 or len(left) > 1):
            self._refuse_order(count)
        return left or due

    def _refuse_order(self, count: int) -> NoReturn:
        named = ", ".join(f"{plain(name)}=..." for name in self.signature.inputs)
        raise BadRequest(
            f"signature {self.name!r} cannot be called like this",
            check="positional arguments of several inputs need an order, and the model states none",
            found=f"{count} positional argument{'s' * (count > 1)}",
            needed="inputs by name, or one mapping",
            remedy=f"name them: ({named})",
            code="wrong-arguments",
        )

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        inputs = self.signature.inputs
        named = dict(zip(self._order(len(args), kwargs), args, strict=False))
        unknown = [n for n in kwargs if n not in inputs]
        twice = [n for n in kwargs if n in named]
        given = named.keys() | kwargs.keys()
        missing = [n for n, spec in inputs.items() if n not in given and not spec.optional]
        problem = (
            (len(args) > len(inputs) and f"{len(args)} positional arguments")
            or (unknown and f"unknown: {', '.join(map(described, unknown))}")
            or (twice and f"given twice: {', '.join(twice)}")
            or (missing and f"missing: {', '.join(missing)}")
        )
        if problem:
            near = [m for n in unknown if isinstance(n, str) for m in near_matches(n, inputs)]
            raise BadRequest(
                f"signature {self.name!r} cannot be called like this",
                check="a call must give every input of the signature once",
                found=problem,
                needed=", ".join(inputs) or "no inputs",
                remedy=f"did you mean {', '.join(near)}?" if near else "see `drystone inspect`",
                code="wrong-arguments",
            )
        values = named | dict(kwargs)
        feeds = {spec.tensor: values[n] for n, spec in inputs.items() if n in values}
        return feeds | self.signature.left_out(feeds)


class Model:
    """A loaded model: call it, call one of its signatures, or run any tensors by name.

    Variables and tables are initialised when the model is made and keep their state from call to
    call. A pickle of a model is its path and its options: it is loaded again where it is unpickled
    (or copied), with the state that its files have. ``with load(path) as model:`` closes it.
    """

    @checked
    def __init__(
        self,
        loaded: LoadedModel,
        config: SessionConfig | None = None,
        origin: _Origin | None = None,
    ) -> None:
        self.loaded = loaded
        self.session = Session(loaded.source, config)
        self._origin = origin
        self._objects: ObjectGraph | None = None
        self._open_own_files()
        found = {
            name: SignatureFunction(self.session, name, signature, origin)
            for name, signature in loaded.signatures.items()
        }
        self.signatures = Named(found, "signature", "unknown-signature")
        self._initialise()

    def __repr__(self) -> str:
        names = ", ".join(map(plain, self.signatures)) or "no signatures"
        return f"<Model {self.loaded.kind} {str(self.loaded.place)!r}: {names}>"

    def _repr_html_(self) -> str:
        from drystone_base.api.overview import html

        return html(self.loaded)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _Origin.load, (_pickled(self._origin, self.session),)

    def close(self) -> None:
        """Let go of the graph, of variables, tables and plans. To close it again does nothing.

        Runs of other threads that have begun end as they would; what is asked of the model
        afterwards raises ``BadRequest`` (``model-closed``).
        """
        self.session.close()
        if self._objects is not None:
            self._objects.running.close()
            self._objects = None
        self.loaded = self.loaded._replace(
            source=closed_source(), variables={}, read_meta=lambda: None
        )
        gc.collect()  # nodes and their graph hold each other

    @property
    def graph(self) -> Graph:
        """The model's graph."""
        return self.loaded.graph

    @property
    def inputs(self) -> Mapping[str, TensorSpec]:
        """Tensor, dtype and shape of each input of the default signature, in order.

        Raises ``BadRequest`` (``no-default-signature``).
        """
        return self.default_signature().inputs

    @property
    def outputs(self) -> Mapping[str, TensorSpec]:
        """The same of the outputs."""
        return self.default_signature().outputs

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The model's variables by name, with what runs have assigned to them.

        Raises ``BadRequest`` (``model-closed``).
        """
        return Named(self.session.variables, "variable", "unknown-object")

    @property
    def functions(self) -> Mapping[str, RestoredFunction]:
        """Functions that were saved with the model's objects, by path: ``functions["encoder.f"]``.

        Where no attribute of ``Model`` has the name, ``model.encoder.f`` is the same. Raises
        ``BadModelFile`` (``bad-saved-model``), ``BadRequest`` (``model-closed``).
        """
        return Named(self._object_graph().functions(), "function", "unknown-object")

    def _object_graph(self) -> ObjectGraph:
        self.session.check_open()
        if self._objects is None:
            from drystone_base.api.restored import ObjectGraph

            self._objects = ObjectGraph(self.loaded, self.session)
        return self._objects

    def __getattr__(self, name: str) -> Any:
        """An object that was saved as an attribute of the model."""
        if name.startswith("_") or "session" not in self.__dict__:
            raise AttributeError(name)
        return self._object_graph().attribute(0, "", name)

    def __dir__(self) -> list[str]:
        held = [] if self.session.closed else self._object_graph().names()
        return [*super().__dir__(), *filter(str.isidentifier, held)]

    @checked
    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Print what the model is: its file, its size, variables, and signatures with their shapes.

        ``print_fn`` gets each line. Raises ``BadRequest`` (``model-closed``; ``bad-argument`` for
        a ``print_fn`` that takes no text).
        """
        from drystone_base.api.overview import write

        write(print_fn, self.loaded, self.variables)

    def _open_own_files(self) -> None:
        """Let ops read the files of the model."""
        self.session.access = self.session.access.with_read(self.loaded.own_files)

    def _initialise(self) -> None:
        for name, value in self.loaded.variables.items():
            self._assign(name, value)
        for targets, feeds in self.loaded.init_steps:
            self.session.run(list(targets), feeds)
        if self.loaded.variables:  # the session has their values now
            self.loaded = self.loaded._replace(variables={})

    def _assign(self, name: str, value: np.ndarray[Any, Any]) -> None:
        """Give the resource variable of that name its restored value."""
        from drystone_base.core.dtypes import from_numpy

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
            remedy="call model.signatures[NAME](...), model.functions[NAME](...) or "
            "model.run(fetches, feeds)",
            code="no-default-signature",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Outputs of the default signature by name.

        Of a model that was saved without signatures: what the function ``__call__`` gives.
        """
        if not self.signatures and "__call__" in self.functions:
            return self.functions["__call__"](*args, **kwargs)
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


@checked
def load(
    path: str | os.PathLike[str],
    *,
    tags: str | Iterable[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    config: SessionConfig | None = None,
    needed: str | Iterable[str] | None = None,
    threads: int | None = None,
    precision: str | None = None,
) -> Model:
    """Load a SavedModel directory, a GraphDef (``.pb``, ``.pbtxt``) or a MetaGraph with checkpoint.

    ``tags`` choose a MetaGraph of a SavedModel; ``checkpoint`` is the prefix to restore a MetaGraph
    from. Of a SavedModel's variables, those that none of the tensors and signatures ``needed``
    reaches stay unread and without a value (all are read by default). ``threads``: how many threads
    kernels may use (0: one per core), and ``precision``: what layers may be computed in,
    ``"float32"``, ``"bfloat16"`` or ``"float16"``; both stand above what ``config`` says.
    Ops of the model may read files of its own folder (of a lone GraphDef, the files beside it)
    and of ``checkpoint``, and what ``config.access`` opens. Raises ``BadModelFile`` and
    ``GraphError`` for files that cannot be read, ``BadRequest`` (``bad-threads``,
    ``bad-precision``), ``KernelError`` (``access-denied``) where initialisation asks for other
    files.
    """
    config = tuned(config, threads, precision)
    names, tagged = _words(needed), _words(tags)
    prefix = None if checkpoint is None else os.fspath(checkpoint)
    origin = _Origin(_absolute(path), tagged, prefix and _absolute(prefix), config, names)
    if checkpoint is not None:
        config = config or SessionConfig()
        access = (config.access or Access()).with_read(*checkpoint_files(checkpoint))
        config = replace(config, access=access)
    with paused_gc():
        reached = None if config is None else config.access
        loaded = load_model(path, tags=tagged, checkpoint=checkpoint, needed=names, access=reached)
        return Model(loaded, config, origin)


def _words(given: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Names that may be one."""
    if given is None:
        return None
    return (given,) if isinstance(given, str) else tuple(given)


def _absolute(path: str | os.PathLike[str]) -> str:
    """The path as another process finds it, wherever that runs."""
    local = local_text(path)
    return os.fspath(path) if local is None else os.path.abspath(local)


def _pickled(origin: _Origin | None, session: Session) -> _Origin:
    """What a pickle of a model holds; raises ``BadRequest`` (``cannot-pickle``)."""
    session.check_open()
    if origin is None:
        _cannot_pickle()
    return origin


def _cannot_pickle() -> NoReturn:
    raise BadRequest(
        "the model cannot be pickled",
        check="a pickle of a model is the path that it is loaded from again",
        found="a model that was made of a graph in memory",
        needed="a model that drystone.load has read",
        remedy="write it with drystone.save(model, PATH), and pickle drystone.load(PATH)",
        code="cannot-pickle",
        status="FAILED_PRECONDITION",
    )
