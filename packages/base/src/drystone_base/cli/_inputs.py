"""What a run is asked for: which tensors are fed with what, which are fetched, and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from drystone_base.api.tuning import PRECISIONS
from drystone_base.cli._output import note
from drystone_base.cli._paths import AnyPath
from drystone_base.cli._transfers import moving
from drystone_base.core.shown import shape_text

if TYPE_CHECKING:
    from drystone_base.api.model import Model
    from drystone_base.cli._values import Array
    from drystone_base.graph import Graph
    from drystone_base.loaders import LoadedModel, Signature

__all__ = ["Asked", "Request", "asks", "load_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SIZE_DIGITS: Final = 18


def _options(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


load_options = _options(
    click.option("--tag", "tags", multiple=True, metavar="TAG",
                 help="Which MetaGraph of a SavedModel; may be repeated."),
    click.option("--checkpoint", metavar="PREFIX", type=AnyPath(),
                 help="Checkpoint that a MetaGraph is restored from."),
)  # fmt: skip

_fetch_options = _options(
    click.option("--fetch", "fetches", multiple=True, metavar="TENSOR",
                 help="A tensor instead of the signature's outputs; may be repeated."),
)  # fmt: skip

_input_options = _options(
    click.option("--inputs", type=AnyPath(dir_okay=False), metavar="FILE",
                 help="Values by signature input name or tensor name: .npz, or JSON (.json)."),
    click.option("--input", "given", multiple=True, metavar="NAME=VALUE",
                 help="One of them: JSON, as x=[1,2], a file (.npy, .npz, .json), or x=@FILE: its "
                 "bytes as one string. May be repeated."),
    click.option("--signature", metavar="NAME", help="Which signature; default serving_default."),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
                 help="Seed of made-up inputs."),
    click.option("--batch", type=click.IntRange(min=0), metavar="N",
                 help="Size of made-up inputs where their first dimension is open; default 1."),
    click.option("--shape", "shapes", multiple=True, metavar="NAME=SIZES",
                 help="Sizes of a made-up input, as in --shape image=1,224,224,3."),
)  # fmt: skip

_running_options = _options(
    click.option("--threads", type=click.IntRange(min=0), metavar="N",
                 help="How many threads kernels may use; default one per core."),
    click.option("--precision", type=click.Choice(PRECISIONS),
                 help="The least precise type that layers may be computed in."),
    click.option("--backend", metavar="NAMES",
                 help="Backends that run regions of the graph, with commas between, or off; "
                 "default $DRYSTONE_SUBGRAPH_BACKEND."),
)  # fmt: skip

_access_options = _options(
    click.option("--allow-read", metavar="PATH", multiple=True,
                 help="A file or folder that ops of the model may read; may be repeated. Its own "
                 "folder is open to it."),
    click.option("--allow-write", metavar="PATH", multiple=True,
                 help="A file or folder that ops of the model may write; may be repeated."),
    click.option("--allow-library", metavar="PATH", multiple=True,
                 help="A library of compiled functions, or a folder of them, that ops of the model "
                 "may open: it runs as this program does; may be repeated."),
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """How a model is to be loaded, fed and run: the options that commands which run one share."""

    inputs: Path | None = None
    given: tuple[str, ...] = ()
    signature: str | None = None
    seed: int = 0
    batch: int | None = None
    shapes: tuple[str, ...] = ()
    fetches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    checkpoint: Path | None = None
    threads: int | None = None
    precision: str | None = None
    backend: str | None = None
    allow_read: tuple[str, ...] = ()
    allow_write: tuple[str, ...] = ()
    allow_library: tuple[str, ...] = ()

    def load(self, path: Path, needed: tuple[str, ...] | None = None) -> Model:
        """Load and initialise a model; what comes from a store is counted while it is shown.

        Variables that none of the tensors and signatures ``needed`` reaches are not read.
        """
        from drystone_base.api.model import load as load_model
        from drystone_base.api.session import SessionConfig
        from drystone_base.files.access import Access

        access = Access(self.allow_read, self.allow_write, libraries=self.allow_library)
        with moving(f"loading {path}", path, self.checkpoint):
            return load_model(
                path,
                tags=list(self.tags) or None,
                checkpoint=self.checkpoint,
                config=SessionConfig(access=access, subgraphs=self.backend),
                needed=needed,
                threads=self.threads,
                precision=self.precision,
            )

    def request(self, loaded: LoadedModel, made_up: Mapping[str, Array] | None = None) -> Request:
        """What to run of ``loaded``.

        Where nothing is given, every input of the signature is taken from ``made_up`` or made up.
        Raises ``BadRequest``: ``unknown-signature``, ``unknown-input``, ...
        """
        wanted = {text: text for text in self.fetches}
        chosen = _signature(loaded, self.signature, needed=not wanted)
        outputs = {name: spec.tensor for name, spec in chosen.outputs.items()} if chosen else {}
        found = Request({}, wanted or outputs)
        values = self._given_values()
        if values is not None:
            self._makes_up_nothing("the inputs are given")
            found.feeds = _bind(loaded, chosen, values, complete=not wanted)
        elif chosen is not None:
            known = made_up or {}
            due = [name for name, spec in chosen.inputs.items() if not spec.optional]
            if not all(name in known for name in due):
                known = self._make_up(loaded, chosen)
            found.made_up = {name: known[name] for name in chosen.inputs if name in known}
            found.feeds = {chosen.inputs[name].tensor: a for name, a in found.made_up.items()}
            found.feeds |= chosen.left_out(found.feeds)
        else:
            self._makes_up_nothing("no signature says what the inputs are")
        return found

    def _given_values(self) -> dict[str, Any] | None:
        """Values by name out of a file and of texts; None where there is neither."""
        if self.inputs is None and not self.given:
            return None
        from drystone_base.cli._given import parse_inputs, read_inputs

        of_file = {} if self.inputs is None else read_inputs(self.inputs)
        of_texts = parse_inputs(self.given)
        for name in of_file.keys() & of_texts.keys():
            raise click.BadParameter(f"{name!r} is in --inputs, too", param_hint="--input")
        return of_file | of_texts

    def _makes_up_nothing(self, why: str) -> None:
        """Raise ``click.BadParameter`` for options that say of which sizes inputs are made up."""
        for option, given in (("--batch", self.batch is not None), ("--shape", self.shapes)):
            if given:
                raise click.BadParameter(
                    f"{why}, so none is made up: leave this option out",
                    param_hint=option,
                )

    def _make_up(self, loaded: LoadedModel, signature: Signature) -> dict[str, Array]:
        import numpy as np

        from drystone_base.cli._made_up import make_inputs

        if signature.inputs:
            note(f"inputs made up with --seed {self.seed}:")
        sizes = _batched(signature, self.batch) | _sizes(self.shapes, signature)
        rng = np.random.default_rng(self.seed)
        shapes = {
            name: sizes.get(name, spec.shape)
            for name, spec in signature.inputs.items()
            if name in sizes or not spec.optional
        }
        made = make_inputs(lambda: loaded.graph, signature, shapes, rng)
        for name, spec in signature.inputs.items():
            if name not in made:
                note(f"  {name}: {spec.dtype}, as the model has it")
                continue
            array = made[name]
            unknown = spec.shape is None or any(d < 0 for d in spec.shape)
            reason = f"  (the model says {shape_text(spec.shape)})" if unknown else ""
            note(f"  {name}: {spec.dtype} {list(array.shape)}{reason}")
        return made


def asks(*, fetches: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options that say how a model is run; it gets them as one ``asked``."""
    names = {f.name for f in fields(Asked)}
    blocks = (_input_options, load_options, _running_options, _access_options)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def collected(**values: Any) -> Any:
            own = {name: values.pop(name) for name in names & values.keys()}
            return command(asked=Asked(**own), **values)

        decorated = collected
        for block in reversed((_fetch_options, *blocks) if fetches else blocks):
            decorated = block(decorated)
        return decorated

    return decorate


@dataclass
class Request:
    """What to run: values by tensor name, and the tensor behind each name of a result."""

    feeds: dict[str, Any]
    fetches: dict[str, str]
    made_up: dict[str, Array] = field(default_factory=dict)

    def run(self, model: Model) -> dict[str, Array]:
        """The fetched values by their names."""
        result: dict[str, Array] = model.run(self.fetches, self.feeds)
        return result


def _signature(loaded: LoadedModel, name: str | None, *, needed: bool) -> Signature | None:
    from drystone_base.core.errors import BadRequest, near_matches

    signatures = loaded.signatures
    if name is None:
        usual = [n for n in ("serving_default", "default") if n in signatures]
        if usual or len(signatures) == 1:
            return signatures[usual[0] if usual else next(iter(signatures))]
        if not needed:
            return None
        raise BadRequest(
            "the model has no default signature",
            check="what to run must be said when there is no default signature",
            found=", ".join(signatures) or "no signatures",
            needed="serving_default, or exactly one signature",
            remedy="add --signature NAME or --fetch TENSOR",
            code="no-default-signature",
        )
    if name in signatures:
        return signatures[name]
    near = near_matches(name, signatures)
    raise BadRequest(
        f"the model has no signature {name!r}",
        check="a signature must be one that the model states",
        found=name,
        needed=", ".join(signatures) or "a model with signatures",
        remedy=f"did you mean {', '.join(near)}?" if near else "`drystone inspect` lists them",
        code="unknown-signature",
        status="NOT_FOUND",
    )


def _bind(
    loaded: LoadedModel, signature: Signature | None, arrays: Mapping[str, Any], *, complete: bool
) -> dict[str, Any]:
    """Values by tensor name for arrays named after inputs of the signature or after tensors."""
    specs = signature.inputs if signature else {}
    known = {spec.tensor: spec.tensor for spec in specs.values()}
    known |= {name: spec.tensor for name, spec in specs.items()}
    vectors = {spec.tensor for spec in specs.values() if spec.shape in ((-1,), (1,))}
    feeds: dict[str, Any] = {}
    for name, array in arrays.items():
        tensor = known[name] if name in known else _tensor(loaded.graph, name, specs)
        is_one_text = isinstance(array, bytes | str) and tensor in vectors  # of a batch
        feeds[tensor] = [array] if is_one_text else array
    given = {_full(tensor) for tensor in feeds}
    missing = [n for n, s in specs.items() if not (s.optional or _full(s.tensor) in given)]
    if complete and missing and arrays:
        _missing(missing, arrays, specs)
    return feeds | (signature.left_out(given) if signature and complete else {})


def _tensor(graph: Graph, name: str, specs: Mapping[str, Any]) -> str:
    from drystone_base.core.errors import BadRequest, near_matches
    from drystone_base.graph import parse_tensor_name

    if name in graph or parse_tensor_name(name)[0] in graph:
        return name
    near = near_matches(name, list(dict.fromkeys([*specs, *(n.name for n in graph)])))
    raise BadRequest(
        f"the inputs hold {name!r}, which the model does not have",
        check="a value must be named after an input of the signature or after a tensor",
        found=name,
        needed=", ".join(specs) or "the name of a tensor, as node:0",
        remedy=f"did you mean {', '.join(near)}?" if near else "`drystone inspect` lists names",
        code="unknown-input",
        status="NOT_FOUND",
    )


def _missing(missing: list[str], arrays: Mapping[str, Any], specs: Mapping[str, Any]) -> None:
    from drystone_base.core.errors import BadRequest

    raise BadRequest(
        "the inputs are not complete",
        check="--inputs and --input must give every input of the signature, or none",
        found=f"{', '.join(arrays)}; missing: {', '.join(missing)}",
        needed=", ".join(specs),
        remedy="give the others, too, or none to have all of them made up",
        code="missing-value",
    )


def _full(tensor: str) -> str:
    return tensor if ":" in tensor else tensor + ":0"


def _sizes(texts: Iterable[str], signature: Signature) -> dict[str, tuple[int, ...]]:
    sizes = {}
    for text in texts:
        name, _, dims = text.rpartition("=")
        parts = [part.strip() for part in dims.split(",") if part.strip()]
        fit = all(part.isdecimal() and len(part) <= _SIZE_DIGITS for part in parts)
        if name not in signature.inputs or not fit:
            raise click.BadParameter(
                f"{text!r} is not NAME=SIZES for one of the inputs {', '.join(signature.inputs)}",
                param_hint="--shape",
            )
        sizes[name] = tuple(map(int, parts))
    return sizes


def _batched(signature: Signature, batch: int | None) -> dict[str, tuple[int, ...]]:
    """Shapes with ``batch`` as their first size, of the inputs where the model leaves it open."""
    if batch is None:
        return {}
    stated = {name: spec.shape for name, spec in signature.inputs.items()}
    sizes = {n: (batch, *s[1:]) for n, s in stated.items() if s and s[0] < 0}
    if not sizes:
        shapes = ", ".join(f"{name} {shape_text(shape)}" for name, shape in stated.items())
        raise click.BadParameter(
            f"no input has an open first dimension ({shapes or 'there are no inputs'}); "
            "--shape NAME=SIZES states all sizes of one",
            param_hint="--batch",
        )
    return sizes
