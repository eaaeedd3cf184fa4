"""What packages that add commands to ``drystone`` use: options, tables, JSON, notes.

A package adds a command through ``Module.commands`` (see ``drystone_base.modules``).
"""

from drystone_base.cli._output import (
    common_options,
    duration,
    note,
    print_json,
    print_table,
    wants_json,
)

__all__ = ["common_options", "duration", "note", "print_json", "print_table", "wants_json"]
