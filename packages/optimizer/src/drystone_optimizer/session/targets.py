"""What commands work on: a model, what is fetched and fed, and the samples to run it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import click

from drystone_base.cli.kit import AnyPath, check_tensor, moving, read_npz
from drystone_base.core.errors import BadRequest, GraphError, near_matches
from drystone_base.loaders import load_model
from drystone_optimizer.core.config import BY_SHORT_NAME, NUMERIC, OptimizerConfig
from drystone_optimizer.passes import names_of_passes

if TYPE_CHECKING:
    from drystone_base.graph import Graph
    from drystone_base.loaders import LoadedModel, Signature
    from drystone_optimizer.checking.runs import Feeds

__all__ = [
    "Target",
    "check_registered",
    "config_of",
    "config_options",
    "names_of",
    "sample_options",
    "target_of",
    "target_options",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SIZE_DIGITS: Final = 18
_DEFAULT: Final = ("serving_default", "default")


def _together(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


target_options = _together(
    click.option("--signature", metavar="NAME",
                 help="Whose inputs and outputs to keep; default serving_default."),
    click.option("--fetch", "fetches", multiple=True, metavar="TENSOR",
                 help="A tensor instead of the signature's outputs; may be repeated."),
    click.option("--feed", "feeds", multiple=True, metavar="TENSOR",
                 help="A tensor instead of the signature's inputs; may be repeated."),
)  # fmt: skip

config_options = _together(
    click.option("--passes", metavar="NAMES",
                 help="Only these passes, with commas between; TensorFlow's short names will do."),
    click.option("--numeric", type=click.Choice(NUMERIC), default="reassociates",
                 show_default=True, help="The most that rewrites may change numbers."),
    click.option("--iterations", type=click.IntRange(1), default=2, show_default=True,
                 help="How often all passes run in turn, at most."),
)  # fmt: skip

sample_options = _together(
    click.option("--inputs", type=AnyPath(dir_okay=False), metavar="IN.NPZ",
                 help="Arrays to run with, by input or tensor name; else they are drawn."),
    click.option("--samples", type=click.IntRange(1), default=3, show_default=True,
                 help="How many sets of inputs to draw."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
                 help="Seed of drawn inputs."),
    click.option("--shape", "shapes", multiple=True, metavar="NAME=SIZES",
                 help="Sizes of a drawn input, as in --shape image=1,224,224,3."),
    click.option("--executor", type=click.Choice(("reference", "native")), default="reference",
                 show_default=True, help="What runs the samples; the reference to the bit."),
)  # fmt: skip


@dataclass
class Target:
    """A loaded model with what is fetched of it and fed to it: tensors by name for people."""

    loaded: LoadedModel
    fetches: tuple[str, ...]
    feeds: dict[str, str]
    signature: Signature | None = None

    def samples(
        self, inputs: Path | None, count: int, seed: int, shapes: Sequence[str]
    ) -> list[Feeds]:
        """The values of a file, or drawn ones; raises ``BadRequest``."""
        from drystone_optimizer.checking.runs import Input, draw, inputs_of

        graph = self.loaded.graph
        if inputs is not None:
            return [self._complete(_bound(graph, self.feeds, read_npz(inputs)))]
        known = self.signature.inputs if self.signature else {}
        listed = [
            Input(name, tensor, known[name].dtype, known[name].shape)
            if name in known
            else inputs_of(graph, [tensor])[0]
            for name, tensor in self.feeds.items()
            if name not in known or not known[name].optional
        ]
        drawn = draw(listed, seed, count, _sizes(shapes, self.feeds))
        return [self._complete(one) for one in drawn]

    def _complete(self, sample: Feeds) -> Feeds:
        """With the signature's own values of inputs that are left out."""
        return {**sample, **(self.signature.left_out(sample) if self.signature else {})}


def target_of(
    model: Path, signature: str | None, fetches: Sequence[str], feeds: Sequence[str]
) -> Target:
    """The model of a file with what the options ask for; raises ``BadRequest``."""
    with moving(f"loading {model}", model):
        loaded = load_model(model)
    for role, names in (("fetch", fetches), ("feed", feeds)):
        for name in names:
            check_tensor(loaded.graph, role, name)
    if fetches:
        return Target(loaded, tuple(fetches), {name: name for name in feeds})
    chosen = _signature(loaded.signatures, signature)
    named = {name: name for name in feeds} or {n: s.tensor for n, s in chosen.inputs.items()}
    outputs = tuple(spec.tensor for spec in chosen.outputs.values())
    return Target(loaded, outputs, named, None if feeds else chosen)


def config_of(passes: str | None, numeric: str, iterations: int) -> OptimizerConfig:
    """The config that the options describe; raises ``BadRequest`` for a pass that is not there."""
    more = {"numeric": numeric, "meta_optimizer_iterations": iterations}
    if passes is None:
        return OptimizerConfig.from_options(more)
    wanted = names_of(passes)
    known = list(names_of_passes())
    for name in wanted:
        if name not in known:
            near = near_matches(name, known)
            _bad_pass(
                f"there is no pass {name!r}",
                "--passes must name built-in passes",
                name,
                ", ".join(known),
                f"did you mean {', '.join(near)}?" if near else "leave it out",
            )
    if "common_subgraph_elimination" in wanted and "arithmetic_optimization" not in wanted:
        _bad_pass(
            "common_subgraph_elimination is asked for alone",
            "as in TensorFlow it runs only where arithmetic_optimization does",
            passes,
            "both, or neither",
            "add arithmetic_optimization to --passes",
        )
    return OptimizerConfig.of_passes(wanted, **more)


def names_of(passes: str | None) -> list[str]:
    """The passes that an option lists, under our names."""
    stated = [name.strip() for name in (passes or "").split(",") if name.strip()]
    return [BY_SHORT_NAME.get(name, name) for name in stated]


def check_registered(names: Sequence[str]) -> None:
    """Raise ``BadRequest`` unless each is a pass of ``drystone passes``."""
    from drystone_base.passes import registered

    known = [one.name for one in registered()]
    for name in names:
        if name not in known:
            near = near_matches(name, known)
            _bad_pass(
                f"there is no registered pass {name!r}",
                "--registered must name passes that `drystone passes` lists",
                name,
                ", ".join(known),
                f"did you mean {', '.join(near)}?" if near else "leave it out",
            )


def _bad_pass(what: str, check: str, found: str, needed: str, remedy: str) -> NoReturn:
    raise BadRequest(
        what, check=check, found=found, needed=needed, remedy=remedy,
        code="unknown-optimizer-option",
    )  # fmt: skip


def _signature(signatures: Mapping[str, Signature], name: str | None) -> Signature:
    chosen = name or next((n for n in _DEFAULT if n in signatures), None)
    if chosen is None and len(signatures) == 1:
        chosen = next(iter(signatures))
    if chosen is not None and chosen in signatures:
        return signatures[chosen]
    raise BadRequest(
        f"the model has no signature {chosen!r}"
        if chosen
        else "the model has no default signature",
        check="what is kept is the inputs and outputs of a signature",
        found=", ".join(signatures) or "no signatures",
        needed="the name of a signature, or --fetch and --feed",
        remedy="add --fetch TENSOR and --feed TENSOR",
        code="unknown-signature" if chosen else "no-default-signature",
    )


def _bound(graph: Graph, feeds: Mapping[str, str], arrays: Mapping[str, Any]) -> Feeds:
    """Values by tensor name for arrays named after inputs or tensors; every input has one."""
    for name in arrays:
        _check_array(graph, feeds, name)
    found = {feeds.get(name, name): array for name, array in arrays.items()}
    full = {graph.output(name) for name in found}
    missing = [name for name, tensor in feeds.items() if graph.output(tensor) not in full]
    if missing:
        raise BadRequest(
            "the inputs are not complete",
            check="a file of inputs must hold every tensor that is fed",
            found=f"{', '.join(arrays) or 'nothing'}; missing: {', '.join(missing)}",
            needed=", ".join(feeds),
            remedy="add the missing arrays to the file, or leave out --inputs to have them drawn",
            code="missing-value",
        )
    return found


def _check_array(graph: Graph, feeds: Mapping[str, str], name: str) -> None:
    try:
        graph.output(feeds.get(name, name))
    except GraphError as error:
        near = near_matches(name, feeds)
        raise BadRequest(
            f"array {name!r} of the file of inputs is for no input",
            check="arrays are named after the inputs, or after tensors of the graph",
            found=name,
            needed=", ".join(feeds),
            remedy=f"did you mean {', '.join(near)}?" if near else "name it after an input",
            code="unknown-feed",
            status="NOT_FOUND",
        ) from error


def _sizes(texts: Sequence[str], feeds: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
    sizes = {}
    for text in texts:
        name, _, dims = text.rpartition("=")
        parts = [part.strip() for part in dims.split(",") if part.strip()]
        fit = all(part.isdecimal() and len(part) <= _SIZE_DIGITS for part in parts)
        if name not in feeds or not fit:
            raise click.BadParameter(
                f"{text!r} is not NAME=SIZES for one of the inputs {', '.join(feeds)}",
                param_hint="--shape",
            )
        sizes[name] = tuple(map(int, parts))
    return sizes
