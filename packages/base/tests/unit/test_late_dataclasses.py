"""The dataclass decorator of base beside the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, get_type_hints

import pytest

from drystone_base.core import late_dataclasses
from drystone_base.core.late_dataclasses import dataclass


@pytest.fixture(autouse=True, params=[0, 1, 1000], ids=["compiled", "second", "filled-in"])
def filled_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many instances of a class are filled in before its initializer is compiled."""
    number: int = request.param
    monkeypatch.setattr(late_dataclasses, "_FILLED_IN", number)
    return number


@dataclass(frozen=True)
class Pickled:
    """A class that pickle can find."""

    a: int
    b: tuple[int, ...] = (1,)


@dataclass(frozen=True, slots=True)
class PickledSlots:
    """The same in slots."""

    a: int
    b: tuple[int, ...] = (1,)


def _classes(decorate: Callable[..., Any]) -> dict[str, Any]:
    """The same classes, made by one decorator or the other."""

    class Plain:
        """A comment."""

        kind: ClassVar[str] = "plain"
        a: int
        b: list[int] = dataclasses.field(default_factory=list)
        c: str = "c"
        d: int = dataclasses.field(default=4, repr=False, compare=False)
        e: int = dataclasses.field(default=5, init=False)
        f: dict[str, int] = dataclasses.field(default_factory=dict, init=False)

    class Simple:  # which leaves nothing to the standard decorator
        a: int
        b: list[int] = dataclasses.field(default_factory=list)
        c: str = "c"
        d: int = dataclasses.field(default=4, repr=False, compare=False)
        e: int = dataclasses.field(default=5, init=False)
        f: dict[str, int] = dataclasses.field(default_factory=dict, init=False)

    class Frozen:
        a: int
        b: int = dataclasses.field(default=1, hash=False)

        def __post_init__(self) -> None:
            if self.a < 0:
                raise ValueError("negative")

    class One:
        a: float

    class Empty:
        pass

    class OwnMethods:
        a: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    decorate(Plain)
    decorate(Simple)
    for made in (Frozen, One, Empty, OwnMethods):
        decorate(frozen=True)(made)

    class Derived(Frozen):
        z: int = 26

    decorate(frozen=True)(Derived)
    found = {name: one for name, one in locals().items() if isinstance(one, type)}
    return found | _slotted(decorate)


def _slotted(decorate: Callable[..., Any]) -> dict[str, Any]:
    class Slotted:
        a: int
        b: list[int] = dataclasses.field(default_factory=list)
        c: int = dataclasses.field(default=3, init=False)

    class FrozenSlots:
        a: int
        b: int = 2

        def twice(self) -> Any:
            return self.a * 2

        def __call__(self, other: int) -> int:
            return other

    class Ordered:
        a: int
        b: str = dataclasses.field(default="", compare=False)
        c: int = 0

    return {
        "Ordered": decorate(frozen=True, order=True)(Ordered),
        "Slotted": decorate(slots=True)(Slotted),
        "FrozenSlots": decorate(frozen=True, slots=True)(FrozenSlots),
    }


def _outcome(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except Exception as error:
        return type(error), str(error)


def _observed(made: dict[str, Any]) -> list[Any]:
    plain, frozen, one, empty = (made[n] for n in ("Plain", "Frozen", "One", "Empty"))
    slotted, slots, ordered = made["Slotted"], made["FrozenSlots"], made["Ordered"]
    own, derived, nan = made["OwnMethods"], made["Derived"], float("nan")
    acts: list[Callable[[], Any]] = [
        lambda: [str(inspect.signature(made[name])) for name in made],
        lambda: [repr(plain(1)), repr(frozen(1, 2)), repr(empty()), repr(own(3)), repr(derived(1))],
        lambda: plain(1).b is plain(1).b,
        lambda: [plain(1, [2], "x").__dict__, plain(a=1, c="y").__dict__],
        plain,
        lambda: plain(1, 2, 3, 4, 5),
        lambda: plain(1, q=2),
        lambda: frozen(-1),
        lambda: setattr(frozen(1), "a", 2),
        lambda: setattr(frozen(1), "other", 2),
        lambda: delattr(frozen(1), "a"),
        lambda: setattr(derived(1), "z", 2),
        lambda: [plain(1) == plain(1), plain(1, d=9) == plain(1), plain(1) == plain(2)],
        lambda: [frozen(1) == derived(1), frozen(1) != frozen(1), frozen(1) == 1],
        lambda: [one(nan) == one(nan), empty() == empty(), own(1) == own(2)],
        lambda: hash(plain(1)),
        lambda: [hash(frozen(1, 2)) == hash(frozen(1, 3)), hash(one(1.0)), hash(empty())],
        lambda: [hash(own(1)), hash(derived(1)), {frozen(1): 2}[frozen(1)]],
        lambda: [f.name for f in dataclasses.fields(derived)],
        lambda: dataclasses.asdict(plain(1)),
        lambda: repr(dataclasses.replace(frozen(1), a=5)),
        lambda: dataclasses.replace(frozen(1), a=-5),
        lambda: [made[name].__match_args__ for name in made],
        lambda: [dataclasses.is_dataclass(made[name]) for name in made],
        lambda: [copy.copy(plain(1)).__dict__, copy.deepcopy(frozen(1)).__dict__],
        lambda: [slotted(1).c, slotted(1, [2]).b, slotted.__slots__, slots(3).twice()],
        lambda: setattr(slotted(1), "other", 1),
        lambda: setattr(slots(1), "a", 1),
        lambda: [repr(slots(1)), slots(1) == slots(1, 2), hash(slots(1)), slotted(1) == slotted(2)],
        lambda: [repr(copy.copy(slots(5))), repr(copy.deepcopy(slotted(5)))],
        lambda: [ordered(1) < ordered(1, c=1), ordered(2) <= ordered(1), ordered(1) >= ordered(1)],
        lambda: [
            ordered(1, "z") > ordered(1, "a"),
            hash(ordered(1, "z", 2)),
            ordered(3) > ordered(2),
        ],
        lambda: ordered(1) < 2,
        lambda: plain(1) < plain(2),
        lambda: [repr(one) for one in sorted([ordered(2), ordered(1, c=2), ordered(1)])],
        lambda: [plain.e, plain.c, hasattr(plain, "b"), plain(1).f],
        lambda: inspect.signature(slots(1)),
        lambda: [get_type_hints(made[name].__init__) for name in made],
    ]
    return [_outcome(act) for act in acts]


@pytest.mark.parametrize("name", ["Plain", "Simple"])
def test_behaves_as_the_standard_decorator(name: str) -> None:
    ours, standard = _classes(dataclass), _classes(dataclasses.dataclass)
    found = _observed(ours | {"Plain": ours[name]})
    assert found == _observed(standard | {"Plain": standard[name]})


def _outcomes_of_asking(made: dict[str, Any]) -> list[Any]:
    """What functions of the standard library say of classes that nobody has used yet."""
    simple, frozen = made["Simple"], made["Frozen"]
    return [
        [vars(simple)[name] for name in ("c", "d", "e")],
        [name in vars(simple) for name in ("b", "f")],
        [(f.name, f.type, f.default, f.init, f.repr, f.compare, f.kw_only, f.hash)
         for f in dataclasses.fields(simple)],
        list(simple.__dataclass_fields__),
        repr(simple.__dataclass_params__),
        repr(frozen.__dataclass_params__),
        dataclasses.asdict(made["One"](1.5)),
        dataclasses.astuple(frozen(1)),
        repr(dataclasses.replace(simple(1, [2]), c="x")),
        _outcome(lambda: dataclasses.replace(simple(1), e=2)),
    ]  # fmt: skip


def test_what_the_standard_decorator_keeps_is_found_when_it_is_asked_for() -> None:
    ours = _classes(dataclass)
    kept = {name: vars(ours[name])["__dataclass_fields__"] for name in ("Simple", "One")}
    assert all(isinstance(one, late_dataclasses._Standard) for one in kept.values())
    _ = ours["Simple"](1) == ours["Simple"](1), repr(ours["Simple"](2)), ours["Frozen"](1, b=3)
    assert vars(ours["Simple"])["__dataclass_fields__"] is kept["Simple"]
    assert _outcomes_of_asking(ours) == _outcomes_of_asking(_classes(dataclasses.dataclass))
    assert all(isinstance(vars(ours[name])["__dataclass_fields__"], dict) for name in kept)


def _outcomes_of_stating(decorate: Callable[..., Any]) -> list[Any]:
    """Classes that are refused, or that state fields in unusual ways."""

    class Base:
        inherited = 7

    class Below(Base):
        inherited: int
        own: int = 8

    class List:
        a: list[int] = []

    class Loose:
        a = dataclasses.field(default=1)

    class OwnMatch:
        __match_args__ = ("b",)
        a: int
        b: int = 2

    class Slots:
        __slots__ = ("a",)
        a: int

    def shown(kind: Any) -> Any:
        made = decorate(kind)
        return repr(made(1)), made.__match_args__, [f.default for f in dataclasses.fields(made)]

    return [_outcome(partial(shown, kind)) for kind in (Below, List, Loose, OwnMatch, Slots)]


def test_fields_are_stated_as_for_the_standard_decorator() -> None:
    assert _outcomes_of_stating(dataclass) == _outcomes_of_stating(dataclasses.dataclass)


def _outcomes_of_deriving(made: dict[str, Any], decorate: Callable[..., Any]) -> list[Any]:
    """What classes of the program's own below ours are, and which are refused."""

    def below(name: str, **wanted: bool) -> Any:
        base: Any = made[name]

        class Below(base):  # type: ignore[misc]
            more: int = 3

        kind: Any = decorate(**wanted)(Below)
        one = kind(1, more=4)
        return repr(one), _outcome(lambda: setattr(one, "more", 5)), _outcome(lambda: hash(one))

    return [
        _outcome(partial(below, name, **wanted))
        for name in ("Plain", "Frozen", "Derived", "FrozenSlots", "Ordered")
        for wanted in ({}, {"frozen": True}, {"order": True}, {"frozen": True, "slots": True})
    ]


def test_classes_are_derived_as_from_the_standard_ones() -> None:
    ours, standard = _classes(dataclass), _classes(dataclasses.dataclass)
    wanted = _outcomes_of_deriving(standard, dataclasses.dataclass)
    assert _outcomes_of_deriving(ours, dataclasses.dataclass) == wanted
    assert _outcomes_of_deriving(ours, dataclass) == wanted


def test_types_are_told_before_and_after_the_first_instance() -> None:
    wanted = {"a": int, "b": tuple[int, ...], "return": type(None)}
    for kind in (Pickled, PickledSlots):
        assert get_type_hints(kind.__init__) == wanted
        kind(1)
        assert get_type_hints(kind.__init__) == wanted


def test_shows_itself_inside_itself() -> None:
    made = _classes(dataclass)["Plain"](1)
    made.b.append(made)
    assert "b=[...]" in repr(made)


def test_goes_through_pickle() -> None:
    for made in (Pickled(1, (2, 3)), PickledSlots(1, (2, 3))):
        assert pickle.loads(pickle.dumps(made)) == made


def test_the_initializer_is_compiled_after_some_instances(filled_in: int) -> None:
    made = _classes(dataclass)["One"]
    first = made.__init__
    for _ in range(filled_in):
        assert made(1.0).a == 1.0
        assert made.__init__ is first
    assert made(2.0).a == 2.0
    assert made.__init__.__code__.co_varnames == ("_self", "a")


def test_wrong_arguments_change_nothing_before_they_are_refused() -> None:
    calls: list[int] = []

    @dataclass
    class Counted:
        a: int
        b: list[int] = dataclasses.field(default_factory=lambda: calls.append(1) or [])  # type: ignore[func-returns-value]

    for args, kwargs in (((), {}), ((1, [], 3), {}), ((1,), {"a": 2}), ((1,), {"c": 2})):
        made = Counted.__new__(Counted)
        assert isinstance(_outcome(lambda: Counted.__init__(made, *args, **kwargs)), tuple)  # noqa: B023
        assert not vars(made)
    assert calls == []


def test_fields_are_set_in_their_order_through_the_classs_own_setattr() -> None:
    seen: list[tuple[str, Any]] = []

    @dataclass
    class Noted:
        a: int
        b: list[int] = dataclasses.field(default_factory=lambda: seen.append(("made", 0)) or [1])  # type: ignore[func-returns-value]

    class Below(Noted):
        def __setattr__(self, name: str, value: Any) -> None:
            seen.append((name, value))
            super().__setattr__(name, value)

    assert Below(1).b == [1]
    assert seen == [("a", 1), ("made", 0), ("b", [1])]
