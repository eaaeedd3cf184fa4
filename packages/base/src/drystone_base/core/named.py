"""Things of a model by name, which say what there is when a name is asked for that is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn, TypeVar

from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.core.printable import described, plain

__all__ = ["Named", "NoSuchName"]

_Thing = TypeVar("_Thing")
_SHOWN = 12


class NoSuchName(BadRequest, KeyError):
    """A name that is not there; also a ``KeyError``, as of any mapping."""

    def __str__(self) -> str:
        return self.render()


class Named(dict[str, _Thing]):
    """A dict whose missing keys raise ``BadRequest`` with near matches.

    ``noun`` is what is named, ``code`` the error's code.
    """

    def __init__(self, things: Mapping[str, _Thing], noun: str, code: str) -> None:
        super().__init__(things)
        self._noun = noun
        self._code = code

    def __missing__(self, key: object) -> NoReturn:
        near = near_matches(key, self) if isinstance(key, str) else []
        shown = ", ".join(map(plain, list(self)[:_SHOWN])) + (", ..." if len(self) > _SHOWN else "")
        raise NoSuchName(
            f"the model has no {self._noun} {described(key)}",
            check=f"a {self._noun} must be one that the model has",
            found=described(key),
            needed=shown or f"a model with a {self._noun}",
            remedy=f"did you mean {', '.join(near)}?"
            if near
            else "model.summary() tells what is there",
            code=self._code,
            status="NOT_FOUND",
        )

    def __reduce__(self) -> tuple[type, tuple[dict[str, _Thing]]]:
        return dict, (dict(self),)
