"""Stores of variables: whose names are told apart, and which a checkpoint holds together."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import ItemsView, Iterator, MutableMapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Self

from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.state.variables import ResourceManager

if TYPE_CHECKING:
    from drystone_base.tracing.variable import Variable

__all__ = ["VariableStore"]


class VariableStore:
    """Variables by name, apart from those of other stores.

    A :class:`~drystone_base.Variable` belongs to the store in whose ``with`` block it is made, and
    lives as long as that; one that is made outside of all lives as long as its Python object.
    Names are unique in a store, so that two models, or one that is built twice, call their
    variables the same. Functions that are traced in the block keep tables and queues in the store.
    :func:`~drystone_base.save_checkpoint` and :func:`~drystone_base.restore_checkpoint` take
    stores. ::

        with ds.VariableStore() as store:
            w = ds.Variable([1.0, 2.0], "w")
        ds.save_checkpoint(store, "run/model-1")

    Raises ``BadRequest`` (``no-such-variable``) for ``store[name]`` without such a variable.
    """

    def __init__(self) -> None:
        self.resources = ResourceManager()
        self._variables: MutableMapping[str, Variable] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<VariableStore: {', '.join(self) or 'no variables'}>"

    def __getstate__(self) -> dict[str, Variable]:
        return dict(self.items())

    def __setstate__(self, variables: dict[str, Variable]) -> None:
        """A copy, pickled or not, has copies of the variables; tables and queues begin empty."""
        VariableStore.__init__(self)
        self._variables.update(variables)

    @staticmethod
    def active() -> VariableStore:
        """The store that variables are made in now."""
        return _ENTERED.get()[-1]

    def __enter__(self) -> Self:
        _ENTERED.set((*_ENTERED.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _ENTERED.set(_ENTERED.get()[:-1])

    @checked
    def __getitem__(self, name: str) -> Variable:
        found = self._variables.get(name)
        if found is not None:
            return found
        near = near_matches(name, list(self))
        raise BadRequest(
            f"the store has no variable {name!r}",
            check="a variable is found by the name that it has in its store",
            found=", ".join(self) or "no variables",
            needed="one of these",
            remedy=f"did you mean {near[0]!r}?" if near else "list(store) tells the names",
            code="no-such-variable",
            status="NOT_FOUND",
        )

    def __contains__(self, name: object) -> bool:
        return name in self._variables

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._variables))

    def __len__(self) -> int:
        return len(self._variables)

    def items(self) -> ItemsView[str, Variable]:
        """Names and variables, sorted by name."""
        return {name: self._variables[name] for name in self}.items()

    def add(self, variable: Variable, wanted: str) -> str:
        """Take a variable in; its name, which has a number behind where the wanted is taken."""
        with self._lock:
            names = itertools.chain([wanted], (f"{wanted}_{k}" for k in itertools.count(1)))
            name = next(one for one in names if one not in self._variables)
            self._variables[name] = variable
        return name


class _Everywhere(VariableStore):
    """The store outside of all blocks, which holds nothing: variables go with their objects."""

    def __init__(self) -> None:
        super().__init__()
        self._variables = weakref.WeakValueDictionary()


_ENTERED: Final[ContextVar[tuple[VariableStore, ...]]] = ContextVar(
    "drystone_stores", default=(_Everywhere(),)
)
