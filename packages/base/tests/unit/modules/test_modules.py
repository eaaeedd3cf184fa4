"""The module kit. S2, "C++ modularity": a toy module M, its registry, and plugins for it."""

from __future__ import annotations

import importlib
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType

import pytest

from drystone_base import modules
from drystone_base.core.errors import PluginError
from drystone_base.core.families import Families
from drystone_base.inference.shapes import _plugins
from drystone_base.inference.shapes._registry import Shape, ShapeCall, ShapeFunction
from drystone_base.modules import Library, Module, Registry, _registry


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_registry, "_MODULES", Registry("module"))
    monkeypatch.setattr(_registry, "_scanned", False)


@dataclass(frozen=True)
class Interface:
    """What a plugin of module M offers; S2's MInterface."""

    greeting: str


class FakeLibrary:
    """A library that exports the toy module's entry symbol."""

    def __init__(self, name: str) -> None:
        self.name, self.path = name, f"{name}.so"

    def symbol(self, name: str) -> int | None:
        return 1 if name == "M_InitPlugin" else None

    def initialise(self, entry_symbol: str) -> None:
        raise AssertionError(entry_symbol)


def make_module() -> tuple[Module, Registry[Interface]]:
    registry: Registry[Interface] = Registry("greeter")

    def initialise(library: Library, symbol: str) -> None:
        assert library.symbol(symbol)
        registry.register(library.name, Interface(f"hello from {library.name}"), library.path)

    return Module("m", ("M_InitPlugin",), initialise), registry


def test_a_third_party_adds_a_module_and_selects_by_id() -> None:
    """Rows E2, E3. S2-modules, S2-selection: by id."""
    module, registry = make_module()
    modules.register(module)
    for name in ("b", "a"):
        for accepting in modules.entry_symbols()["M_InitPlugin"]:
            accepting.initialise(FakeLibrary(name), "M_InitPlugin")
    assert list(registry) == ["a", "b"]
    assert registry.get("b").greeting == "hello from b"


def test_implicit_selection_by_what_is_asked_for() -> None:
    """S2: "Some modules can go with implicit selection", here by the scheme of a path.

    Row E3. S2-selection.
    """
    _, registry = make_module()
    registry.register("gs", Interface("cloud"), "gs.so")
    scheme = "gs://bucket/file".partition("://")[0]
    assert registry.get(scheme).greeting == "cloud"


def test_the_built_in_modules_say_what_they_accept() -> None:
    accepted = modules.entry_symbols()
    assert set(accepted) >= {
        "SE_InitPlugin",
        "TF_InitGraph",
        "TF_InitGraphPlugin",
        "TF_InitKernel",
        "DS_InitPasses",
        "TF_InitPlugin",
        "TF_InitProfiler",
    }
    assert modules.find("kernels") is not None
    assert modules.find("nothing") is None


def test_a_name_is_taken_once() -> None:
    module, registry = make_module()
    modules.register(module)
    modules.register(module)  # the same again is no conflict
    with pytest.raises(PluginError) as caught:
        modules.register(Module("m", (), lambda _library, _symbol: None), "other")
    assert str(caught.value) == (
        "module 'm' cannot be registered by other [already-registered]\n"
        "  check: a module has one owner\n"
        "  found: it is registered by the program\n"
        "  needed: another name, or only one of the two plugins\n"
        "  remedy: disable one of them: DRYSTONE_PLUGINS_DISABLE=NAME"
    )
    registry.register("a", Interface("x"), "a.so")
    with pytest.raises(PluginError, match=r"registered by a\.so"):
        registry.register("a", Interface("y"), "b.so")
    assert registry.get("a").greeting == "x"


def test_a_miss_names_what_is_near() -> None:
    _, registry = make_module()
    registry.register("gcs-fast", Interface("x"), "a.so")
    with pytest.raises(PluginError) as caught:
        registry.get("gcs-fats")
    assert caught.value.code == "not-registered"
    assert "did you mean gcs-fast?" in str(caught.value)
    assert registry.find("gcs-fats") is None


def test_what_a_registry_shows_is_read_only() -> None:
    _, registry = make_module()
    registry.register("a", Interface("x"), "a.so")
    with pytest.raises(TypeError):
        registry.items()["b"] = Interface("y")  # type: ignore[index]
    assert "a" in registry
    assert len(registry) == 1


def test_stages_are_offered_by_modules() -> None:
    def optimize(graph: object) -> object:
        return graph, optimize

    modules.register(Module("o", (), lambda _l, _s: None, stages={"optimize": optimize}))
    stages = modules.stage("optimize")
    (added,) = (stage for stage in stages if stage.__module__ == __name__)
    assert added("a graph") == ("a graph", optimize)
    assert modules.stage("nothing") == []


class Cut:
    """An entry point of a module; loading it takes ``deep`` more calls, and ``raises`` once."""

    name, package, value = "cut", "drystone-cut", "drystone_cut:MODULE"

    def __init__(self, deep: int = 0, raises: BaseException | None = None) -> None:
        self.deep, self.raises = deep, raises
        self.module = Module(self.name, (), lambda _library, _symbol: None)

    def load(self, left: int | None = None) -> Module:
        """The module."""
        if self.raises is not None:
            error, self.raises = self.raises, None
            raise error
        left = self.deep if left is None else left
        return self.load(left - 1) if left else self.module


def test_a_stack_that_is_deep_costs_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that had no room to load when it was first asked for is there when there is."""
    monkeypatch.setattr(_registry, "points", lambda _group: [Cut(deep=100)])
    importlib.import_module("drystone_base.host.builtin_modules")
    with pytest.warns(UserWarning, match="'cut' .* cannot be used: RecursionError"):
        assert _near_the_bottom(60) is False
    assert "cut" in modules.modules()


def _near_the_bottom(room: int) -> bool:
    """Ask for modules where the stack has room for so many more calls."""
    frame: FrameType | None = sys._getframe()
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    left = sys.getrecursionlimit() - depth - room

    def down(more: int) -> bool:
        return down(more - 1) if more else "cut" in modules.modules()

    return down(left)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_what_cut_a_scan_short_costs_no_module(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = Cut(raises=error)
    monkeypatch.setattr(_registry, "points", lambda _group: [cut])
    with suppress(KeyboardInterrupt), warnings.catch_warnings(action="ignore"):
        modules.modules()
    assert "cut" in modules.modules()


def test_a_package_that_fails_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    cut = Cut(raises=ImportError("no such thing"))

    def points(group: str) -> list[Cut]:
        asked.append(group)
        return [cut]

    monkeypatch.setattr(_registry, "points", points)
    with pytest.warns(UserWarning, match="cannot be used: ImportError: no such thing"):
        modules.modules()
    assert "cut" not in modules.modules()
    assert asked == ["drystone.modules"]


def shape_of_twice(call: ShapeCall) -> list[Shape]:
    """The shape function of an op that gives its input so often, one after the other."""
    rows, *others = call.shape(0) or (-1,)
    return [(rows * int(call.attrs["count"]), *others)]


def test_a_module_states_shape_functions_of_its_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which know all attributes; those of the library in C know only dtypes."""
    shapes: Families[ShapeFunction] = Families("drystone_base.inference.shapes", "one")
    monkeypatch.setattr(_plugins, "SHAPES", shapes)
    module, _ = make_module()
    stated = {"Twice": f"{__name__}:shape_of_twice", "Add": f"{__name__}:none"}
    modules.register(module._replace(shapes=stated))
    for op in ("Twice", "Thrice", "Add"):
        _plugins.add_plugin_op(op)
    found = shapes.find("Twice")
    assert found is not None
    call = ShapeCall("n", "Twice", {"count": 2}, [(3, 5)], [None], [])
    assert found(call) == [(6, 5)]
    assert shapes.find("Thrice") is _plugins._from_host
    assert "Add" not in shapes.modules  # it is TensorFlow's
    _plugins.add_plugin_op("Fourth", otherwise=shape_of_twice)
    assert shapes.find("Fourth") is shape_of_twice
