"""The registry of modules, and the registry that a module keeps of what plugins offer it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from drystone_base.core.arguments import checked, explained, explaining
from drystone_base.core.errors import PluginError, near_matches
from drystone_base.core.installed import EntryPoint, points
from drystone_base.core.printable import warn
from drystone_base.core.upcalls import BUILTIN_MODULES

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # which takes a tenth of the time

__all__ = [
    "Library",
    "Module",
    "Registry",
    "commands",
    "entry_symbols",
    "find",
    "is_own",
    "modules",
    "register",
    "stage",
]

T = TypeVar("T")
GROUP: Final = "drystone.modules"
OWN: Final = "drystone-base"
"""The origin of the modules that the host library implements."""


class Library(Protocol):
    """An opened plugin library, as a module sees it."""

    name: str
    path: str

    def symbol(self, name: str) -> int | None:
        """Address of an exported symbol, or None."""

    def initialise(self, entry_symbol: str) -> None:
        """Let the host library call one of its own entry symbols; raises ``HostError``."""


class Module(NamedTuple):
    """A module: its name, the entry symbols it accepts, and how a library registers with it.

    ``initialise(library, symbol)`` is called for each accepted symbol that a library exports; it
    raises to refuse. ``offers(library)`` names what came of it, for reports. ``commands`` are
    subcommands of ``drystone``, by name: where their click command is, as
    ``"package.module:attribute"``. ``variables`` is where its environment variables are stated,
    likewise: a tuple of ``drystone_base.core.environment.Variable``. ``shapes`` are shape functions
    of ops that a library of the package defines, by op and as commands are: where shapes follow
    from attributes, of which C shape functions see only those of type ``type``.

    ``stages`` are functions that a session calls at a named point of preparing a run.
    ``{"optimize": f}`` with ``f(graph, fetches, feeds, config) -> Graph``. Where regions of the
    graph are offered to backends, this comes in two parts: ``simplify`` before that, and ``fuse``
    after it, which makes of the rest what only the host executor knows; a module without them
    optimizes before. ``{"lasting": f}`` with ``f(config) -> bool``: whether optimizing gives the
    same for the same graph in every process, so that plans may be kept (a module without it says
    no). ``{"precision": f}`` with ``f(config, "bfloat16")``, or ``"float16"``, giving what
    ``SessionConfig.optimizer`` must be for layers to be computed in that type.
    ``{"unplugged": f}`` with ``f(config)``, giving it without optimizers of plugins.
    ``{"listed": f}`` with ``f()`` giving what ``drystone plugins list`` shows beside libraries:
    dicts with ``name``, ``version``, ``state`` (``loaded`` or ``failed``), ``text`` and ``path``.
    """

    name: str
    entry_symbols: tuple[str, ...]
    initialise: Callable[[Library, str], None]
    offers: Callable[[Library], list[str]] = lambda _library: []
    stages: Mapping[str, Callable[..., Any]] = MappingProxyType({})
    commands: Mapping[str, str] = MappingProxyType({})
    variables: str = ""
    shapes: Mapping[str, str] = MappingProxyType({})


@explaining("register", "find", "get", "origin")
class Registry(Generic[T]):
    """What plugins registered with one module, by id: quiet, sorted, read-only from outside.

    An id is taken once: a second registration raises ``PluginError`` (``already-registered``) that
    names both origins, unless it is equal.
    """

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self._items: dict[str, tuple[T, str]] = {}
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._items

    def register(self, name: str, item: T, origin: str) -> None:
        """Add ``item`` under ``name``; ``origin`` says who did, for errors."""
        if not isinstance(name, str):
            raise TypeError("names are sorted")
        with self._lock:
            present = self._items.get(name)
            if present is None:
                self._items[name] = (item, origin)
                return
        if present[0] != item:
            raise PluginError(
                f"{self.noun} {name!r} cannot be registered by {origin}",
                check=f"a {self.noun} has one owner",
                found=f"it is registered by {present[1]}",
                needed="another name, or only one of the two plugins",
                remedy="disable one of them: DRYSTONE_PLUGINS_DISABLE=NAME",
                path=origin,
                code="already-registered",
                status="ALREADY_EXISTS",
            )

    def find(self, name: str) -> T | None:
        """The item of that name, or None."""
        found = self._items.get(name)
        return None if found is None else found[0]

    def get(self, name: str) -> T:
        """The item of that name; raises ``PluginError`` (``not-registered``) with near matches."""
        found = self._items.get(name)
        if found is not None:
            return found[0]
        near = near_matches(name, self._items)
        raise PluginError(
            f"no {self.noun} is called {name!r}",
            check=f"a {self.noun} is asked for by the name it registered",
            found=name,
            needed=", ".join(self) or f"a plugin that offers a {self.noun}",
            remedy=f"did you mean {', '.join(near)}?"
            if near
            else "`drystone plugins list` shows what is installed and why something is not loaded",
            code="not-registered",
            status="NOT_FOUND",
        )

    def origin(self, name: str) -> str:
        """Who registered the item of that name; "" where none did."""
        found = self._items.get(name)
        return "" if found is None else found[1]

    def items(self) -> Mapping[str, T]:
        """A read-only copy, sorted by name."""
        return MappingProxyType({name: self._items[name][0] for name in self})


_MODULES: Final[Registry[Module]] = Registry("module")
_LOCK: Final = threading.RLock()
_scanned = _scanning = False


def _not_registered(point: EntryPoint, error: Exception) -> str:
    return (
        f"module {point.name!r} of package {point.package} ({point.value}) cannot be used: "
        f"{type(error).__name__}: {error}"
    )


def _scan() -> None:
    """Register the built-in modules and those of entry points, once.

    What Ctrl-C or a lack of room (memory, or a stack that is deep already) cut short says nothing
    of a package, so it is done again when it is next asked for.
    """
    global _scanned, _scanning
    if _scanned:
        return
    with _LOCK:
        if _scanned or _scanning:  # a module that is being imported may ask
            return
        _scanning = True
        try:
            _scanned = _register_all()
        finally:
            _scanning = False


def _register_all() -> bool:
    """Whether there was room for all; what is registered already stays as it is."""
    complete = True
    for module in BUILTIN_MODULES():
        _MODULES.register(module.name, module, OWN)
    for point in points(GROUP):
        try:
            _MODULES.register(point.name, point.load(), point.package)
        except Exception as error:
            complete = complete and not isinstance(error, MemoryError | RecursionError)
            warn(_not_registered(point, error), stacklevel=5)
    return complete


@checked
def register(module: Module, origin: str = "the program") -> None:
    """Add a module; raises ``PluginError`` (``already-registered``) where its name is taken."""
    _scan()
    _MODULES.register(module.name, module, origin)


def modules() -> Mapping[str, Module]:
    """Every module by name."""
    _scan()
    return _MODULES.items()


@explained
def is_own(name: str) -> bool:
    """Whether the module of that name is one that the host library implements."""
    _scan()
    return _MODULES.origin(name) == OWN


@explained
def find(name: str) -> Module | None:
    """The module of that name, or None."""
    _scan()
    return _MODULES.find(name)


def entry_symbols() -> Mapping[str, tuple[Module, ...]]:
    """Entry symbols that some module accepts, with those modules."""
    found: dict[str, list[Module]] = {}
    for module in modules().values():
        for symbol in module.entry_symbols:
            found.setdefault(symbol, []).append(module)
    return {symbol: tuple(found[symbol]) for symbol in sorted(found)}


def commands() -> Mapping[str, str]:
    """The subcommands that modules add to ``drystone``: where each is, by name."""
    found: dict[str, str] = {}
    for module in modules().values():
        for name, place in module.commands.items():
            found.setdefault(name, place)
    return found


@explained
def stage(name: str, otherwise: str = "") -> list[Callable[..., Any]]:
    """The functions that modules offer for a stage of preparing a run, by module name.

    Of a module that has none for it, the one for the stage ``otherwise``.
    """
    found = (m.stages.get(name, m.stages.get(otherwise)) for m in modules().values())
    return [_fitting(function) for function in found if function is not None]


def _fitting(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which raises ``OutOfStep`` where its package does not fit what is installed."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (ImportError, AttributeError) as error:
            from drystone_base.core.out_of_step import out_of_step

            unfit = out_of_step(error)
            if unfit is None:
                raise
            raise unfit from error

    return run
