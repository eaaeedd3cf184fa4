"""What commands print: tables for people, JSON for programs, progress on a terminal only."""

from __future__ import annotations

import codecs
import errno
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from drystone_base.core.printable import plain, plain_json
from drystone_base.core.shown import size_text as size

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

__all__ = [
    "Lines",
    "common_options",
    "console",
    "duration",
    "note",
    "note_kernels_to_install",
    "print_json",
    "print_table",
    "progress",
    "say",
    "size",
    "status",
    "wants_json",
]

_WIDE: Final = 160
_NARROW: Final = 40  # in less, tables have no room for a letter, and show none
_Command = TypeVar("_Command", bound=Callable[..., Any])
_Item = TypeVar("_Item")


def common_options(command: _Command) -> _Command:
    """Give a command ``--json`` and ``--verbose``; both are read from the context."""

    def remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value:
            ctx.meta[f"drystone.{param.name}"] = True

    verbose = click.option(
        "-v", "--verbose", is_flag=True, expose_value=False, callback=remember, is_eager=True,
        help="Show where an error came from.",
    )  # fmt: skip
    as_json = click.option(
        "--json", is_flag=True, expose_value=False, callback=remember, is_eager=True,
        help="Print JSON instead of tables.",
    )  # fmt: skip
    return as_json(verbose(command))


def wants_json(ctx: click.Context | None = None) -> bool:
    """Whether the running command was asked for JSON."""
    return bool((ctx or click.get_current_context()).meta.get("drystone.json"))


def print_json(value: Any) -> None:
    """Print one JSON document; numbers that JSON does not know (NaN, infinities) become text.

    What the output's encoding may lack is escaped as JSON has it.
    """
    encoding = codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name
    document = json.dumps(_plain(value), indent=2, ensure_ascii=encoding != "utf-8")
    click.echo(plain_json(document))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return str(value)
    if hasattr(value, "item"):
        return _plain(value.item())
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def console() -> Console:
    """A console on standard output; wide when that is not a terminal, so that nothing is cut."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            """Let it pass: rich would end the process with 1, which here has a meaning."""
            raise BrokenPipeError(errno.EPIPE, "the output is closed")

    out = Plain(highlight=False, width=None if sys.stdout.isatty() else _WIDE)
    out.width = max(out.width, _NARROW)
    return out


def say(*lines: str, err: bool = False) -> None:
    """Print lines; what a terminal would act on is escaped, breaks in what a file names, too."""
    for line in lines:
        click.echo(plain(line), err=err)


def note(*lines: str) -> None:
    """Print lines for people; nothing when JSON was asked for."""
    if not wants_json():
        say(*lines)


class Lines(list[str]):
    """A cell of several lines."""


def note_kernels_to_install() -> None:
    """Say how to get native kernels, where they can be had and are not installed."""
    from drystone_base.core.missing import kernels_to_install

    package = kernels_to_install()
    if package:
        note(f"native kernels come with {package}, which is not installed: pip install {package}")


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Sequence[str] = ()
) -> None:
    """Print a table; the columns named in ``right`` hold numbers and are aligned to the right.

    A cell is a line, or :class:`Lines`.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = console()
    if title:
        out.print(Text(plain(title), style="bold"))
    held = list(rows)
    if not held:
        return
    named = any(columns)
    table = Table(box=box.SIMPLE_HEAD if named else box.SIMPLE, show_header=named)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in held:
        table.add_row(*map(_cell, row))
    out.print(table)


def _cell(cell: Any) -> Text:
    from rich.text import Text

    lines = cell if isinstance(cell, Lines) else [cell]
    return Text("\n".join(plain(str(line)) for line in lines))


@contextmanager
def status(text: str) -> Iterator[Status | None]:
    """Show ``text`` with a spinner on standard error while the block runs, on a terminal only.

    What it yields there can be told another text: ``shown.update("nearly done")``.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(plain(text))) as shown:
        yield shown


def progress(items: Sequence[_Item], text: str) -> Iterator[_Item]:
    """The items, with a progress bar on standard error when that is a terminal."""
    if not sys.stderr.isatty() or len(items) < 2:
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, plain(text), console=Console(stderr=True), transient=True)


def duration(seconds: float) -> str:
    """Seconds as text with a fitting unit."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} µs"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"
