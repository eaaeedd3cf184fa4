"""Every command of the set: help with examples that it takes, JSON, and the way to a cause."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from drystone_base.cli._app import app


def walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    """Every command below one, by what a person writes."""
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from walk(found, (*path, name))


COMMANDS = dict(walk(app, ()))


def options(command: click.Command) -> set[str]:
    return {word for parameter in command.params for word in parameter.opts} | {"-h", "--help"}


def examples(command: click.Command) -> list[list[str]]:
    lines = [line.strip() for line in (command.epilog or "").splitlines()]
    return [shlex.split(line) for line in lines if "drystone " in line]


def test_commands_of_packages_are_among_them() -> None:
    assert {"run", "inspect", "optimize", "bisect", "partition", "plugins check"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_how_it_is_used(name: str) -> None:
    command = COMMANDS[name]
    assert {"--json", "--verbose", "-v"} <= options(command)
    shown = CliRunner().invoke(app, [*name.split(), "--help"])
    assert shown.exit_code == 0
    assert command.help
    assert len(examples(command)) >= 1


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_have_options_that_there_are(name: str) -> None:
    for words in examples(COMMANDS[name]):
        given = words[words.index("drystone") + 1 :]
        given = given[: given.index(">")] if ">" in given else given
        assert given[: len(name.split())] == name.split(), words
        unknown = [w for w in given if w.startswith("-")]
        assert {w.partition("=")[0] for w in unknown} <= options(COMMANDS[name]), words


@pytest.mark.parametrize("name", COMMANDS)
def test_a_word_too_many_is_the_caller_s_error(name: str) -> None:
    done = CliRunner().invoke(app, [*name.split(), "--no-such-option", "--json"])
    assert done.exit_code == 2
    assert '"exit": 2' in done.stdout
    assert "--no-such-option" in done.stderr
