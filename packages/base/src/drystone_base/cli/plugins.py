"""``drystone plugins``: what is installed, whether it loads and why not; signatures and keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drystone_base.cli._output import (
    Lines,
    common_options,
    note,
    print_json,
    print_table,
    status,
    wants_json,
)
from drystone_base.cli._passwords import ask, password_options

if TYPE_CHECKING:
    from drystone_base.plugins import Plugin

__all__ = ["plugins"]

EPILOG = """\b
Examples:
  drystone plugins list
  drystone plugins list --json
  drystone plugins check libfoo.so
  drystone plugins explain foo
  drystone plugins keygen --name me
  drystone plugins sign dist/foo-1.0-py3-none-linux_x86_64.whl --key me.key
"""
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(epilog=EPILOG)
def plugins() -> None:
    """List, check, explain and sign plugins.

    Every command takes --json. Settings come from the environment: DRYSTONE_PLUGIN_POLICY,
    DRYSTONE_DEVELOPER_MODE, DRYSTONE_PLUGINS_DISABLE, DRYSTONE_TF_PLUGINS, DRYSTONE_TRUST_STORE.
    """


@plugins.command(
    "list",
    epilog="\b\nExamples:\n  drystone plugins list\n  DRYSTONE_PLUGIN_POLICY=strict drystone "
    "plugins list --json\n",
)
@common_options
def list_() -> None:
    """Load the installed plugins and list them in the order of loading, then those in Python.

    Exits with 6 when one of them failed.
    """
    from drystone_base.cli import _plugins

    report = _plugins.loaded()
    beside = _plugins.in_python()
    if wants_json():
        print_json(report.as_json() | {"python": beside})
    else:
        note(_plugins.settings_line(report))
        rows = [_plugins.row(plugin) for plugin in report.plugins]
        rows += [(r["name"], r["version"], r["state"], r["text"], r["path"]) for r in beside]
        columns = ("plugin", "version", "", "registered or reason", "file")
        print_table("plugins" if rows else "no plugins are installed", columns, rows)
        for plugin in report.plugins:
            if plugin.state == "failed":
                note(f"drystone plugins explain {plugin.name}")
    _end(report.plugins)
    if any(one["state"] == "failed" for one in beside):
        raise click.exceptions.Exit(6)


@plugins.command(
    epilog="\b\nExamples:\n  drystone plugins report\n  drystone plugins report --json\n"
)
@common_options
def report() -> None:
    """Everything that was searched, found, tried, skipped and refused, and why.

    Exits with 6 when a plugin failed.
    """
    from drystone_base.cli import _plugins

    found = _plugins.loaded()
    if wants_json():
        print_json(found.as_json())
    else:
        note(*str(found).split("\n"))
    _end(found.plugins)


@plugins.command(
    epilog="\b\nExamples:\n  drystone plugins check libfoo.so\n  drystone plugins check libfoo.so "
    "--policy allow_unverified --json\n"
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--policy",
    type=click.Choice(["strict", "default", "allow_unverified"]),
    help="Policy to check against, instead of the environment's.",
)
@common_options
def check(file: Path, policy: str | None) -> None:
    """Run every check on a library, and try it in a child process.

    Nothing is loaded into the command itself. Exits with 6 when a check fails.
    """
    from drystone_base.cli import _plugins
    from drystone_base.plugins import check as check_plugin

    with status(f"trying {file}"):
        plugin = check_plugin(file, policy=policy)  # type: ignore[arg-type]  # click checked it
    if wants_json():
        print_json(plugin.as_json())
    else:
        steps = _plugins.steps(plugin)
        rows = [(step, state, Lines(said.split("\n"))) for step, state, said in steps]
        print_table(f"{plugin.name}: {plugin.path}", ("step", "", "found"), rows)
        note(*(plugin.error.render() if plugin.error else plugin.text).split("\n"))
    _end([plugin])


@plugins.command(
    epilog="\b\nExamples:\n  drystone plugins explain foo\n  drystone plugins explain MatMul\n"
)
@click.argument("name")
@common_options
def explain(name: str) -> None:
    """Say what came of a plugin, or who provides an op and which kernel is chosen.

    NAME is a plugin, its package or file, an op, a file system's scheme or a device type. Exits
    with 6 when a plugin of that name failed, with 2 when nothing has that name.
    """
    from drystone_base.cli import _plugins

    found = _plugins.explain(name)
    if wants_json():
        print_json(found.as_json())
    else:
        note(*"\n".join(found.lines).split("\n"))
    _end(found.plugins)


@plugins.command(
    epilog="\b\nExamples:\n  drystone plugins sign libfoo.so --key me.key\n  drystone plugins sign "
    "dist/foo-1.0-py3-none-linux_x86_64.whl --key me.key --expires 2028-01-01\n"
)
@click.argument("file", type=FILE)
@click.option("--key", type=FILE, required=True, help="Secret key, as keygen or minisign made it.")
@password_options
@click.option("--comment", default="", help="Text that the signature covers, besides the file.")
@click.option("--expires", default="", help="Date until which the signature counts (YYYY-MM-DD).")
@click.option("--legacy", is_flag=True, help="Sign the file itself, not its hash (minisign < 0.6).")
@common_options
def sign(
    file: Path,
    key: Path,
    password: str,
    password_file: str,
    comment: str,
    expires: str,
    legacy: bool,
) -> None:
    """Sign a library, or those in a wheel.

    Writes FILE.minisig beside a library; into a wheel beside each of its libraries.
    """
    from drystone_base.cli import _signing, _wheels

    password = password_file or password
    if not password and _signing.asks_password(key):
        password = ask(str(key))

    def sign_one(library: Path) -> dict[str, Any]:
        stated = {"comment": comment, "expires": expires, "legacy": legacy}
        return _signing.sign(library, key, password, **stated)  # type: ignore[arg-type]

    facts = _wheels.sign_wheel(file, sign_one) if _wheels.is_wheel(file) else sign_one(file)
    _show(facts, "{file}: signed with key {key}")


@plugins.command(
    epilog="\b\nExamples:\n  drystone plugins verify libfoo.so\n  drystone plugins verify "
    "libfoo.so --public-key me.pub\n"
)
@click.argument("file", type=FILE)
@click.option("--public-key", type=FILE, help="Key to use, instead of those in the trust store.")
@common_options
def verify(file: Path, public_key: Path | None) -> None:
    """Verify the signature of a library.

    Exits with 6 when there is none, when it does not fit, or when its key is not trusted.
    """
    from drystone_base.cli import _signing

    _show(_signing.verify(file, public_key), "{file}: signature of key {key} is good ({comment})")


@plugins.command(
    epilog="\b\nExamples:\n  drystone plugins keygen --name me\n  drystone plugins keygen --name "
    "me --folder keys --no-password\n"
)
@click.option("--name", default="drystone", show_default=True, help="Writes NAME.key and NAME.pub.")
@click.option(
    "--folder",
    default=".",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write them, here if not given.",
)
@click.option("--no-password", is_flag=True, help="Do not encrypt the secret key.")
@password_options
@click.option("--expires", default="", help="Date until which the key counts (YYYY-MM-DD).")
@common_options
def keygen(
    name: str, folder: Path, no_password: bool, password: str, password_file: str, expires: str
) -> None:
    """Make a pair of keys: NAME.key is secret, NAME.pub is for those who trust you."""
    from drystone_base.cli import _signing

    password = password_file or password
    if not no_password and not password:
        password = ask(f"{name}.key", again=True)
    facts = _signing.keygen(name, folder, "" if no_password else password, expires)
    _show(facts, "{secret}: keep it secret\n{public}: give it away (key {key})")


@plugins.command(
    epilog="\b\nExamples:\n  drystone plugins trust\n  drystone plugins trust me.pub\n  drystone "
    "plugins trust --revoke 6A3D8E1C5B0F4927\n"
)
@click.argument("key", required=False, type=FILE)
@click.option("--name", default="", help="Name of the file in the trust store.")
@click.option("--revoke", metavar="NUMBER", help="Refuse what this key has signed, from now on.")
@common_options
def trust(key: Path | None, name: str, revoke: str | None) -> None:
    """Add a public key to the trust store, revoke one, or list them all."""
    from drystone_base.cli import _signing

    facts = _signing.trust(key, name, revoke)
    if wants_json():
        print_json(facts)
        return
    rows = [
        (k["key"] or "unreadable", _state(k), k["comment"] or k["problem"], k["file"])
        for k in facts["keys"]
    ]
    print_table(f"trust store {facts['store']}", ("key", "", "comment", "file"), rows)


def _state(key: dict[str, Any]) -> str:
    if key["problem"]:
        return "unreadable"
    return "revoked" if key["revoked"] else f"until {key['expires']}" if key["expires"] else ""


def _show(facts: dict[str, Any], text: str) -> None:
    if wants_json():
        print_json(facts)
    else:
        note(*(line.format(**facts) for line in text.split("\n")))


def _end(found: list[Plugin] | tuple[Plugin, ...]) -> None:
    if any(plugin.state == "failed" for plugin in found):
        raise click.exceptions.Exit(6)
