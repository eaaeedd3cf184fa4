"""Python functions as graphs: traced once for each signature, run by sessions."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, overload

import numpy as np

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.arguments import checked
from drystone_base.core.dtypes import DType, as_dtype, from_numpy
from drystone_base.core.errors import BadRequest
from drystone_base.core.shown import shape_text
from drystone_base.graph import Graph
from drystone_base.graph.finite import check_finite
from drystone_base.state.variables import VARIABLE_KIND, ResourceManager
from drystone_base.tracing import calls
from drystone_base.tracing.gradient import value_and_gradients
from drystone_base.tracing.nests import leaves, mapped
from drystone_base.tracing.store import VariableStore
from drystone_base.tracing.tensor import Tensor
from drystone_base.tracing.trace import Trace
from drystone_base.tracing.variable import Variable

__all__ = ["Function", "RetraceWarning", "Spec", "Traced", "function", "grad", "value_and_grad"]

_MOST_DIMENSIONS: Final = 254
"""As TensorFlow's TensorShape::MaxDimensions."""
_MANY: Final = 8
"""So many traces of one function are worth a word."""


class RetraceWarning(UserWarning):
    """A function is traced again and again, which takes longer than running it."""


class Spec:
    """What an argument will be: its shape, None for unknown sizes, and its dtype."""

    __slots__ = ("dtype", "shape")

    @checked
    def __init__(self, shape: Sequence[int | None], dtype: Any = "float32") -> None:
        self.shape = _sizes(shape)
        self.dtype: DType = as_dtype(dtype)

    @classmethod
    def of(cls, shape: tuple[int | None, ...], dtype: DType) -> Spec:
        """The spec of what is known to be one."""
        made = cls.__new__(cls)
        made.shape, made.dtype = shape, dtype
        return made

    def __repr__(self) -> str:
        return f"{self.dtype} {shape_text(self.shape)}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spec):
            return NotImplemented
        return self.shape == other.shape and self.dtype is other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype.number))

    def admits(self, other: Spec) -> bool:
        """Whether arguments of the other spec are of this one, too."""
        return (
            self.dtype is other.dtype
            and len(self.shape) == len(other.shape)
            and all(a is None or a == b for a, b in zip(self.shape, other.shape, strict=True))
        )


def _sizes(shape: Sequence[int | None]) -> tuple[int | None, ...]:
    """A shape that an array can have, with None for unknown sizes."""
    sizes = tuple(None if d is None else int(d) for d in islice(shape, _MOST_DIMENSIONS + 1))
    if len(sizes) > _MOST_DIMENSIONS or any(d is not None and not 0 <= d < 2**63 for d in sizes):
        raise BadRequest(
            "no array has this shape",
            check="a shape has at most 254 sizes, each 0 to 2^63 - 1 or None for an unknown one",
            found=f"more than {_MOST_DIMENSIONS} sizes" if len(sizes) > _MOST_DIMENSIONS
            else list(sizes),
            needed="sizes such as (None, 28, 28)",
            remedy="write None where a size is not known",
            code="bad-argument",
        )  # fmt: skip
    return sizes


def _spec_of(leaf: Any) -> Any:
    """What a trace depends on: the spec of an array, and a Python value itself."""
    if isinstance(leaf, Spec):
        return leaf
    if isinstance(leaf, np.ndarray | np.generic):
        return Spec.of(leaf.shape, from_numpy(leaf.dtype))
    if hasattr(leaf, "__array__") and not isinstance(leaf, Variable | Tensor):
        return _spec_of(np.asarray(leaf))
    return leaf


def _key_of(spec: Any) -> Any:
    try:
        hash(spec)
    except TypeError:
        return id(spec)
    return (type(spec), spec)


class Traced:
    """One trace of a function: its graph, its arguments and results, and the session it runs in.

    A call takes the arrays of the function's array arguments, in their order. ``given`` and
    ``nest`` are the arguments and results with symbolic tensors in them, ``named`` the variables by
    their names in the session.
    """

    @checked
    def __init__(self, name: str, made: Callable[..., Any], arguments: Mapping[str, Any],
                 config: SessionConfig | None, check_numerics: bool = False,
                 parameters: inspect.Signature | None = None) -> None:  # fmt: skip
        self.name = name
        self.parameters = parameters
        self.arguments = {path: _spec_of(leaf) for path, leaf in leaves(arguments)}
        trace = Trace()
        self.inputs: dict[str, str] = {}
        with trace:
            flat = iter(self.arguments.items())
            given = mapped(arguments, lambda _: self._argument(trace, *next(flat)))
            found = made(given)
            self.outputs = self._results(trace, found)
        self.given, self.nest, self.graph = given, found, trace.graph
        if check_numerics:
            check_finite(trace.graph)
        self.variables = tuple(trace.handles)
        self.named = dict(trace.variables)
        self.session = Session(trace.graph, config)
        self.session.resources = ResourceManager(VariableStore.active().resources)
        for shared, variable in trace.variables.items():
            self.session.resources.put("", VARIABLE_KIND, shared, variable.held)
        names = list(self.outputs.values())
        self._run = self.session.make_callable(names, [f"{n}:0" for n in self.inputs.values()])

    def __repr__(self) -> str:
        text = ", ".join(f"{k}={v!r:.60}" for k, v in self.arguments.items())
        return f"<Traced {self.name}({text}): {len(self.graph)} nodes>"

    def _argument(self, trace: Trace, path: str, spec: Any) -> Any:
        if not isinstance(spec, Spec):
            return spec
        shape = [-1 if d is None else d for d in spec.shape]
        output = trace.placeholder(spec.dtype, shape, path or "argument")
        self.inputs[path] = output[0].name
        return Tensor(trace, output)

    def _results(self, trace: Trace, found: Any) -> dict[str, str]:
        """Each result by name, as a node that waits for what the function does beside."""
        outputs: dict[str, str] = {}
        plain = list(leaves(found))
        for path, leaf in plain:
            if leaf is None:
                continue
            source = calls.as_output(trace, leaf)
            name = f"output_{path}" if path.isdecimal() else path or "output"
            node = trace.b.node("Identity", source, name=trace.free_name(name),
                                controls=trace.effects)  # fmt: skip
            outputs[name] = f"{node.name}:0"
        if not outputs and trace.effects:
            end = trace.b.node("NoOp", name=trace.free_name("done"), controls=trace.effects)
            outputs[""] = end.name
        return outputs

    def __call__(self, *arrays: Any) -> Any:
        """What the function gives for the arrays."""
        values = iter(self._run(*arrays))
        if "" in self.outputs:
            return mapped(self.nest, lambda _: None)
        return mapped(self.nest, lambda leaf: None if leaf is None else next(values))

    def signature(self) -> tuple[dict[str, str], dict[str, str]]:
        """Tensor names of arguments and of results, as :func:`drystone_base.save` takes them."""
        given = {path or "argument": f"{node}:0" for path, node in self.inputs.items()}
        return given, {name: tensor for name, tensor in self.outputs.items() if name}


class Function:
    """A Python function that runs as a graph; see :func:`drystone_base.function`."""

    @checked
    def __init__(
        self,
        python: Callable[..., Any],
        signature: Sequence[Any] | None,
        config: SessionConfig | None,
        check_numerics: bool = False,
    ) -> None:
        functools.update_wrapper(self, python)
        self.python, self._config, self._check_numerics = python, config, check_numerics
        try:
            self._parameters = inspect.signature(python)
        except (TypeError, ValueError) as error:
            raise BadRequest(
                "a function whose arguments are not known cannot be traced",
                check="Python must know the arguments of a function",
                found=error,
                needed="a function that is written in Python",
                remedy="write a function around it: lambda x: f(x)",
                code="bad-argument",
            ) from error
        self._signature = None if signature is None else list(signature)
        self._traces: dict[Any, Traced] = {}
        self._quick: dict[Any, Traced] = {}  # by what arrays are, for calls of arrays alone
        self._kept: list[Any] = []

    def __repr__(self) -> str:
        return f"<Function {self.python.__qualname__}: {len(self._traces)} traces>"

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else functools.partial(self, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result for arrays; inside of another function it is a part of that."""
        if Trace.active() is not None:
            return self.python(*args, **kwargs)
        plain = not kwargs and all(type(one) is np.ndarray for one in args)
        quick = tuple([(one.dtype, one.shape) for one in args]) if plain else None
        if quick is not None and (known := self._quick.get(quick)) is not None:
            return known(*args)
        arguments = self._bound(args, kwargs)
        flat = [leaf for _, leaf in leaves(arguments)]
        specs = [_spec_of(leaf) for leaf in flat]
        traced = self._traced(arguments, specs)
        if quick is not None and len(traced.inputs) == len(args):
            self._quick[quick] = traced
        return traced(*(v for v, s in zip(flat, specs, strict=True) if isinstance(s, Spec)))

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The trace for arguments like these, arrays or :class:`Spec`; the function is not run."""
        arguments = self._bound(args, kwargs)
        return self._traced(arguments, [_spec_of(leaf) for _, leaf in leaves(arguments)])

    @property
    def traces(self) -> list[Traced]:
        """All traces so far, the oldest first."""
        return list(self._traces.values())

    @property
    def graph(self) -> Graph:
        """The graph of the newest trace; raises ``BadRequest`` (``not-traced``) before any."""
        return self.newest().graph

    def newest(self) -> Traced:
        """The newest trace: that of the stated signature, if there is one."""
        if not self._traces and self._signature is not None:
            return self.trace(*self._signature)
        if not self._traces:
            raise BadRequest(
                f"{self.python.__qualname__} has not been traced",
                check="a function has a graph for each signature that it was called with",
                found="no call yet",
                needed="a call, a trace or a stated signature",
                remedy="call it, or give ds.function(signature=[ds.Spec([None, 3])])",
                code="not-traced",
            )
        return self.traces[-1]

    def only(self) -> Traced:
        """The one trace that there is; raises ``BadRequest`` (``not-traced``) for none or more."""
        newest = self.newest()
        if len(self._traces) > 1:
            raise BadRequest(
                f"{self.python.__qualname__} has {len(self._traces)} traces",
                check="what is written must be one trace",
                found=self.explain(),
                needed="one trace",
                remedy="give fn.trace(ds.Spec([None, 3])), or state the signature",
                code="not-traced",
            )
        return newest

    def explain(self) -> str:
        """Each trace as a line, and why the traces before it did not serve."""
        lines = []
        for k, traced in enumerate(self.traces):
            lines.append(f"{k + 1}. {traced!r}")
            lines += [f"   not {n + 1}: {_difference(other, traced)}"
                      for n, other in enumerate(self.traces[:k])]  # fmt: skip
        return "\n".join(lines) or "not traced yet"

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        try:
            bound = self._parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise BadRequest(
                f"{self.python.__qualname__} cannot be called so",
                check="a call must give the arguments of the function",
                found=str(error),
                needed=str(self._parameters),
                remedy="give each argument once",
                code="wrong-arguments",
            ) from error
        bound.apply_defaults()
        return dict(bound.arguments)

    def _traced(self, arguments: dict[str, Any], specs: list[Any]) -> Traced:
        paths = tuple(path for path, _ in leaves(arguments))
        wanted = self._stated(paths, specs)
        key = (paths, tuple(map(_key_of, wanted)))
        found = self._traces.get(key)
        if found is None:
            rest = iter(wanted)
            nest = mapped(arguments, lambda _: next(rest))
            name = self.python.__name__
            found = Traced(
                name, self._called, nest, self._config, self._check_numerics, self._parameters
            )
            self._traces[key] = found
            self._kept += [spec for spec in wanted if not isinstance(spec, Spec)]
            if len(self._traces) == _MANY:
                self._warn()
        return found

    def _called(self, arguments: dict[str, Any]) -> Any:
        bound = self._parameters.bind_partial()
        bound.arguments.update(arguments)
        return self.python(*bound.args, **bound.kwargs)

    def _stated(self, paths: Sequence[str], specs: list[Any]) -> list[Any]:
        """The specs as the stated signature has them; raises ``BadRequest`` where it has not."""
        if self._signature is None:
            return specs
        stated = [_spec_of(leaf) for _, leaf in leaves(self._signature)]
        given = [spec for spec in specs if isinstance(spec, Spec)]
        same = len(stated) == len(given)
        fits = same and all(a.admits(b) for a, b in zip(stated, given, strict=True))
        if not fits:
            raise BadRequest(
                f"{self.python.__qualname__} is not for such arguments",
                check="arguments must fit the signature that the function states",
                found=dict(zip(paths, specs, strict=True)),
                needed=stated,
                remedy="give arrays of these shapes and dtypes, or state another signature",
                code="wrong-arguments",
            )
        rest = iter(stated)
        return [next(rest) if isinstance(spec, Spec) else spec for spec in specs]

    def _warn(self) -> None:
        warnings.warn(
            f"{self.python.__qualname__} was traced {_MANY} times; the last time because of "
            f"{_difference(self.traces[-2], self.traces[-1])}. State the sizes that vary: "
            "ds.function(signature=[ds.Spec([None, ...])]); explain() shows all traces",
            RetraceWarning,
            stacklevel=4,
        )


def _difference(old: Traced, new: Traced) -> str:
    """Why one trace does not serve for what another one was made for."""
    if list(old.arguments) != list(new.arguments):
        return f"arguments {list(new.arguments)}, there {list(old.arguments)}"
    differ = [
        f"{path} is {spec!r:.80}, there {old.arguments[path]!r:.80}"
        for path, spec in new.arguments.items()
        if _key_of(spec) != _key_of(old.arguments[path])
    ]
    return "; ".join(differ)


@overload
def function(python: Callable[..., Any]) -> Function: ...


@overload
def function(
    *,
    signature: Sequence[Any] | None = None,
    config: SessionConfig | None = None,
    check_numerics: bool = False,
) -> Callable[[Callable[..., Any]], Function]: ...


@checked
def function(
    python: Callable[..., Any] | None = None,
    *,
    signature: Sequence[Any] | None = None,
    config: SessionConfig | None = None,
    check_numerics: bool = False,
) -> Any:
    """A decorator: the Python function runs as a graph, traced once for each signature.

    Arrays, and nests of them, are arguments of the graph: a trace serves for all of their dtypes
    and shapes. Numbers of Python, texts, None and other objects are constants of a trace: another
    value is another trace. While it is traced the function is called once with symbolic tensors
    (:class:`~drystone_base.Tensor`); calls after that run the graph. Variables are read and written
    in the order of the calls. ``signature`` states arguments by :class:`~drystone_base.Spec`, for
    sizes that vary; ``config`` is the sessions'. ``check_numerics`` has each op look for NaN and
    infinities, gradients included: a run that meets one raises ``KernelError`` with the name of the
    first node that gave it, and slows down. Raises what the function raises; ``BadRequest``
    (``wrong-arguments``). ::

        @ds.function
        def predict(x):
            return ds.ops.softmax(x @ w + b)
    """
    if python is None:
        return lambda given: Function(given, signature, config, check_numerics)
    return Function(python, signature, config, check_numerics)


@checked
def value_and_grad(
    python: Callable[..., Any], argnums: int | Sequence[int] = 0
) -> Callable[..., Any]:
    """A function that gives what ``python`` gives, one number, and its gradient.

    The gradient is by argument ``argnums``, a nest of floats, and a nest like that; of several a
    tuple. What the result does not depend on has the gradient zero. Runs as a graph. Raises
    ``BadRequest`` (``not-differentiable``, ``wrong-argument-count``).
    """
    several = not isinstance(argnums, int)
    by = list(argnums) if not isinstance(argnums, int) else [argnums]

    @functools.wraps(python)
    def both(*args: Any, **kwargs: Any) -> Any:
        trace = Trace.active()
        assert trace is not None
        value, found = value_and_gradients(trace, python, by, args, kwargs)
        return value, tuple(found) if several else found[0]

    return Function(both, None, None)


@checked
def grad(python: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that gives the gradient alone; all else as :func:`value_and_grad`."""
    both = value_and_grad(python, argnums).python  # type: ignore[attr-defined]

    @functools.wraps(python)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return Function(gradient, None, None)
