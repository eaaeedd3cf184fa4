"""The process in which the fuzzer of public functions calls: started again after a crash or a hang.

It prints one line of JSON before each call and one for each finding, so that its parent knows what
was under way when it went quiet.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import inspect
import io
import json
import os
import random
import re
import resource
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TextIO

from ci.scripts.fuzz_api_targets import Target, objects, targets
from ci.scripts.fuzz_api_values import Values, shown

__all__ = ["attempt", "main"]

_ANEW: Final = 3
_MEMORY: Final = 12 << 30
_CALL: Final = re.compile(
    r"missing \d+ required|takes (?:from )?\d+ |takes no |unexpected keyword|multiple values|"
    r"takes no keyword|positional-only|expected at (?:most|least) |expected \d+ argument|"
    r"takes exactly |got some positional-only|Can't instantiate abstract class"
)
"""What Python's own machinery says of a wrong number of arguments, or of an unknown keyword."""

_INTERFACES: Final[dict[str, tuple[type[BaseException], ...]]] = {
    # fsspec's own, which callers catch; fsspec itself turns what it is given into text
    "drystone_filesystem.DrystoneFileSystem": (
        OSError,
        ValueError,
        TypeError,
        AttributeError,
        RuntimeError,
        MemoryError,
    ),
    "drystone_filesystem.DrystoneFileSystem()": (Exception,),  # made by fsspec's metaclass
    # as files in Python: reading one that is open for writing, a place before the beginning
    "drystone_filesystem.gfile.GFile": (OSError, ValueError),
    # what a caller's own onerror raises goes to the caller, as from os.walk
    "drystone_filesystem.gfile.walk()": (TypeError, RuntimeError),
    # for those who write a store: the bridge turns these into statuses
    "drystone_filesystem": (OSError, ValueError),
}
"""What a class raises because the interface that it implements has it so."""


def _of_the_call(error: BaseException) -> bool:
    """Whether Python refused the call itself, or the setting of what has no setter."""
    if isinstance(error, TypeError):
        return _CALL.search(str(error)) is not None
    return isinstance(error, AttributeError) and bool(
        re.search(r"has no setter|cannot assign to field|cannot delete field", str(error))
    )


def attempt(function: Callable[[], Any], spoken: tuple[type[BaseException], ...] = ()) -> str:
    """Call it: "" for a result or an error that is in order, else what was wrong with it.

    ``spoken`` are exceptions that the thing called has by the interface that it implements.
    """
    from drystone_base.core.errors import DrystoneError

    try:
        found = function()
        if inspect.isgenerator(found):
            for _ in zip(range(20), found, strict=False):
                pass
    except DrystoneError as error:
        if error.code == "internal":
            return f"[internal]: {error}"
        try:
            str(error).encode("utf-8")
            json.dumps(error.fields())
        except Exception as inner:
            return f"the error cannot be shown: {inner!r}"
    except BaseException as error:
        if _of_the_call(error) or isinstance(error, spoken):
            return ""
        place = _place(error)
        return f"{type(error).__name__}: {shown(str(error))} at {place}"
    return ""


def _place(error: BaseException) -> str:
    """The last line of ours that it came through."""
    ours = [
        f for f in traceback.extract_tb(error.__traceback__) if "drystone" in f.filename
        and "ci/scripts" not in f.filename
    ]  # fmt: skip
    if not ours:
        return "the call"
    last = ours[-1]
    return f"{last.filename.partition('/src/')[2] or last.filename}:{last.lineno} ({last.name})"


def _arguments(
    target: Target, values: Values, chance: random.Random
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of the right number, nearly always."""
    call = target.call
    if target.owner is not None:
        named = getattr(type(target.owner()), target.name.rpartition(".")[2].rstrip("="), None)
        call = named if callable(named) else target.call
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (ValueError, TypeError):
        parameters = []
    if target.owner is not None and parameters:
        parameters = parameters[1:]
    if target.is_setter:
        return [values.draw(chance)], {}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for one in parameters:
        if one.kind is one.VAR_POSITIONAL:
            args += [values.draw(chance) for _ in range(chance.randrange(3))]
        elif one.kind is one.VAR_KEYWORD:
            kwargs |= {"hostile": values.draw(chance)} if chance.random() < 0.2 else {}
        elif one.default is one.empty or chance.random() < 0.4:
            likely = values.good.get(one.name)
            value = values.draw(chance, likely)
            if one.kind is one.KEYWORD_ONLY or kwargs or one.default is not one.empty:
                kwargs[one.name] = value
            else:
                args.append(value)
    return args, kwargs


def _good(folder: Path) -> dict[str, Callable[[], Any]]:
    """Arguments by parameter name that are in order, so that those beside them are looked at."""
    import numpy as np

    from drystone_base import Session, SessionConfig

    made = {kind.__name__.lower(): make for kind, make in objects(folder).items()}
    model = str(folder / "good.pb")
    x = np.zeros(3, np.float32)
    return made | {
        "path": lambda: model,
        "source": lambda: Session(made["graph"]()),
        "config": SessionConfig,
        "fetches": lambda: "y:0",
        "feeds": lambda: {"x:0": x},
        "inputs": lambda: [(made["graph"]()["x"], 0)],
        "name": lambda: "y",
        "mode": lambda: "rb",
    }


def main() -> int:
    """Call targets from one number on, until the parent has enough."""
    parser = argparse.ArgumentParser()
    for name in ("seed", "first", "only", "folder"):
        parser.add_argument(f"--{name}", type=int if name in ("seed", "first") else str)
    options = parser.parse_args()
    # What calls print or leave open goes nowhere; the lines for the parent have a stream of theirs.
    out = os.fdopen(os.dup(1), "w", buffering=1)
    faulthandler.enable(open(os.dup(2), "w"))  # noqa: SIM115
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    folder = Path(options.folder).resolve()
    os.chdir(folder)
    values, every = Values(folder), targets(folder)
    chosen = [t for t in every if not options.only or re.search(options.only, t.name)]
    if not chosen:
        print(f"--only {options.only}: no public name is like it", file=sys.stderr)
        return 2
    values.good = _good(folder)
    _loop(chosen, values, options.seed, options.first, out)
    return 0


def _loop(chosen: list[Target], values: Values, seed: int, first: int, out: TextIO) -> None:
    number = first
    while True:
        target = chosen[number % len(chosen)]
        chance = random.Random(f"{seed}/{number}")
        out.write(json.dumps({"at": number, "name": target.name}) + "\n")
        try:
            args, kwargs = _arguments(target, values, chance)
            given = [target.owner()] if target.owner is not None else []
        except Exception:  # what an earlier call registered is in the way: start over
            raise SystemExit(_ANEW) from None
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            owner = target.name.rpartition(".")[0]
            spoken = _INTERFACES.get(f"{target.name}()", _INTERFACES.get(owner, ()))
            wrong = attempt(lambda: target.call(*given, *args, **kwargs), spoken)  # noqa: B023
        if wrong:
            text = ", ".join([*map(shown, args), *(f"{k}={shown(v)}" for k, v in kwargs.items())])
            line = {"at": number, "name": target.name, "wrong": wrong, "arguments": text}
            out.write(json.dumps(line) + "\n")
        number += 1


if __name__ == "__main__":
    sys.exit(main())
