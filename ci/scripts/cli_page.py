"""Write docs/reference/cli.md from the command line's own help; `--check` only compares.

Run from the repository root, with drystone installed: `python -m ci.scripts.cli_page [--check]`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

import click
from click.testing import CliRunner

from ci.scripts.generated import settle
from ci.scripts.project import ROOT, packages
from drystone_base.cli._app import EXIT_CODES, app
from drystone_base.modules import find, register

__all__ = ["ModuleMissing", "complete_modules", "main", "outdated", "render"]

PAGE = ROOT / "docs" / "reference" / "cli.md"

INTRO = """# The command line

Generated from `drystone --help`.
The [tutorial](../tutorials/first-model.md) shows the commands at work.

A MODEL is a SavedModel folder, a GraphDef (`.pb`, `.pbtxt`), a MetaGraph (`.meta`) or the
`model.json` of a TensorFlow.js graph model; `inspect` takes checkpoints, too. Values come from an
`.npz` file as `numpy.savez` writes it, without pickled objects, from JSON, or one by one with
`--input`. In a file of outputs, strings are fixed-width bytes (dtype `S`) where these hold all of
them, else two arrays: `NAME#bytes` and `NAME#lengths`. Outputs in bfloat16, 8-bit floats and 4-bit
integers are saved as float32 and int32, which hold every value of them.

Tables are for people; `--json` prints one JSON document instead, also for an error, with its
`code` and the exit code. Messages and progress go to standard error, progress only to a terminal.
What models print themselves (`Print`, `PrintV2`) goes where TensorFlow has it go; a terminal and
the log show controls in it escaped, pipes and files get them as they are.
Log lines of plugins show them escaped everywhere.
`--verbose` shows where an error came from.

## Exit codes

| code | meaning |
|---|---|
"""

COMPLETION = """
## Completion in the shell

Once, for bash: `eval "$(_DRYSTONE_COMPLETE=bash_source drystone)"` in `~/.bashrc`. For zsh the
word is `zsh_source`; for fish, `_DRYSTONE_COMPLETE=fish_source drystone | source` in
`~/.config/fish/completions/drystone.fish`.
"""


class ModuleMissing(Exception):
    """A package of this repository whose commands would be missing from the page."""


def complete_modules() -> None:
    """Register the modules of packages of this repository that are there but not installed.

    Of a package that is built apart its sources will do. Raises ``ModuleMissing`` for a package
    that cannot be imported: a page without its commands would look as if there were none.
    """
    for package in packages().values():
        declared = package.project.get("entry-points", {}).get("drystone.modules", {})
        for name, place in declared.items():
            if find(name) is not None:
                continue
            module, _, attribute = place.partition(":")
            if package.apart and find_spec(package.import_name) is None:
                sys.path.append(str(package.source.parent))
            try:
                register(getattr(import_module(module), attribute), package.distribution)
            except ImportError as error:
                raise ModuleMissing(
                    f"the commands of {package.distribution} would be missing: {error}; "
                    f"pip install ./{package.dir}"
                ) from error


def render() -> str:
    """The page as text; raises ``ModuleMissing``."""
    complete_modules()
    codes = "".join(f"| {code} | {text} |\n" for code, text in EXIT_CODES.items())
    return INTRO + codes + COMPLETION + "".join(_help(*words) for words in _commands(app))


def _commands(group: click.Group, *words: str) -> Iterator[tuple[str, ...]]:
    """A group of commands and all commands in it, by name."""
    yield words
    context = click.Context(group)
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, *words, name)
        else:
            yield (*words, name)


def _help(*command: str) -> str:
    words = " ".join(("drystone", *command))
    done = CliRunner().invoke(
        app, [*command, "--help"], prog_name="drystone", terminal_width=90, catch_exceptions=False
    )
    text = "\n".join(line.rstrip() for line in done.output.rstrip().splitlines())
    return f"\n## {words}\n\n```\n{text}\n```\n"


def outdated() -> bool:
    """Whether the page on disk is missing or has other words than `render` gives.

    Where lines break is up to the version of click.
    """
    return not PAGE.exists() or PAGE.read_text(encoding="utf-8").split() != render().split()


def main() -> int:
    """Write the page, or with `--check` exit 1 when it is outdated."""
    try:
        is_outdated = outdated()
    except ModuleMissing as error:
        print(f"docs/reference/cli.md: left as it is; {error}", file=sys.stderr)
        return 2
    return settle(
        "docs/reference/cli.md",
        "cli_page",
        outdated=is_outdated,
        check="--check" in sys.argv[1:],
        write=lambda: PAGE.write_text(render(), encoding="utf-8"),
    )


if __name__ == "__main__":
    sys.exit(main())
