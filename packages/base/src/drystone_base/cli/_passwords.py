"""Passwords of secret keys: from an option, the environment, a file, or the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO, TypeVar

import click

from drystone_base.core.environment import KEY_PASSWORD
from drystone_base.core.errors import BadRequest

__all__ = ["ask", "password_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def password_options(command: _Command) -> _Command:
    """Add ``--password`` and ``--password-file``; the command gets one ``password``."""
    given = click.option(
        "--password", default="", envvar=KEY_PASSWORD.name, help="Asked for if needed."
    )
    file = click.option(
        "--password-file",
        type=click.File("r", encoding="utf-8"),
        callback=_first_line,
        metavar="FILE",
        help="Its first line is the password; - is standard input.",
    )
    return given(file(command))


def _first_line(ctx: click.Context, option: click.Parameter, file: TextIO | None) -> str:
    if file is None:
        return ""
    line = file.readline().rstrip("\r\n")
    if not line:
        raise click.BadParameter(f"{file.name} begins with an empty line", ctx, option)
    return line


def ask(key: str, *, again: bool = False) -> str:
    """The password that the user types, twice with ``again``; ``BadRequest`` where nobody can."""
    try:
        answer: str = click.prompt("Password", hide_input=True, confirmation_prompt=again)
    except click.Abort as aborted:
        if not isinstance(aborted.__context__, EOFError):
            raise  # Ctrl-C
        raise BadRequest(
            f"the password of {key} is not known",
            check="a password is asked for at a terminal, if no option or variable gives it",
            found="standard input ended; there is no terminal to ask at",
            needed=f"--password-file, {KEY_PASSWORD.name}, or a terminal",
            remedy="give --password-file FILE (- is standard input)"
            + (", or --no-password for a key without one" if again else ""),
            code="password-not-given",
        ) from None
    return answer
