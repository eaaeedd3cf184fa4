"""Write environment.md and settings.md of docs/reference; `--check` only compares.

Run from the repository root, with drystone installed: `python -m ci.scripts.settings_pages`.
"""

from __future__ import annotations

import sys
from importlib import import_module

from ci.scripts.cli_page import complete_modules
from ci.scripts.project import ROOT

__all__ = ["main", "outdated", "render"]

ENVIRONMENT = """# Environment variables

Generated from what each package states of its variables. A value that means nothing is an error
that says what would mean something; of a `DRYSTONE_` name that nothing reads, a warning tells the
nearest one that is read. An empty variable counts as one that is not set. Flags are `1`, `true`,
`yes`, `on` and `0`, `false`, `no`, `off`.

| variable | can be | means | read by |
|---|---|---|---|
"""

SETTINGS = """# Settings

Generated from the schemas from which configs are checked when they are made. A setting that means
nothing is an error that says what it can be.
"""

CONFIGS = {
    "SessionConfig": "drystone_base.api.config",
    "Access": "drystone_base.files.access",
    "OptimizerConfig": "drystone_optimizer.core.options",
    "PartitionConfig": "drystone_subgraph.contract.config",
    "plugins.configure": "drystone_base.core.plugin_settings",
}
"""Where the schema of each config is: the attribute `SETTINGS` of a module."""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")


def _environment() -> str:
    from drystone_base.modules.variables import known_variables

    complete_modules()
    rows = [
        f"| `{one.name}` | {_cell(one.needed())} | {_cell(one.doc)} | {one.owner} |"
        for one in sorted(known_variables().values())
    ]
    return ENVIRONMENT + "\n".join(rows) + "\n"


def _settings() -> str:
    parts = [SETTINGS]
    for name, place in CONFIGS.items():
        schema = import_module(place).SETTINGS
        parts.append(f"\n## {name}\n\n| setting | can be | means |\n|---|---|---|\n")
        for one in schema.settings.values():
            more = f" Default: [`${one.variable}`](environment.md)." if one.variable else ""
            parts.append(f"| `{one.name}` | {_cell(one.kind.needed)} | {_cell(one.doc)}{more} |\n")
    return "".join(parts)


def render() -> dict[str, str]:
    """The pages by their paths below the repository's top."""
    return {
        "docs/reference/environment.md": _environment(),
        "docs/reference/settings.md": _settings(),
    }


def outdated() -> list[str]:
    """Paths of pages that are not what the schemas say."""
    return [
        path
        for path, text in render().items()
        if not (ROOT / path).is_file() or (ROOT / path).read_text(encoding="utf-8") != text
    ]


def main() -> int:
    """Write the pages, or with `--check` name those that are outdated."""
    if "--check" in sys.argv[1:]:
        found = outdated()
        for path in found:
            print(f"{path} is outdated: run python -m ci.scripts.settings_pages")
        return int(bool(found))
    for path, text in render().items():
        (ROOT / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
