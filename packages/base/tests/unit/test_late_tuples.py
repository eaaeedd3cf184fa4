"""The named tuples of base beside the standard library's."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from drystone_base.core import late_tuples


class Pickled(late_tuples.NamedTuple):
    """A class that pickle can find."""

    a: int
    b: tuple[int, ...] = (1,)


def classes(base: Any) -> dict[str, Any]:
    """The same classes, of one base or the other."""

    class Plain(base):  # type: ignore[misc]
        """A comment."""

        a: int
        b: str | None
        c: dict[str, int] = {"x": 1}
        d: float = 2.5
        """Text after a field."""

        kind = "plain"

        @property
        def both(self) -> Any:
            return self.a, self.b

        @classmethod
        def of(cls, a: int) -> Any:
            return cls(a, "of")

        def __len__(self) -> int:
            return 4

    class One(base):  # type: ignore[misc]
        only: int

    class Empty(base):  # type: ignore[misc]
        pass

    class Shown(base):  # type: ignore[misc]
        a: int

        def __repr__(self) -> str:
            return "shown"

    class Derived(Plain):
        more = 1

    return {"Plain": Plain, "One": One, "Empty": Empty, "Shown": Shown, "Derived": Derived}


THEIRS = classes(typing.NamedTuple)


def outcome(call: Callable[[Any], Any], made: Any) -> Any:
    """What a call gives or raises, for classes by the name."""
    try:
        found = call(made)
    except Exception as error:
        return type(error).__name__, str(error)
    return (type(found).__name__, found) if isinstance(found, tuple) else found


CALLS: dict[str, Callable[[Any], Any]] = {
    "all": lambda c: c["Plain"](1, "b", {}, 3.0),
    "defaults": lambda c: c["Plain"](1, "b"),
    "by name": lambda c: c["Plain"](b="b", a=1, d=0.5),
    "again": lambda c: [c["Plain"](1, "b") for _ in range(3)],
    "too few": lambda c: c["Plain"](1),
    "too many": lambda c: c["One"](1, 2),
    "unknown": lambda c: c["One"](only=1, other=2),
    "twice": lambda c: c["One"](1, only=2),
    "one": lambda c: c["One"](7),
    "empty": lambda c: c["Empty"](),
    "fields": lambda c: [one._fields for one in c.values()],
    "match": lambda c: [one.__match_args__ for one in c.values()],
    "field defaults": lambda c: [one._field_defaults for one in c.values()],
    "bases": lambda c: [one.__bases__[0].__name__ for one in c.values()],
    "metaclass": lambda c: [type(one) for one in c.values()],
    "slots": lambda c: [one.__slots__ for one in (c["Plain"], c["One"], c["Empty"])],
    "names": lambda c: [(one.__name__, one.__qualname__, one.__module__) for one in c.values()],
    "docs": lambda c: [one.__doc__ for one in c.values()],
    "field doc": lambda c: c["Plain"].b.__doc__,
    "own things": lambda c: (c["Plain"].of(3).both, c["Plain"].kind, len(c["Plain"](1, "b"))),
    "repr": lambda c: [repr(c["Plain"](1, "b")), repr(c["Shown"](1)), repr(c["Empty"]())],
    "derived": lambda c: (repr(c["Derived"](1, "b")), c["Derived"](1, "b").more),
    "derived type": lambda c: type(c["Derived"](1, "b")).__name__,
    "equal": lambda c: c["Plain"](1, "b") == (1, "b", {"x": 1}, 2.5),
    "hash": lambda c: hash(c["One"](5)) == hash((5,)),
    "order": lambda c: sorted([c["One"](2), c["One"](1)]),
    "unpack": lambda c: (lambda a, b, *rest: (b, a, rest))(*c["Plain"](1, "b")),
    "make": lambda c: c["Plain"]._make(iter((1, 2, 3, 4))),
    "make too few": lambda c: c["Plain"]._make((1,)),
    "make of derived": lambda c: c["Derived"]._make((1, 2, 3, 4)),
    "replace": lambda c: c["Plain"](1, "b")._replace(a=5),
    "replace unknown": lambda c: c["Plain"](1, "b")._replace(z=5),
    "as dict": lambda c: c["Plain"](1, "b")._asdict(),
    "new arguments": lambda c: c["Plain"](1, "b").__getnewargs__(),
    "copy": lambda c: copy.deepcopy(copy.copy(c["Plain"](1, "b"))),
    "set": lambda c: setattr(c["Plain"](1, "b"), "a", 2),
    "own attribute": lambda c: setattr(c["Plain"](1, "b"), "z", 2),
    "hints": lambda c: typing.get_type_hints(c["Plain"]),
    "new": lambda c: c["Plain"].__new__(c["Plain"], 1, "b"),
}


@pytest.mark.parametrize("number", [0, 1, 1000])
@pytest.mark.parametrize("name", CALLS)
def test_classes_behave_as_the_standard_ones(
    name: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With constructors that are compiled at once, after an instance, or never."""
    monkeypatch.setattr(late_tuples, "_PUT_TOGETHER", number)
    found, wanted = (
        outcome(CALLS[name], made) for made in (classes(late_tuples.NamedTuple), THEIRS)
    )
    assert found == wanted


def test_patterns_match_fields() -> None:
    match Pickled(1, (2, 3)):
        case Pickled(a, (b, _)):
            assert (a, b) == (1, 2)
        case _:
            pytest.fail("no pattern matched")


def test_pickle_finds_the_class() -> None:
    again = pickle.loads(pickle.dumps(Pickled(4)))
    assert type(again) is Pickled
    assert again == (4, (1,))


def test_a_constructor_is_compiled_once_and_for_derived_classes_too() -> None:
    class Late(late_tuples.NamedTuple):
        a: int

    class Below(Late):
        pass

    first = Late.__new__
    for number in range(late_tuples._PUT_TOGETHER):
        assert (type(Below(number)), Late.__new__) == (Below, first)
    assert type(Below(1)) is Below
    second = Late.__new__
    assert second is not first
    assert type(Late(2)) is Late
    assert Late.__new__ is second
    assert type(Below(3)) is Below


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"_fields": ()}, AttributeError),
        ({"__new__": None}, AttributeError),
        ({"__annotations__": {"_a": "int"}}, ValueError),
        ({"__annotations__": {"a": "int", "b": "int"}, "a": 1}, TypeError),
    ],
)
def test_what_the_standard_one_refuses_is_refused(body: Any, error: Any) -> None:
    makers: Any = (late_tuples._Made, late_tuples._Root), (
        typing.NamedTupleMeta, typing._NamedTuple  # type: ignore[attr-defined]
    )  # fmt: skip
    for maker, root in makers:
        with pytest.raises(error):
            maker("X", (root,), {"__module__": __name__, **body})


def test_other_bases_are_refused() -> None:
    for base in (late_tuples.NamedTuple, typing.NamedTuple):
        with pytest.raises(TypeError, match="can only inherit from a NamedTuple type"):
            exec("class X(base, dict): pass", {"base": base})
