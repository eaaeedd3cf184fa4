"""The command group: what all commands share, and how failures become messages and exit codes."""

from __future__ import annotations

import errno
import shlex
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from drystone_base import __version__
from drystone_base.cli._output import print_json, wants_json
from drystone_base.cli._streams import abandon_output
from drystone_base.cli.bench import bench
from drystone_base.cli.cache import cache
from drystone_base.cli.diff import diff
from drystone_base.cli.doctor import doctor
from drystone_base.cli.explain import explain
from drystone_base.cli.inspect import inspect
from drystone_base.cli.passes import passes
from drystone_base.cli.plugins import plugins
from drystone_base.cli.run import run
from drystone_base.core.printable import plain_lines

if TYPE_CHECKING:
    from drystone_base.core.errors import DrystoneError

__all__ = ["EXIT_CODES", "app", "exit_code"]

EXIT_CODES: Final = {
    0: "done",
    1: "the results differ (diff, bisect, optimize --verify), a check failed (doctor), or a plan "
    "cannot be cached (cache warm)",
    2: "the request does not fit: usage, feeds, fetches, files of inputs",
    3: "the model cannot be read, or its graph is not valid",
    4: "a fetch reaches an op that is unknown or has no kernel",
    5: "a kernel refused its inputs, or the run failed",
    6: "a plugin was refused or failed",
    130: "interrupted by Ctrl-C",
    141: "what reads the output stopped reading, as in drystone inspect MODEL | head -1",
}

EPILOG: Final = (
    "\b\nExamples:\n"
    "  drystone inspect saved_model/\n"
    "  drystone run saved_model/ --inputs in.npz --outputs out.npz\n"
    "  drystone run model.pb --fetch Identity:0 --json\n"
    "  drystone diff before.pb after.pb --inputs in.npz\n"
    "\n\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {text}" for code, text in EXIT_CODES.items())
)


def exit_code(error: BaseException) -> int:
    """The documented exit code of a failure."""
    from drystone_base.core import errors

    if isinstance(error, KeyboardInterrupt):
        return 130
    if isinstance(error, errors.DrystoneError) and error.code == "placeholder-not-fed":
        return 2  # a kernel says so, but it is the request that lacks a feed
    by_kind = (
        (errors.BadRequest, 2),
        (errors.BadModelFile, 3),
        (errors.GraphError, 3),
        (errors.ShapeError, 3),
        (errors.UnsupportedOp, 4),
        (errors.PluginError, 6),
        (errors.HostError, 6),
    )
    return next((code for kind, code in by_kind if isinstance(error, kind)), 5)


class _Group(click.Group):
    """A group with the commands of installed modules, whose failures become exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from drystone_base.modules import commands

        return sorted({*super().list_commands(ctx), *commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        from drystone_base.modules import commands

        place, _, attribute = commands().get(cmd_name, "").partition(":")
        if not place:
            _check_installed(cmd_name)
            return None
        made: click.Command = getattr(import_module(place), attribute)
        return made

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["drystone.words"] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        as_json = "--json" in ctx.args  # options of commands have not been read so far
        try:
            with _plain_warnings():
                return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, click.exceptions.NoArgsIsHelpError):
            raise
        except click.ClickException as error:
            known = _usage(ctx, error)
            if as_json:
                print_json({"error": known.fields(), "exit": error.exit_code})
            click.echo(f"error: {known.render()}", err=True)
            ctx.exit(error.exit_code)
        except BrokenPipeError:
            abandon_output()
            ctx.exit(141)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(130)
        except Exception as error:
            ctx.exit(_report(ctx, error))


def _check_installed(name: str) -> None:
    """Raise ``MissingPackage`` for a command of a package that is not installed."""
    from drystone_base.core.missing import command_of

    error = command_of(name)
    if error is not None:
        raise error


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show warnings as messages, without the line of code that they come from."""
    usual = warnings.formatwarning
    warnings.formatwarning = _warning
    try:
        yield
    finally:
        warnings.formatwarning = usual


def _warning(message: Warning | str, *_: object, **__: object) -> str:
    """A warning whose further lines are not taken for lines of ours."""
    return f"warning: {plain_lines(str(message), '  ')}\n"


def _report(ctx: click.Context, error: Exception) -> int:
    """Print a failure: its five parts, and with ``--verbose`` where it came from; its exit code."""
    from drystone_base.core.errors import DrystoneError

    if ctx.meta.get("drystone.verbose"):
        sys.stderr.write(plain_lines("".join(traceback.format_exception(error))))
    known = error if isinstance(error, DrystoneError) else _foreign(error)
    with suppress(OSError):  # when the output is what failed, it takes no document
        if wants_json(ctx):
            print_json({"error": known.fields(), "exit": exit_code(known)})
    click.echo(f"error: {known.render()}", err=True)
    return exit_code(known)


def _usage(ctx: click.Context, error: click.ClickException) -> DrystoneError:
    from drystone_base.core.errors import BadRequest

    here: click.Context = getattr(error, "ctx", None) or ctx
    pieces = here.command.collect_usage_pieces(here)
    return BadRequest(
        error.format_message(),
        check="arguments and options must be those of the command",
        found=shlex.join(["drystone", *ctx.meta["drystone.words"]]),
        needed=" ".join([here.command_path, *pieces]),
        remedy=f"{here.command_path} --help",
    )


def _foreign(error: Exception) -> DrystoneError:
    """What an exception of another kind means."""
    from drystone_base.core.out_of_step import out_of_step

    unfit = isinstance(error, ImportError | AttributeError) and out_of_step(error)
    return unfit or _full(error) or _unexpected(error)


def _full(error: Exception) -> DrystoneError | None:
    """The output could not be printed: of files that are opened, errors know the name."""
    from drystone_base.core.errors import BadRequest

    lacking = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
    if not (isinstance(error, OSError) and error.filename is None and error.errno in lacking):
        return None
    abandon_output()
    return BadRequest(
        "the output cannot be written",
        check="what a command prints must fit where it goes",
        found=str(error),
        needed="room there",
        remedy="check the free space, and where the output goes",
        code="cannot-write",
        status="FAILED_PRECONDITION",
        inner=error,
    )


def _unexpected(error: Exception) -> DrystoneError:
    from drystone_base.core.errors import DrystoneError

    return DrystoneError(
        f"{type(error).__name__} in drystone itself",
        check="drystone must turn every failure into an error of its own",
        found=str(error) or type(error).__name__,
        needed="no such exception",
        remedy="run again with --verbose and report what it prints",
        code="internal",
    )


@click.group(cls=_Group, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="drystone")
@click.option("-v", "--verbose", is_flag=True, help="Show where an error came from.")
@click.pass_context
def app(ctx: click.Context, verbose: bool) -> None:
    """Run TensorFlow models without TensorFlow, and look into them."""
    if verbose:
        ctx.meta["drystone.verbose"] = True


for _command in (run, inspect, explain, diff, bench, cache, doctor, passes, plugins):
    app.add_command(_command)
