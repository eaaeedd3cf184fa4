"""What the fuzzer of public functions calls: found by reflection from every package's `__all__`.

A class gives its constructor and class methods, and its methods, properties and setters on objects
that `objects` makes. What no object is known for is told, so that it is not taken for tested.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from ci.scripts.project import packages

__all__ = ["Target", "objects", "targets", "unreached"]

_LEFT_OUT: Final = frozenset({"drystone_conformance", "keras_drystone"})
"""Packages whose names are of tests, or Keras's, and not of programs."""
_DUNDERS: Final = ("__call__", "__contains__", "__getitem__", "__iter__", "__len__", "__repr__")


@dataclass(frozen=True)
class Target:
    """One thing to call: its name, what takes the arguments, and the owner's maker for methods."""

    name: str
    call: Callable[..., Any]
    owner: Callable[[], Any] | None = None
    is_setter: bool = False


def targets(folder: Path) -> list[Target]:
    """Everything that can be called, sorted by name."""
    made, found = objects(folder), dict[str, Target]()
    for name, value in _public():
        for target in _of_value(name, value, made):
            found.setdefault(target.name, target)
    return [found[name] for name in sorted(found)]


def unreached(folder: Path) -> list[str]:
    """Public classes whose methods are not called, for lack of an object."""
    made = objects(folder)
    return sorted(
        name
        for name, value in _public()
        if inspect.isclass(value)
        and not issubclass(value, BaseException)
        and not _makers(value, made)
        and any(not n.startswith("_") for n in vars(value))
    )


def _public() -> Iterator[tuple[str, Any]]:
    """Every public name with its value, those of public modules included, each value once."""
    seen: set[int] = set()
    for package in packages().values():
        if package.import_name in _LEFT_OUT or package.import_name == "drystone_abi":
            continue
        if find_spec(package.import_name) is not None:  # drystone-cpu need not be installed
            yield from _of_module(import_module(package.import_name), seen)


def _of_module(module: ModuleType, seen: set[int]) -> Iterator[tuple[str, Any]]:
    for name in module.__all__:
        value = getattr(module, name)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if inspect.ismodule(value):
            yield from _of_module(value, seen)
        elif inspect.isclass(value) or inspect.isroutine(value):
            yield f"{module.__name__}.{name}", value


def _makers(kind: type, made: dict[type, Callable[[], Any]]) -> Callable[[], Any] | None:
    return next((make for known, make in made.items() if known is kind), None)


def _of_value(name: str, value: Any, made: dict[type, Callable[[], Any]]) -> Iterator[Target]:
    if not inspect.isclass(value):
        yield Target(name, value)
        return
    if (
        getattr(value, "_is_protocol", False)
        or issubclass(value, Enum)
        or not value.__module__.startswith("drystone")
    ):
        return
    yield Target(name, value)
    owner = _makers(value, made)
    for attribute in sorted({n for kind in value.__mro__[:-1] for n in vars(kind)}):
        if attribute.startswith("_") and attribute not in _DUNDERS:
            continue
        yield from _of_attribute(f"{name}.{attribute}", value, attribute, owner)


def _of_attribute(
    name: str, kind: type, attribute: str, owner: Callable[[], Any] | None
) -> Iterator[Target]:
    definer = next(k for k in kind.__mro__ if attribute in vars(k))
    if not definer.__module__.startswith("drystone"):
        return  # what fsspec, enum or typing has is theirs
    static = inspect.getattr_static(kind, attribute)
    if isinstance(static, classmethod | staticmethod):
        yield Target(name, getattr(kind, attribute))
    elif owner is None:
        return
    elif isinstance(static, property):
        yield Target(name, lambda one: getattr(one, attribute), owner)
        yield Target(f"{name}=", lambda one, v: setattr(one, attribute, v), owner, is_setter=True)
    elif callable(static):
        yield Target(name, lambda one, *a, **k: getattr(one, attribute)(*a, **k), owner)


def small_graph() -> Any:
    """A graph ``y = x + 1`` with a variable beside."""
    import drystone_base as ds
    from drystone_base.core.dtypes import FLOAT32
    from drystone_base.ops.attrs import TensorAttr

    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (3,)})
    one = TensorAttr(array=np.ones(3, np.float32))
    c = graph.add("Const", "c", attrs={"dtype": FLOAT32, "value": one})
    graph.add("AddV2", "y", [(x, 0), (c, 0)], attrs={"T": FLOAT32})
    return graph


def objects(folder: Path) -> dict[type, Callable[[], Any]]:
    """For each public class that has methods: what makes an object of it that is in order."""
    import drystone_base as ds
    from drystone_filesystem import DrystoneFileSystem, gfile
    from drystone_optimizer import OptimizerConfig, Report, optimize_with_report
    from drystone_subgraph import PartitionConfig, PartitionReport, partition_with_report

    model = str(folder / "good.pb")

    def fresh() -> str:
        """The file of a model as it should be, whatever was written there."""
        if Path(model).is_dir():
            shutil.rmtree(model)
        Path(model).unlink(missing_ok=True)
        ds.write_graph(small_graph(), model)
        return model

    def record() -> Any:
        session = ds.Session(small_graph())
        with session.record() as made:
            session.run("y:0", {"x:0": np.zeros(3, np.float32)})
        return made

    found: dict[type, Callable[[], Any]] = {
        ds.Access: ds.Access,
        ds.Cancellation: ds.Cancellation,
        ds.DType: lambda: ds.as_dtype("float32"),
        ds.DrystoneError: lambda: ds.DrystoneError("what", found="x"),
        ds.BadModelFile: lambda: ds.BadModelFile("the graph"),
        ds.Graph: small_graph,
        ds.Inference: lambda: ds.infer(small_graph()),
        ds.Model: lambda: ds.load(fresh()),
        ds.Node: lambda: small_graph()["y"],
        ds.PluginError: lambda: ds.PluginError("what", plugin="p"),
        ds.Record: record,
        ds.Session: lambda: ds.Session(small_graph()),
        ds.SessionConfig: ds.SessionConfig,
        ds.plugins.Report: ds.plugins.report,
        ds.plugins.Settings: ds.plugins.configure,
        OptimizerConfig: OptimizerConfig,
        Report: lambda: optimize_with_report(small_graph(), ["y:0"], ["x:0"])[1],
        PartitionConfig: PartitionConfig,
        PartitionReport: lambda: partition_with_report(small_graph(), ["y:0"], ["x:0"])[1],
        DrystoneFileSystem: DrystoneFileSystem,
        gfile.GFile: lambda: gfile.GFile(fresh(), "rb"),
        ds.modules.Registry: lambda: ds.modules.Registry("thing"),
    }
    return found
