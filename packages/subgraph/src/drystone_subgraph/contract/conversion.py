"""What ``drystone convert`` asks of a backend, and what comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from drystone_base.core.errors import BadRequest
from drystone_base.loaders import LoadedModel

__all__ = ["Conversion", "ConversionRequest", "ConvertedRegion", "folder_of"]


@dataclass(frozen=True)
class ConversionRequest:
    """A SavedModel to write to ``output`` with what a backend compiles of its graph.

    ``ops``: what regions may have, None for all. ``target``: of what processor, None for the
    backend's usual one. ``sizes``: what dimensions that are not known have, one after the other,
    where code is for shapes. ``tell`` is told what is being done.
    """

    model: LoadedModel
    output: Path
    ops: tuple[str, ...] | None = None
    target: str | None = None
    sizes: tuple[int, ...] = (1,)
    tell: Callable[[str], None] = lambda _: None


class ConvertedRegion(NamedTuple):
    """A region with code: its operator, its nodes, where the code is from the model's folder.

    ``needs``: features that the processor must have.
    """

    node: str
    nodes: tuple[str, ...]
    ops: Mapping[str, int]
    library: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversion:
    """What was written, of how many ``nodes``. ``left``: nodes without code, by op and reason.

    ``remedy`` says how the model is run with its code.
    """

    target: str
    nodes: int
    regions: tuple[ConvertedRegion, ...]
    remedy: str
    left: Counter[tuple[str, str]] = field(default_factory=Counter)


def folder_of(model: LoadedModel) -> Path:
    """The folder of a SavedModel; raises ``BadRequest`` (``format-not-supported``) of another."""
    if model.kind == "savedmodel":
        found = Path(model.place)
        return found if found.is_dir() else found.parent
    raise BadRequest(
        f"{model.place} cannot carry compiled code",
        check="compiled code lies beside a model, in its folder",
        found=model.kind,
        needed="a SavedModel",
        remedy="save it as one first: ds.save(ds.load(PATH), FOLDER)",
        code="format-not-supported",
    )
